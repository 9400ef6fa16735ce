"""The two ways to read a block agree, and name every kind of bad line."""

import json

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.documents.columns import Columns
from sosie.documents.jsonl.blocks import find_lines
from sosie.documents.jsonl.decode import decode_block, parse_each, parse_whole

TEXT = Columns("text")
STRING_IDS = Columns("text", "id", pa.large_string())
INTEGER_IDS = Columns("text", "id", pa.int64())

# What a line may be made of: structure, values that one parser takes and the other refuses, and broken bytes.
TOKENS = [
    b"{", b"}", b"[", b"]", b":", b",", b'"', b" ", b"\t", b"\r", b"\n", b"\x00", b"\x1f", b"\x7f", b"\\", b"/",
    b'"text"', b'"id"', b'"x"', b'"te\\u0078t"', b'"a"', b'""', b"null", b"true", b"1", b"-0", b"01", b"1.5", b"1e3",
    b"1e999", b"-", b"NaN", b"-Infinity", b"Infinity", b"Inf", b"nan", b"9223372036854775807", b"9223372036854775808",
    b"9" * 5000, b'"\\ud800"', b'"\\udc00"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\\q"', b"\\u", b"\xff", b"\xc3\xa9",
    b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b'{"text":"b"}', b'"text":"c"', b'"id":7', b'"id":"k"', b"{}",
    b"[" * 3000 + b"]" * 3000, b"//", b"'text'",
]  # fmt: skip
soup = st.lists(st.sampled_from(TOKENS), max_size=12).map(b"".join)
values = st.sampled_from([t for t in TOKENS if t not in b"{}[]:," and b"\n" not in t]) | st.text().map(
    lambda s: json.dumps(s, ensure_ascii=len(s) % 2 == 0).encode("utf-8", "surrogatepass")
)
names = st.sampled_from([b'"text"', b'"text"', b'"id"', b'"x"', b'"te\\u0078t"'])
members = st.lists(st.tuples(names, values).map(b":".join), max_size=4).map(b", ".join)
objects = st.one_of(members.map(lambda m: b"{" + m + b"}"), values.map(lambda v: b'{"text":"t","id":7,"x":' + v + b"}"))
good = st.builds(lambda s, i: json.dumps({"text": s, "id": i}).encode(), st.text("abé\u2028\n"), st.integers(0, 99))
line = st.one_of(good, good, good, objects, objects, soup, st.tuples(good, soup).map(b"".join))
blocks = st.tuples(st.lists(line, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"])).map(
    lambda parts: parts[1].join(parts[0])
)


def facts(records):
    ids = None if records.ids is None else records.ids.to_pylist()
    return records.count, records.texts.to_pylist(), ids, records.accepted.tolist(), sorted(records.problems.items())


@given(block=blocks, columns=st.sampled_from([TEXT, STRING_IDS, INTEGER_IDS]))
@settings(max_examples=600, deadline=None)
@example(b'{"text":"a"}{"text":\n"b"}\n', TEXT)
@example(b'{"text":"a"} {"text":"b"}\n{"x":[\n]}', TEXT)
@example(b'{"text":"a","x":NaN}\n', TEXT)
@example(b'{"text":"a","x": [ -Infinity ]}\n', TEXT)
@example(b'{"text":"a","x":Inf}\n', TEXT)
@example(b'{"text":"a, NaN, [NaN"}\n', TEXT)
@example(b'{"text":"a","x":' + b"[" * 3000 + b"]" * 3000 + b"}\n", TEXT)
@example(b'{"text":"a","x":' + b"[" * 3000 + b"NaN" + b"]" * 3000 + b"}\n", TEXT)
@example(b'{"text":"a","id":1}\n{"text":"a","id":null}\n', INTEGER_IDS)
@example(b'{"text":"a","x":"\xff"}\n', TEXT)
@example(b'{"text":"a","x":"\xed\xa0\x80"}\n', TEXT)
@example(b'\xef\xbb\xbf{"text":"a"}\n', TEXT)
def test_both_paths_agree_and_lines_do_not_depend_on_their_block(block, columns):
    lines = find_lines(block)
    each = parse_each(block, lines, columns)
    whole = parse_whole(block, lines, columns)
    assert facts(each) == facts(decode_block(block, columns))
    if whole is not None:
        assert facts(whole) == facts(each)
    alone = [decode_block(part, columns) for part in block.split(b"\n")]
    assert [text for part in alone for text in part.texts.to_pylist()] == each.texts.to_pylist()
    assert sum(part.count for part in alone) == each.count
    assert each.count == len(each.accepted) + len(each.problems)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a" "x": 1}', "broken JSON (Expecting ',' delimiter, column 14)"),
        (b"[1]", "not an object but a list"),
        (b"7", "not an object but a number"),
        (b'{"body": "a"}', "no column 'text' (there are: body)"),
        (b"{}", "no column 'text' (there are: none)"),
        (b'{"text": 5}', "'text' is a number, not text"),
        (b'{"text": ' + b"5" * 99 + b"}", "'text' is a number, not text"),
        (b'{"text": null}', "'text' is null, not text"),
        (b'{"text": ["a"]}', "'text' is a list, not text"),
        (b'{"text": {"a": 1}}', "'text' is an object, not text"),
        (b'{"text": true}', "'text' is a truth value, not text"),
        (b'{"text": "\xff"}', "invalid UTF-8 (byte 11 of the line)"),
        (b'{"text": "\\ud800"}', "'text' has the lone surrogate \\ud800, which is not a character"),
        (b'{"text": NaN}', "broken JSON (NaN is not a JSON number; write null)"),
        (b'{"text": "a", "x": -Infinity}', "broken JSON (-Infinity is not a JSON number; write null)"),
        (b'{"text": "a", "text": "b"}', "the column 'text' occurs 2 times"),
    ],
)
def test_every_kind_of_bad_line_is_named(line, reason):
    block = b'{"text": "good"}\n' + line + b'\n{"text": "also"}\n'
    records = decode_block(block, TEXT)
    assert records.problems == {1: reason}
    assert records.texts.to_pylist() == ["good", "also"]
    assert records.raw(1) == line.decode("utf-8", "backslashreplace")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"1.0", "the id 'id' is a number; ids are integers or text"),
        (b"null", "the id 'id' is null; ids are integers or text"),
        (b"true", "the id 'id' is a truth value; ids are integers or text"),
        (b'["a"]', "the id 'id' is a list; ids are integers or text"),
        (b'"a"', "the id 'id' is text here and an integer in the first document; use one type"),
        (b"9223372036854775808", "the id 'id' is an integer beyond 64 bits; write it as text"),
        (b"1" + b"0" * 5000, "the id 'id' is an integer beyond 64 bits; write it as text"),
    ],
)
def test_bad_ids_are_named(value, reason):
    records = decode_block(b'{"text": "a", "id": ' + value + b"}\n", INTEGER_IDS)
    assert records.problems == {0: reason}


def test_odd_things_elsewhere_in_a_line_do_not_matter():
    for value in (b'"\\ud800"', b"1e999", b"9" * 5000, b'"\xe2\x80\xa8"', b"[" * 5000 + b"]" * 5000, b'{"text": 1}'):
        records = decode_block(b'{"text": "a", "x": ' + value + b"}\n", TEXT)
        assert records.texts.to_pylist() == ["a"] and not records.problems


def test_clean_blocks_take_the_fast_path():
    block = '{"text": "a: Information, NaN-like"}\r\n\n  {"text": "\u2028 \\u2028 \\n"}  '.encode()
    records = parse_whole(block, find_lines(block), TEXT)
    assert records.texts.to_pylist() == ["a: Information, NaN-like", "\u2028 \u2028 \n"]
    assert records.lines.tolist() == [0, 2] and records.line_count == 3
