"""What a match says: the passage of a document that is most like the query, and the words that both share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sosie.features.shingles import Shingles
from sosie.search.windows import Windows
from sosie.text.passages import passages
from sosie.text.places import placed_words
from sosie.types import F64, Features

_WORDS = Shingles(width=1)
_PAIRS = 1 << 20  # pairs of passages that are compared at a time


@dataclass(frozen=True)
class Excerpt:
    """The passage `text`, which begins at character `start` of its document and ends before `end`.

    `shared` are the spans of characters of `text` whose words the query has, too.
    """

    text: str
    start: int
    end: int
    shared: list[tuple[int, int]]


def marked(text: str, shared: Iterable[Sequence[int]], before: str = "**", after: str = "**") -> str:
    """Return a passage with marks around what is shared.

    >>> marked("a rose is red", [(2, 6)])
    'a **rose** is red'
    """
    edges = [0, *(edge for span in shared for edge in span), len(text)]
    parts = [text[start:stop] for start, stop in pairwise(edges)]
    return "".join(f"{before}{part}{after}" if place % 2 else part for place, part in enumerate(parts))


def find_excerpt(query: str, document: str, shingles: Shingles, windows: Windows) -> Excerpt:
    """Return the passage of a document that shares most with a passage of the query; all of it where one has no words.

    Passages are compared by the share of the smaller one's shingles that the other has, then by their single words; the
    first one wins a tie. Shared words are those in runs of `shingles.width` words that both passages have or, where
    there are none, single words.

    >>> text = "It was late. The cat sat on the mat, and the dog lay by the door."
    >>> excerpt = find_excerpt("a cat sat on the mat", text, Shingles(), Windows(8, 4))
    >>> marked(excerpt.text, excerpt.shared)
    '**cat sat on the mat**, and the dog'
    """
    asked, there = (passages([text], windows.words, windows.overlap, threads=1) for text in (query, document))
    if not len(asked) or not len(there):
        return Excerpt(document, 0, len(document), [])
    best, place = _most_alike(asked["text"], there["text"], shingles)
    chosen = there.slice(place, 1).to_pylist()[0]
    text = chosen["text"]
    return Excerpt(text, chosen["start"], chosen["end"], _shared(text, asked["text"][best].as_py(), shingles))


def whole_excerpt(query: str, passage: str, start: int, shingles: Shingles) -> Excerpt:
    """Return a passage that was found as it is, with what it shares with the query."""
    return Excerpt(passage, start, start + len(passage), _shared(passage, query, shingles))


def _most_alike(asked: Any, there: Any, shingles: Shingles) -> tuple[int, int]:
    """Return which passage of the query, and which of the document, are most alike."""
    kinds = [_matrices(kind.extract(asked, threads=1), kind.extract(there, threads=1)) for kind in (shingles, _WORDS)]
    best, found = -1.0, (0, 0)
    step = max(1, _PAIRS // len(there))
    for start in range(0, len(asked), step):
        by_shingles, by_words = (_contained(a[start : start + step], b) for a, b in kinds)
        alike = by_shingles + 1e-3 * by_words
        query, place = divmod(int(alike.argmax()), len(there))
        if alike[query, place] > best:
            best, found = float(alike[query, place]), (start + query, place)
    return found


def _matrices(a: Features, b: Features) -> tuple[Any, Any]:
    """Return for two collections which row has which feature."""
    hashes, numbers = np.unique(np.concatenate([a.hashes, b.hashes]), return_inverse=True)
    parts = zip((a, b), np.split(numbers, [len(a.hashes)]), strict=True)
    first, second = (
        csr_array((np.ones(len(columns), np.int64), columns, rows.offsets), shape=(len(rows), len(hashes)))
        for rows, columns in parts
    )
    return first, second


def _contained(a: Any, b: Any) -> F64:
    """Return for every row of a and of b the share of the smaller one's features that the other has."""
    smaller = np.minimum(np.diff(a.indptr)[:, None], np.diff(b.indptr)[None, :])
    return np.asarray((a @ b.T).toarray() / np.maximum(smaller, 1))


def _shared(text: str, query: str, shingles: Shingles) -> list[tuple[int, int]]:
    """Return the spans of a text whose words the query has, too, in runs as long as a shingle or by themselves."""
    (bounds, words), (_, asked) = placed_words(text), placed_words(query)
    widths = (min(shingles.width, len(words), len(asked)), 1) if shingles.unit == "word" else (1,)
    for width in widths:
        runs = {tuple(asked[i : i + width]) for i in range(len(asked) - width + 1)}
        found = [i for i in range(len(words) - width + 1) if tuple(words[i : i + width]) in runs]
        if width and found:
            return _joined(bounds, sorted({i + j for i in found for j in range(width)}))
    return []


def _joined(bounds: list[tuple[int, int]], words: list[int]) -> list[tuple[int, int]]:
    """Return the spans of words, neighbours as one."""
    spans: list[tuple[int, int]] = []
    last = -2
    for word in words:
        start, end = bounds[word]
        spans[-1:] = [(spans[-1][0], end)] if word == last + 1 else [*spans[-1:], (start, end)]
        last = word
    return spans
