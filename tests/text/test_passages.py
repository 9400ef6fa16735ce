"""Passages, against plain Python over characters."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import oracle_text as oracle

import sosie
from sosie.errors import DataError, UsageError

TRICKY = [
    *"aB9_ .\u00ad\u200d\u0301\u00e9\u00df\u2122\u00bd\ufdfa\uac00\u0915\u093c",
    *"\u4e2d\u6587\u30ab\uff76\uff9e\u0e01\u0e33\u0e49\u17d2\U00020000\U0001f600",
]
anything = st.characters(exclude_categories=["Cs"])
texts = st.one_of(st.text(st.sampled_from(TRICKY), max_size=60), st.text(anything, max_size=40))
parts = st.sampled_from(["one", "zwei,", "три", "ตา", "中", "हिन्दी", "(5)"])


def spans(text: str) -> list[tuple[int, int]]:
    """Where words begin and end: a character counts as what it folds to first, and as nothing if that is nothing."""
    found: list[tuple[int, int]] = []
    inside = ""
    for place, character in enumerate(text):
        folded = oracle.folded_character(character)
        if not folded:
            continue
        kind = oracle.kind(folded[0])
        joins = inside and (kind == "mark" or kind == inside == "word")
        if joins:
            found[-1] = (found[-1][0], place + 1)
        elif kind:
            found.append((place, place + 1))
        inside = inside if joins else "word" if kind == "mark" else kind
    return found


def expected(documents: list[str], size: int, overlap: int) -> list[tuple[int, int, int, int, str]]:
    rows = []
    for document, text in enumerate(documents):
        found = spans(text)
        firsts = list(range(0, max(len(found) - size, 0), size - overlap))
        firsts += [max(len(found) - size, 0)] if found else []
        for number, first in enumerate(firsts):
            start, end = found[first][0], found[first : first + size][-1][1]
            rows.append((document, number, start, end, text[start:end]))
    return rows


def rows(table: pa.Table) -> list[tuple[int, int, int, int, str]]:
    return [tuple(row.values()) for row in table.to_pylist()]


@settings(max_examples=300)
@given(st.lists(texts, max_size=4), st.integers(1, 6), st.data())
@example(["\uff76\uff9e\uff77 co\u00adop \u0301\u4e2d a\u200d"], 2, None)
def test_any_texts(documents: list[str], size: int, data: st.DataObject | None) -> None:
    overlap = data.draw(st.integers(0, size - 1)) if data else 1
    table = sosie.passages(documents, size, overlap)
    table.validate(full=True)
    assert rows(table) == expected(documents, size, overlap)


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=60), max_size=3))
def test_any_bytes(documents: list[bytes]) -> None:
    table = sosie.passages(pa.array(documents, pa.binary()), 3, 2)
    table.validate(full=True)
    assert rows(table) == expected([document.decode("utf-8", "replace") for document in documents], 3, 2)


def test_every_character_between_letters() -> None:
    characters = [c for c in oracle.assigned() if not "\u4e01" <= c <= "\u9fff" and not "\uac01" <= c <= "\ud7a3"][::7]
    documents = [f"a{c}b {c}" for c in characters]
    assert rows(sosie.passages(documents, 1, 0)) == expected(documents, 1, 0)


@given(st.lists(parts, max_size=40).map(" ".join), st.integers(1, 9), st.data())
def test_every_word_is_covered_and_no_passage_is_short(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    table = sosie.passages([text], size, overlap)
    assert [len(spans(passage)) for passage in table["text"].to_pylist()] == [min(size, len(spans(text)))] * len(table)
    covered = {place for row in table.to_pylist() for place in range(row["start"], row["end"])}
    assert {place for start, end in spans(text) for place in range(start, end)} <= covered
    starts = table["start"].to_pylist()
    assert starts == sorted(set(starts))


def test_the_table() -> None:
    table = sosie.passages(["one two three", "", "!"], words=2, overlap=1)
    kinds = {"document": pa.int64(), "passage": pa.int64(), "start": pa.int64(), "end": pa.int64()}
    assert table.schema == pa.schema({**kinds, "text": pa.large_string()})
    assert rows(table) == [(0, 0, 0, 7, "one two"), (0, 1, 4, 13, "two three")]
    assert sosie.passages([]).schema == table.schema


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 50, 1 << 18])
def test_neither_threads_nor_chunks_change_anything(threads: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [f"text {i}: " + "some words, and 中文 " * (i % 7) for i in range(50)]
    monkeypatch.setattr("sosie.text.passages._SPAN", size)
    found = sosie.passages(pa.chunked_array([documents[:20], documents[20:]]), 5, 2, threads=threads)
    assert rows(found) == expected(documents, 5, 2)


def test_passages_find_what_documents_share() -> None:
    shared = " ".join(f"shared{i}" for i in range(60))
    documents = [" ".join(f"{name}{i}" for i in range(300)) for name in "ab"]
    table = sosie.passages([documents[0] + " " + shared, shared + " " + documents[1]], words=20, overlap=19)
    pairs = sosie.join(sosie.Shingles().extract(table["text"]), threshold=1)
    assert len(pairs) == 41  # windows of 20 among 60 words
    assert set(table["document"].take(pairs.a).to_pylist()) == {0}
    assert set(table["document"].take(pairs.b).to_pylist()) == {1}


@settings(max_examples=30)
@given(st.integers(4, 30), st.data())
def test_windows_of_a_shared_run_are_as_similar_as_the_guide_says(size: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, size))
    heads = data.draw(st.tuples(*[st.integers(0, 2 * size)] * 2))
    shared = [f"shared{i}" for i in range(size + (3 * step + 1) // 2)]
    documents = [
        " ".join([*(f"{name}{i}" for i in range(head)), *shared, *(f"{name}end{i}" for i in range(5))])
        for name, head in zip("ab", heads, strict=True)
    ]
    found = [sosie.passages([document], size, size - step)["text"].to_pylist() for document in documents]
    sets = [[set(oracle.shingles(text, 3, "word")) for text in passages] for passages in found]
    best = max(len(a & b) / len(a | b) for a in sets[0] for b in sets[1])
    assert best >= (size - step / 2 - 2) / (size + step / 2 - 2)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, -1), (5, 9)])
def test_impossible_windows_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(UsageError, match="passages"):
        sosie.passages(["a"], size, overlap)
    with pytest.raises(DataError, match="text 1"):
        sosie.passages(["a", None])
