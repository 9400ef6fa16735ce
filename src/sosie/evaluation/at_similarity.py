"""Recall and precision at similarity: what keys find of all whose cosine reaches a threshold (STEIN Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.index.keys import KeyIndex
from sosie.types import F64, I64, Features, Keys

ROUNDING = 1e-9  # a cosine so close below a threshold reaches it
BLOCK = 1 << 23  # cosines that are held at a time


@dataclass(frozen=True, eq=False)
class AtSimilarity:
    """What `queries` documents found among `documents`, for each of the `thresholds`.

    `similar[i]` pairs of a query and another document have a cosine of at least `thresholds[i]`; `found[i]` of these
    share a key. `retrieved` pairs share a key, whatever their cosine.
    """

    thresholds: F64
    similar: I64
    found: I64
    retrieved: int
    queries: int
    documents: int

    @property
    def recall(self) -> F64:
        """The share of the similar pairs that was found, by threshold; nan where there are none."""
        return _share(self.found, self.similar)

    @property
    def precision(self) -> F64:
        """The share of the pairs found that are similar, by threshold; nan where nothing was found."""
        return _share(self.found, np.full(len(self.found), self.retrieved))

    @property
    def result_size(self) -> float:
        """How many documents a query finds on average, without itself."""
        return self.retrieved / self.queries

    @property
    def reduction(self) -> float:
        """How many times smaller than the collection the average result is."""
        return self.documents / self.result_size if self.retrieved else float("inf")


def at_similarity(
    keys: Keys,
    features: Features,
    weights: Any,
    thresholds: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    *,
    sample: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> AtSimilarity:
    """Search for a sample of documents in their collection by keys, and compare with the exact cosines of all.

    `keys` are those of the documents with features, in their order; `weights` has one number for each of
    `features.hashes`, as `sosie.features.weighting.weights` gives them.

    >>> from sosie import Minhash, Shingles
    >>> features = Shingles(1).extract(["to be or not to be", "to be, or not", "what to do", "not me"], counts=True)
    >>> found = at_similarity(Minhash(rows=2).fit().keys(features), features, features.counts, [0.3, 0.9])
    >>> found.similar.tolist(), found.recall.tolist()
    ([6, 2], [1.0, 1.0])
    """
    rows = np.flatnonzero(features.sizes)
    if len(keys) != len(rows):
        raise MismatchError(f"keys of {len(keys)} documents, but {len(rows)} have features")
    if not len(rows) or sample < 1:
        raise UsageError(f"cannot draw {sample} of {len(rows)} documents with features: both must be at least 1")
    drawn = np.sort(np.random.default_rng(seed).choice(len(rows), min(sample, len(rows)), replace=False))
    levels = np.asarray(thresholds, np.float64)
    matches = KeyIndex(keys).candidates(Keys(keys.values[drawn], digest=keys.digest, space=keys.space), threads=threads)
    similar = np.zeros(len(levels), np.int64)
    found = np.zeros(len(levels), np.int64)
    for start, cosines in _cosines(features, weights, rows, drawn):
        cosines[np.arange(len(cosines)), drawn[start : start + len(cosines)]] = -1  # a document is not its own answer
        similar += [np.count_nonzero(cosines >= level - ROUNDING) for level in levels]
        offsets = matches.offsets[start : start + len(cosines) + 1]
        query = np.repeat(np.arange(len(cosines)), np.diff(offsets))
        reached = cosines[query, matches.rows[offsets[0] : offsets[-1]]]
        found += [np.count_nonzero(reached >= level - ROUNDING) for level in levels]
    return AtSimilarity(levels, similar, found, len(matches.rows) - len(drawn), len(drawn), len(rows))


def _cosines(features: Features, weights: Any, rows: I64, drawn: I64) -> Iterator[tuple[int, F64]]:
    """Yield the cosines of some rows with all rows, block by block of queries."""
    from scipy.sparse import csr_array

    columns = np.unique(features.hashes, return_inverse=True)[1]
    matrix = csr_array((np.asarray(weights, np.float64), columns, features.offsets))[rows]
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    unit = matrix / np.where(norms > 0, norms, 1.0)[:, None]
    size = max(1, BLOCK // len(rows))
    for start in range(0, len(drawn), size):
        yield start, (unit[drawn[start : start + size]] @ unit.T).toarray()


def _share(part: I64, whole: I64) -> F64:
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))
