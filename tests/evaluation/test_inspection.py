"""A collection in numbers, against counting in plain Python."""

from __future__ import annotations

import statistics
import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle_text

from sosie.documents.source import Source
from sosie.evaluation import inspection
from sosie.evaluation.inspection import Lengths, Repeats, inspect
from sosie.features.shingles import Shingles
from sosie.kernels.text.facts import text_digests
from sosie.text.column import as_column
from sosie.text.scripts import SCRIPTS, letters_by_script, script_table
from sosie.text.words import words

LETTERS = {
    "Latin": "aZéßﬁＡ",
    "Han": "東京々𠀀",
    "Hiragana": "ひらが",
    "Katakana": "カナｶﾅ",
    "Hangul": "한국ᄀ",
    "Cyrillic": "Привет",
    "Greek": "αΩἀ",
    "Arabic": "سلام",
    "Hebrew": "שלום",
    "Devanagari": "नमस",
    "Tamil": "தமழ",
    "Thai": "ไทย",
    "Georgian": "ქართ",
    "Armenian": "հայ",
    "Ethiopic": "አማር",
    "other": "ᏣᎳᎩ",
}


@pytest.mark.parametrize("script", LETTERS)
def test_letters_of_every_script(script):
    for letter in LETTERS[script]:
        assert SCRIPTS[script_table()[ord(letter)]] == script, letter


def test_the_names_of_characters_agree_with_their_script():
    """Unicode's names begin with the script, where a letter has one."""
    table = script_table()
    spelled = {"Odia": ("ORIYA",), "Hiragana": ("HIRAGANA", "HENTAIGANA")}
    for number, script in enumerate(SCRIPTS[1:-1], 1):
        if script == "Han":
            continue
        letters = [chr(point) for point in np.flatnonzero(table == number)]
        names = [unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "") for letter in letters]
        named = sum(any(word in name for word in spelled.get(script, (script.upper(),))) for name in names)
        assert letters and named / len(letters) > 0.9, script
    for point in range(0x3000):
        first = unicodedata.name(chr(point), "").split(" ")[0].title()
        if first in SCRIPTS and chr(point).isalpha():
            assert SCRIPTS[table[point]] in (first, "Latin"), hex(point)  # phonetic blocks mix scripts


def test_what_is_no_letter():
    for character in "0 _-.!٣५๓½²ः\u0301🙂、。\U0010ffff\ud800":
        assert script_table()[ord(character)] == 0


MIXED = st.text(st.sampled_from("aéß 1.東かカ한Пαसไ٣ᏣᎳ🙂"), max_size=12)


@given(st.lists(MIXED, max_size=8), st.data())
def test_letters_by_script(texts, data):
    start = data.draw(st.integers(0, len(texts)))
    stop = data.draw(st.integers(start, len(texts)))
    letters, mainly = letters_by_script(as_column(texts), start, stop)
    kinds = [[int(script_table()[ord(c)]) for c in text if c.isalpha()] for text in texts[start:stop]]
    counts = Counter(kind for text in kinds for kind in text)
    assert {i: int(letters[i]) for i in np.flatnonzero(letters)} == counts
    best = [min(set(text), key=lambda kind: (-text.count(kind), kind)) if text else 0 for text in kinds]
    assert mainly.tolist() == best


def test_invalid_bytes_are_no_letters():
    column = as_column(pa.array([b"ab\xff\xe6\x9d", b"\xe6", b"\xed\xa0\x80c"], pa.large_binary()))
    letters, mainly = letters_by_script(column, 0, 3)
    assert letters.sum() == 3 and [SCRIPTS[i] for i in mainly] == ["Latin", "none", "Latin"]


@given(st.lists(st.binary(max_size=80), max_size=6), st.data())
def test_digests_are_those_of_xxhash(texts, data):
    start = data.draw(st.integers(0, len(texts)))
    column = as_column(pa.array(texts, pa.large_binary()))
    expected = [[xxhash.xxh64_intdigest(text, seed) for seed in (0, 1)] for text in texts[start:]]
    assert text_digests(column.data, column.offsets, start, len(texts)).tolist() == expected


