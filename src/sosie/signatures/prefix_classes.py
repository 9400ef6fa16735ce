"""Prefix classes: how often each class of features is to be expected, and how far a document deviates (STEIN 2.3).

What is expected is counted in a collection, or known of a language.
"""

from __future__ import annotations

import hashlib
import heapq
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import DataError, StorageError, UsageError
from sosie.features.counts import batches_of, count_spans, summed
from sosie.features.frequencies import TermCounts
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.kernels.sets.counts import leading_bits, lookup_counts
from sosie.kernels.sign.mix import draw_classes
from sosie.shown import counted
from sosie.signatures.spec import State
from sosie.text.languages import word_frequencies
from sosie.types import F64, I64, U64, Features

MOST_FEATURES = 1 << 16  # whose classes are balanced by frequency; rarer ones are spread by their hashes
BINS, FARTHEST = 2048, 16.0  # of the histogram of deviations: 64 bins for each standard deviation
GRID = 1024  # cuts are multiples of 1 / GRID, the same on every CPU


@dataclass(frozen=True, eq=False)
class PrefixClasses:
    """A reference distribution by class: `classes[i]` is the class of `features[i]`, numbered from 1.

    `features` are sorted; any other feature is of a class that its hash draws. In the reference, features of class c
    occur `occurrences[c]` times. Scheme s cuts the deviations of class c at `cuts[s, c]`, which ascend.
    """

    features: U64
    classes: I64
    occurrences: I64
    cuts: F64
    lane: int = 0

    def __repr__(self) -> str:
        return f"PrefixClasses({len(self.occurrences):,} classes of {counted(len(self.features), 'feature')})"

    def __post_init__(self) -> None:
        for name in ("features", "classes", "occurrences", "cuts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def restored(cls, arrays: dict[str, Any], lane: int, shape: tuple[int, int, int]) -> PrefixClasses:
        """Return stored classes; raise if signing with them could leave an array, or they are not of this shape."""
        made = cls(arrays["features"], arrays["classes"], arrays["occurrences"], arrays["cuts"], lane)
        kinds = [(made.features, np.uint64), (made.classes, np.int64), (made.occurrences, np.int64)]
        if any(array.dtype != kind or array.ndim != 1 for array, kind in kinds) or made.cuts.dtype != np.float64:
            raise StorageError("the classes are not stored as numbers of this version. Fit again.")
        count = shape[1]
        if len(made.classes) != len(made.features) or len(made.occurrences) != count or made.cuts.shape != shape:
            raise StorageError("the classes are not those of the spec. Fit again.")
        if np.any(made.features[1:] <= made.features[:-1]) or np.any((made.classes < 1) | (made.classes > count)):
            raise StorageError("the classes of features are not in order. Fit again.")
        if np.any(made.occurrences < 0) or not (np.isfinite(made.cuts).all() and (np.diff(made.cuts) >= 0).all()):
            raise StorageError("occurrences are negative, or cuts do not ascend. Fit again.")
        return made

    @cached_property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits."""
        digest = hashlib.sha256(f"{self.cuts.shape} {self.lane} ".encode())
        for array, kind in (
            (self.features, "<u8"),
            (self.classes, "<i8"),
            (self.occurrences, "<i8"),
            (self.cuts, "<f8"),
        ):
            digest.update(np.ascontiguousarray(array, kind).tobytes())
        return digest.hexdigest()[:32]

    def state(self) -> State:
        """Return what is stored of them."""
        names = ("features", "classes", "occurrences", "cuts")
        return {}, {name: getattr(self, name) for name in names}

    @cached_property
    def expected(self) -> F64:
        """The share of all occurrences that is to be expected in each class; no class is impossible."""
        count = len(self.occurrences)
        return np.asarray((self.occurrences + 0.5) / (int(self.occurrences.sum()) + 0.5 * count))

    def known(self, hashes: U64) -> I64:
        """Return the class of every feature, from 1 on, or 0 where the reference does not have it."""
        found = np.empty(len(hashes), np.int64)
        lookup_counts(self.features, self.classes, *self._directory, read_only(hashes), found)
        return found

    def classified(self, hashes: U64) -> I64:
        """Return the class of every feature, from 0 on."""
        found = self.known(hashes)
        draw_classes(read_only(hashes), self.lane, len(self.occurrences), found)
        return found

    def deviations(self, features: Features) -> F64:
        """Return y = (f - e) / sqrt(e (1 - e) / length) for each document and class: f is the class's share in it.

        Made of additions, multiplications, divisions and roots, which IEEE 754 rounds in one way everywhere.
        """
        if features.counts is None:
            raise UsageError("classes of features need term counts: extract the features with counts=True")
        count, expected = len(self.occurrences), self.expected
        places = np.repeat(np.arange(len(features)) * count, features.sizes) + self.classified(features.hashes)
        counts = np.bincount(places, features.counts, len(features) * count).reshape(-1, count)
        lengths = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return np.asarray((counts - lengths * expected) / np.sqrt(lengths * (expected * (1 - expected))))

    @cached_property
    def _directory(self) -> tuple[I64, int]:
        return leading_bits(self.features)


def language_terms(language: str, shingles: Shingles) -> TermCounts:
    """Count the features of a language's words, each as often as it occurs among 10^9 words.

    >>> found = language_terms("en", Shingles(1, "prefix"))
    >>> int(found.counts.max()), len(found.features) > 26
    (149379047, True)
    """
    if shingles.unit != "prefix" and (shingles.unit != "word" or shingles.width > 1):
        raise UsageError(
            f"the words of a language have no features of {shingles}: take unit='prefix' or single words, "
            "or fit to texts"
        )
    words, occurrences = word_frequencies(language)
    features = shingles.extract(words, counts=True)
    assert features.counts is not None
    counts = features.counts.astype(np.int64) * np.repeat(occurrences, features.sizes)
    run = summed(features.hashes, counts)
    return TermCounts(run.features, run.counts)


def classes_of(reference: TermCounts, count: int, lane: int) -> PrefixClasses:
    """Put features into `count` classes that are equally frequent, as far as that can be; there are no cuts yet.

    From frequent to rare, each goes to the class that has least so far.
    """
    if not len(reference.features):
        raise DataError("the texts have no words, so nothing can be expected of others: fit to texts with words")
    order = np.lexsort((reference.features, -reference.counts))[:MOST_FEATURES]
    heap = [(0, number) for number in range(1, count + 1)]
    classes = np.empty(len(order), np.int64)
    for place, occurrences in enumerate(reference.counts[order].tolist()):
        sum_so_far, number = heap[0]
        classes[place] = number
        heapq.heapreplace(heap, (sum_so_far + occurrences, number))
    ascending = np.argsort(order)
    features, none = reference.features[order[ascending]], np.zeros(count, np.int64)
    made = PrefixClasses(features, classes[ascending], none, np.empty((0, count, 0)), lane)
    found = made.classified(reference.features)
    return replace(made, occurrences=np.bincount(found, reference.counts, count).astype(np.int64))


def collection_cuts(
    classes: PrefixClasses, quantiles: F64, collection: Any, shingles: Shingles, threads: int | None = None
) -> F64:
    """Return where the deviations in a collection reach quantiles[scheme, i], as cuts[scheme, class, i]."""
    total = np.zeros((len(classes.occurrences), BINS), np.int64)
    shared = False
    batches, count = batches_of(collection, threads), partial(_histogram, classes)
    for counts, known in count_spans(batches, shingles, count, threads):
        total += counts
        shared |= known
    if not shared:
        raise DataError(
            "no word of the texts is known to the reference: name the language of the texts, or fit to them alone"
        )
    below = np.concatenate([np.zeros((len(total), 1), np.int64), np.cumsum(total, axis=1)], axis=1)
    edges = np.linspace(-FARTHEST, FARTHEST, BINS + 1)
    cuts = [[np.interp(row * line[-1], line, edges) for line in below] for row in quantiles]
    return _on_grid(np.array(cuts))


def normal_cuts(quantiles: F64, count: int) -> F64:
    """Return the cuts of `count` classes whose deviations are normally distributed, as those of random words are.

    >>> normal_cuts(np.array([[0.25, 0.5, 0.75]]), 1).tolist()
    [[[-0.6748046875, 0.0, 0.6748046875]]]
    """
    cuts = np.array([[NormalDist().inv_cdf(share) for share in row] for row in quantiles.tolist()])
    return _on_grid(np.repeat(cuts[:, None], count, axis=1))


def _histogram(classes: PrefixClasses, span: RowSpan) -> tuple[I64, bool]:
    """Count the deviations of documents with features by class and bin, and say whether any feature is known."""
    features = span.features()
    deviations = classes.deviations(features)[features.sizes > 0]
    count = deviations.shape[1]
    bins = np.floor((deviations + FARTHEST) * (BINS / (2 * FARTHEST)))
    places = np.clip(bins, 0, BINS - 1).astype(np.int64) + np.arange(count) * BINS
    counts = np.bincount(places.ravel(), minlength=count * BINS).reshape(count, BINS)
    return counts, bool(classes.known(features.hashes).any())


def _on_grid(cuts: F64) -> F64:
    return np.asarray(np.rint(cuts * GRID) / GRID)
