"""Names of members: found in every spelling, and only where they are."""

import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents.jsonl.write import MemberNames

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@st.composite
def spellings(draw):
    """A name, and one of the ways to write it in JSON."""
    name = draw(st.text(st.sampled_from('kept_0"\\/\n\x1f .*[\u00e9\u2028\U0001f339'), min_size=1, max_size=6))
    parts = []
    for character in name:
        units = character.encode("utf-16-be").hex()
        escape = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        ways = [escape, "".join(f"\\u{units[at : at + 4].upper()}" for at in range(0, len(units), 4))]
        if character in SHORT:
            ways.append(SHORT[character])
        if character not in '"\\' and character >= " ":
            ways.append(character)
        parts.append(draw(st.sampled_from(ways)))
    return name, "".join(parts)


@given(spellings(), st.sampled_from(["", "_1", "_12", "\\u005f\\u0031"]), st.text(" \t\r", max_size=2))
def test_a_name_is_found_however_it_is_spelt(spelling, number, blank):
    name, spelt = spelling
    names = MemberNames(["other", name])
    line = f'{{"text": "x", "{spelt}{number}"{blank}: 1}}'
    assert names.suspects(pa.array([line, '{"text": "x"}'], pa.large_string())).to_pylist() == [True, False]
    assert names.spelt(line.encode()) == {name + json.loads(f'"{number}"')}
    assert names.members(line.encode()) == {"text", *names.spelt(line.encode())}


def test_members_of_inner_objects_are_not_members():
    names = MemberNames(["kept", "similarity"])
    line = b'{"a": {"kept": 1}, "text": "\\"similarity\\": 1", "similarity_2" : [{"kept_1": 0}], "keptx": 1}'
    assert names.spelt(line) == {"kept", "kept_1", "similarity_2"}
    assert names.members(line) == {"a", "text", "similarity_2", "keptx"}
