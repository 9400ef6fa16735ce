"""Tables of word pairs: what a line may be, what is left out, what is refused and where; written and read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.table import export_tsv, read_table
from sosie.errors import DataError, UsageError


@pytest.fixture
def table(tmp_path):
    """Write a table and return its path."""

    def write(content):
        path = tmp_path / "words.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_words_are_folded_and_probabilities_renormalised(table):
    made = Dictionary.from_tsv(table("Haus\thouse\t3\nHAUS\tHome\t1\n\nStraße\tstreet\t1e-3\n"))
    assert made.translations("haus") == [("house", 0.75), ("home", 0.25)]
    assert made.translations("strasse") == [("street", 1.0)]
    assert made.spec.origin == "loaded" and made.segments == 0


def test_the_other_direction_is_transposed_unless_it_is_given(table):
    lines = ["alt\told\t0.5", "alt\tancient\t0.5", "betagt\told\t1"]
    made = Dictionary.from_tsv(table("\n".join(lines)))
    assert dict(made.translations("old", backward=True)) == pytest.approx({"betagt": 2 / 3, "alt": 1 / 3})
    given = "\n".join(f"{line}\t{share}" for line, share in zip(lines, (0.9, "", 0.1), strict=True))
    made = Dictionary.from_tsv(table(given))
    assert dict(made.translations("old", backward=True)) == pytest.approx({"alt": 0.9, "betagt": 0.1})
    assert made.translations("ancient", backward=True) == [] and len(made.translations("alt")) == 2


@pytest.mark.parametrize("header", ["source\ttarget\tprobability", "\ufeffde\ten\tp", "\ufeff"])
def test_a_header_and_a_mark_of_the_byte_order_are_no_entries(header, table):
    read = read_table(table(f"{header}\nhaus\thouse\t1\r\n".lstrip("\n")))
    assert (read.source, read.target, read.forward, read.backward) == (["haus"], ["house"], [1.0], None)


def test_entries_of_several_words_or_none_are_left_out_and_counted(table):
    read = read_table(table("guten Tag\thello\t1\nhaus\thouse\t1\n-\tdash\t1\n東京都\ttokyo\t1\n"))
    assert read.source == ["haus"] and read.left_out == {"of several words": 2, "without a word": 1}
    with pytest.raises(DataError, match="1 of several words"):
        Dictionary.from_tsv(table("guten Tag\thello\t1\n"))
    with pytest.raises(DataError, match="by tabs"):
        Dictionary.from_tsv(table(""))


BAD = {
    "haus\thouse\t1\nhaus house 1": "line 2: 1 column instead of 3",
    "haus house 1": "line 1: 1 column instead of 3 or 4",
    "haus\thouse\t1\nbau\tbuilding\t1\t1": "line 2: 4 columns instead of 3",
    "haus\thouse\t1\nbau\tbuilding\tmuch": "line 2: 'much' is no probability",
    "haus\thouse\t1\nbau\tbuilding\t": "line 2: '' is no probability",
    "haus\thouse\t0": "line 1: '0' is no probability",
    "haus\thouse\t-0.5": "line 1: '-0.5' is no probability",
    "haus\thouse\t1\nbau\tbuilding\tnan": "line 2: 'nan' is no probability",
    "haus\thouse\t1\nbau\tbuilding\tinf": "line 2: 'inf' is no probability",
    "haus\thouse\t1e300": "line 1: '1e300' is no probability",
    "haus\thouse\t1\t1\nbau\tbuilding\t\t": "line 2: has no probability",
    "haus\thouse\t1\nbau\tb\t1\nHaus\thouse\t1": "line 3: 'haus' and 'house' are a pair already, in line 1",
    b"haus\thouse\t1\n\xff\tb\t1": "line 2: is not UTF-8",
    "a" * 70_000: "line 1: is longer than",
}


@pytest.mark.parametrize(("content", "said"), BAD.items(), ids=list(BAD.values()))
def test_a_line_that_is_no_entry_is_named(content, said, table):
    with pytest.raises(DataError) as error:
        read_table(table(content))
    assert f"words.tsv, {said}" in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="Check the path"):
        read_table(tmp_path / "nowhere.tsv")


PAIRS = st.dictionaries(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz")),
    st.tuples(st.sampled_from([0, 0.1, 0.3, 1, 7]), st.sampled_from([0, 0.2, 0.3, 1, 9])).filter(any),
    min_size=1,
)


@given(PAIRS)
def test_what_is_written_is_read_as_it_was(tmp_path_factory, pairs):
    forward, backward = ([shares[i] for shares in pairs.values()] for i in range(2))
    made = Dictionary.from_pairs([a for a, _ in pairs], [b for _, b in pairs], forward, backward)
    path = tmp_path_factory.mktemp("written") / "words.tsv"
    path.write_text("".join(f"{line}\n" for line in export_tsv(made)), "utf-8")
    assert Dictionary.from_tsv(path).digest == made.digest