@given(st.lists(st.integers(0, 40), max_size=30))
def test_lengths(values):
    found = Lengths.of(np.array(values, np.int64))
    if not values:
        assert found == Lengths(0, 0, 0, 0, 0)
        return
    high = min(value for value in values if sum(v <= value for v in values) >= 0.95 * len(values))
    assert (found.least, found.greatest, found.percentile_95) == (min(values), max(values), high)
    assert found.median == statistics.median(values) and found.mean == pytest.approx(statistics.fmean(values))


def repeats_of(values):
    counts = Counter(values)
    return Repeats(
        len(values) - len(counts), sum(count > 1 for count in counts.values()), max(counts.values(), default=0)
    )


@settings(max_examples=60)
@given(st.lists(MIXED | st.sampled_from(["", "...", "A b", "a B", "one two three four", "One two  three FOUR"])))
@example([])
@example(["", ""])
def test_against_plain_counting(texts):
    found = inspect(Source(pa.table({"text": pa.array(texts, pa.string())})).batches())
    sets = [frozenset(Shingles().extract([text]).hashes.tolist()) for text in texts]
    sizes = [len(words(text)) for text in texts]
    assert found.documents == found.usable == len(texts) and found.rejected == {}
    assert found.empty == texts.count("") and found.wordless == sizes.count(0)
    assert found.text_bytes == Lengths.of(np.array([len(text.encode()) for text in texts], np.int64))
    assert found.words == Lengths.of(np.array(sizes, np.int64))
    assert found.identical == repeats_of(texts)
    assert found.same_features == repeats_of([shingles or text for text, shingles in zip(texts, sets, strict=True)])
    assert found.same_features.documents >= found.identical.documents
    assert found.features == sum(map(len, sets))
    assert sum(found.mainly.values()) == len(texts)
    assert sum(found.letters.values()) == sum(c.isalpha() for text in texts for c in text)
    assert list(found.letters.values()) == sorted(found.letters.values(), reverse=True)


def test_the_words_are_those_of_the_oracle():
    text = "L'été à Paris, 2024: 東京都"
    found = inspect(Source(pa.table({"text": [text]})).batches())
    assert found.words.greatest == len(oracle_text.words(text))


def test_what_shingles_are_made_of_is_what_is_counted():
    texts = ["a < b", "a > b", "a<b", "...", "  ", " \n"]
    found = inspect(Source(pa.table({"text": texts})).batches(), Shingles(unit="code"))
    assert (found.words.greatest, found.words.least, found.wordless) == (3, 0, 2)
    assert (found.identical.documents, found.same_features.documents) == (0, 1)
    plain = inspect(Source(pa.table({"text": texts})).batches())
    assert (plain.words.greatest, plain.wordless, plain.same_features.documents) == (2, 3, 2)


def test_pieces_and_threads_change_nothing(monkeypatch):
    texts = [f"{i % 70} text number {i % 90} é" for i in range(500)]
    source = Source(pa.table({"text": texts}), batch_size=64)
    seen = []
    whole = inspect(source.batches(), threads=1, advance=seen.append)
    assert sum(seen) == 500 and whole.identical.documents == 0 and whole.mainly == {"Latin": 500}
    monkeypatch.setattr(inspection, "SPAN", 100)
    assert inspect(source.batches(), threads=2) == whole
    assert inspect(source.batches(), Shingles(2, "char"), threads=2).features != whole.features


def test_rejects_are_counted_by_reason(tmp_path):
    lines = ['{"id": "x", "text": "a"}', '{"id": "x", "text": "b"}', '{"id": "x", "text": "c"}', "{", '{"id": "', "7"]
    lines += ['{"id": "y"}', '{"id": "z", "txt": 1}', '{"id": "w", "text": null}', '{"id": "v", "text": "\\ud800"}']
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    found = inspect(Source(tmp_path / "in.jsonl", on_error="skip").batches())
    assert found.documents == 10 and found.usable == 1
    assert found.rejected == {
        "duplicate id": 2,
        "broken JSON": 2,
        "no column 'text'": 2,
        "not an object but a number": 1,
        "'text' is null, not text": 1,
        "'text' has the lone surrogate": 1,
    }
