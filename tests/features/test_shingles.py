"""Shingles against plain Python and the `xxhash` package."""

from __future__ import annotations

import json
import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_text as oracle

from sosie.errors import UsageError
from sosie.features import Shingles
from sosie.text import TextColumn, as_column

GOLDEN = Path(__file__).parents[1] / "golden" / "shingles.json"
TEXTS = [
    "The quick brown fox jumps over the lazy dog, and the quick brown fox jumps again.",
    "",
    "...",
    "one",
    "one two",
    "ONE Two three",
    "x" * 100 + " " + "y" * 64 + " " + "z" * 33 + " end",
    "a_b 1.5, " * 40,
    "Ünïcödé wörds: straße, STRASSE und Größe",
    "我爱北京天安门",
    "コーヒーを飲む。 It's hot!",
    "ภาษาไทยง่ายนิดเดียว",
    "العَرَبِيَّة لغة جميلة",
    "हिन्दी में लिखा हुआ पाठ",
    "e\u0301 \u1100\u1161\u11a8 \ufdfa",
    "def f(x, *, Größe=1.5e-3):\n\treturn x<=0x1e-5 if x>>2 != -.5 else a[1..10]  # 1_000.0 is 1e+3; α->β\r\n",
]
letters = st.text(st.sampled_from("aB z,_9\u00e9\u0301\u4e2d\u6587\u0e01\u0e49\ufdfa\U00020000 "), max_size=120)
code = st.text(st.sampled_from("aeE1 0.9_x+-<=>\n\u00e9\u0301\u4e2d\u2003\ufeff\u2713"), max_size=60)
CHOICES = [Shingles(width, unit) for width in (1, 2, 3, 4, 5, 9) for unit in ("word", "char", "prefix", "code")]


def found(shingles: Shingles, column: TextColumn) -> list[list[int]]:
    hashes, offsets = shingles.occurrences(column, 0, len(column))
    assert (offsets[0], offsets[-1]) == (0, len(hashes))
    return [hashes[offsets[i] : offsets[i + 1]].tolist() for i in range(len(column))]


@pytest.mark.parametrize("shingles", CHOICES, ids=str)
def test_every_shingle_in_reading_order(shingles: Shingles) -> None:
    expected = [oracle.shingles(text, shingles.width, shingles.unit) for text in TEXTS]
    assert found(shingles, as_column(TEXTS)) == expected


@pytest.mark.parametrize("letter", ["x", "\u00e9"])
def test_shingles_of_every_length(letter: str) -> None:
    text = " ".join(letter * length for length in range(1, 110))
    for width in (1, 2):
        assert found(Shingles(width), as_column([text])) == [oracle.shingles(text, width, "word")]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(letters, code, st.text(max_size=80)), max_size=5), st.sampled_from(CHOICES))
def test_any_texts(texts: list[str], shingles: Shingles) -> None:
    expected = [oracle.shingles(text, shingles.width, shingles.unit) for text in texts]
    assert found(shingles, as_column(texts)) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=80), max_size=4), st.sampled_from(CHOICES))
def test_any_bytes(texts: list[bytes], shingles: Shingles) -> None:
    expected = [oracle.shingles(text.decode("utf-8", "replace"), shingles.width, shingles.unit) for text in texts]
    assert found(shingles, as_column(pa.array(texts, pa.binary()))) == expected


@pytest.mark.parametrize("length", range(125, 200))
def test_words_that_end_near_a_block_of_64_bytes(length: int) -> None:
    for text in (
        "x" * length,
        ("ab " * length)[:length],
        "." + "y" * (length - 2) + ".",
        "q" * 63 + " " * (length - 63),
    ):
        assert found(Shingles(2), as_column([text, text])) == [oracle.shingles(text, 2, "word")] * 2


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 100, 1 << 18])
def test_neither_threads_nor_chunks_change_anything(threads: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = TEXTS * 7
    monkeypatch.setattr("sosie.features.spans.SPAN", size)
    features = Shingles().extract(texts, counts=True, threads=threads)
    assert features.counts is not None
    for row, text in enumerate(texts):
        expected, counts = np.unique(np.array(oracle.shingles(text, 3, "word"), np.uint64), return_counts=True)
        span = slice(features.offsets[row], features.offsets[row + 1])
        assert features.hashes[span].tolist() == expected.tolist()
        assert features.counts[span].tolist() == counts.tolist()
    plain = Shingles().extract(pa.chunked_array([texts[:40], texts[40:]]), threads=threads)
    assert plain.counts is None
    assert plain.hashes.tolist() == features.hashes.tolist()
    assert plain.offsets.tolist() == features.offsets.tolist()


def test_types_of_the_result() -> None:
    for texts in (TEXTS, [], ["", "."]):
        features = Shingles().extract(texts, counts=True)
        assert features.counts is not None
        kinds = (features.hashes.dtype, features.offsets.dtype, features.counts.dtype)
        assert kinds == (np.uint64, np.int64, np.int32)
        assert len(features) == len(texts)


def test_spans_of_sliced_columns() -> None:
    column = as_column(pa.array(TEXTS)[3:12])
    for start, stop in ((0, 9), (2, 5), (4, 4), (8, 9)):
        hashes, offsets = Shingles().occurrences(column, start, stop)
        expected = [oracle.shingles(text, 3, "word") for text in TEXTS[3 + start : 3 + stop]]
        assert hashes.tolist() == [value for row in expected for value in row]
        assert np.diff(offsets).tolist() == [len(row) for row in expected]


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.parametrize(
    "text", ["word " * 30 + "end", "x", "ends with é", "\u4e2d" * 25, "1.", "1e", "1e-"], ids=ascii
)
def test_no_byte_past_the_data_is_read(text: str) -> None:
    """The data ends where readable memory ends: to read on is to crash."""
    import ctypes

    page, content = mmap.PAGESIZE, text.encode()
    memory = mmap.mmap(-1, 2 * page)
    whole = np.frombuffer(memory, np.uint8)
    whole[page - len(content) : page] = np.frombuffer(content, np.uint8)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(whole.ctypes.data + page, page, mmap.PROT_READ & 0) == 0
    try:
        column = TextColumn(whole[page - len(content) : page], np.array([0, len(content) // 2, len(content)]))
        for shingles in (Shingles(), Shingles(4, "char"), Shingles(2, "code")):
            halves = [column.text(0), column.text(1)]
            assert found(shingles, column) == [oracle.shingles(half, shingles.width, shingles.unit) for half in halves]
    finally:
        assert protect(whole.ctypes.data + page, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


def test_golden_vectors() -> None:
    vectors = json.loads(GOLDEN.read_text("utf-8"))
    assert len(vectors) >= 20
    for vector in vectors:
        shingles = Shingles(vector["width"], vector["unit"])
        assert [f"{value:016x}" for value in found(shingles, as_column([vector["text"]]))[0]] == vector["hashes"]


@pytest.mark.parametrize("options", [{"width": 0}, {"width": -1}, {"width": 2.0}, {"width": True}, {"width": 10**6}])
def test_impossible_widths_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="width"):
        Shingles(**options)


def test_unknown_units_and_rows_are_refused() -> None:
    with pytest.raises(UsageError, match="unit"):
        Shingles(unit="line")  # type: ignore[arg-type]
    for start, stop in ((0, 3), (-1, 1), (2, 1)):
        with pytest.raises(UsageError, match="rows"):
            Shingles().occurrences(as_column(["a", "b"]), start, stop)
