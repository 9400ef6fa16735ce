"""What a match says: the passage of a document that is most like the query, and the words that both share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from sosie.features.shingles import Shingles
from sosie.kernels.word_spans import word_spans
from sosie.search.windows import Windows
from sosie.text.column import as_column
from sosie.text.passages import passages
from sosie.text.tables import unicode_tables
from sosie.text.words import fold
from sosie.types import Features

_WORDS = Shingles(width=1)


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
    asked, there = (passages([text], windows.words, windows.overlap) for text in (query, document))
    if not len(asked) or not len(there):
        return Excerpt(document, 0, len(document), [])
    alike = np.zeros((len(asked), len(there)))
    for kind, weight in ((shingles, 1.0), (_WORDS, 1e-3)):
        alike += weight * _contained(kind.extract(asked["text"]), kind.extract(there["text"]))
    best, place = np.unravel_index(int(alike.argmax()), alike.shape)
    chosen = there.slice(int(place), 1).to_pylist()[0]
    text = chosen["text"]
    return Excerpt(text, chosen["start"], chosen["end"], _shared(text, asked["text"][int(best)].as_py(), shingles))


def whole_excerpt(query: str, passage: str, start: int, shingles: Shingles) -> Excerpt:
    """Return a passage that was found as it is, with what it shares with the query."""
    return Excerpt(passage, start, start + len(passage), _shared(passage, query, shingles))


def _contained(a: Features, b: Features) -> np.ndarray:
    """Return for every row of a and of b the share of the smaller one's features that the other has."""
    hashes, numbers = np.unique(np.concatenate([a.hashes, b.hashes]), return_inverse=True)
    cut = len(a.hashes)
    shared = _matrix(numbers[:cut], a, len(hashes)) @ _matrix(numbers[cut:], b, len(hashes)).T
    smaller = np.minimum(a.sizes[:, None], b.sizes[None, :])
    return np.asarray(shared.toarray() / np.maximum(smaller, 1))


def _matrix(numbers: np.ndarray, features: Features, width: int) -> csr_array:
    ones = np.ones(len(numbers), np.int64)
    return csr_array((ones, numbers, features.offsets), shape=(len(features), width))


def _shared(text: str, query: str, shingles: Shingles) -> list[tuple[int, int]]:
    """Return the spans of a text whose words the query has, too, in runs as long as a shingle or by themselves."""
    (bounds, words), (_, asked) = _words_of(text), _words_of(query)
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


def _words_of(text: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Return where the words of a text are, and the words as they are compared."""
    column = as_column([text])
    bounds, _ = word_spans(unicode_tables(), column.data, column.offsets, 0, 1)
    spans = [(start, end) for start, end in bounds[:, :2].tolist()]
    return spans, fold("\n".join(text[start:end] for start, end in spans)).split("\n") if spans else []
