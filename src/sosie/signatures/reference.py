"""The reference distribution that documents deviate from: of a collection, or of a language."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.documents.source import Source
from sosie.errors import DataError, UsageError
from sosie.features.shingles import Shingles
from sosie.kernels.sets.counts import merge_counts
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map, spans
from sosie.signatures.prefix_classes import PrefixClasses
from sosie.text.column import TextColumn, as_column
from sosie.text.word_frequencies import word_frequencies
from sosie.types import F64, I64, U64, Features

MOST_FEATURES = 1 << 16  # whose classes are balanced by frequency; rarer ones are spread by their hashes
SPAN = 1 << 20  # bytes of text, or of features, that one task reads
BINS, FARTHEST = 2048, 16.0  # of the histogram of deviations: 64 bins for each standard deviation
GRID = 1024  # cuts are multiples of 1 / GRID, the same on every CPU


class Occurrences(NamedTuple):
    """Features, sorted and distinct, and how often each occurs."""

    features: U64
    counts: I64


def collection_occurrences(collection: Any, shingles: Shingles, threads: int | None = None) -> Occurrences:
    """Count the occurrences of every feature of a collection.

    >>> collection_occurrences(["to be or not to be", "to do"], Shingles(1)).counts.sum().item()
    8
    """
    runs = [Occurrences(np.empty(0, np.uint64), np.empty(0, np.int64))]
    for run in ordered_map(_run, pieces(collection, shingles, threads), threads):
        runs.append(run)
        while len(runs) > 1 and len(runs[-2].features) < 2 * len(runs[-1].features):
            runs.append(_merged(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    return runs[0]


def language_occurrences(language: str, shingles: Shingles) -> Occurrences:
    """Count the features of a language's words, each as often as it occurs among 10^9 words.

    >>> found = language_occurrences("en", Shingles(1, "prefix"))
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
    return _added(features.hashes, counts)


def classes_of(reference: Occurrences, count: int, lane: int) -> PrefixClasses:
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
    for counts, known in ordered_map(partial(_histogram, classes), pieces(collection, shingles, threads), threads):
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


def pieces(collection: Any, shingles: Shingles, threads: int | None) -> Iterator[Features]:
    """Yield the features of texts, `Features` or a `Source`, with counts, piece by piece."""
    batches = (batch.texts for batch in collection.batches(threads)) if isinstance(collection, Source) else [collection]
    for batch in batches:
        if isinstance(batch, Features):
            yield from (batch.rows(*span) for span in spans(batch.offsets, SPAN // 8))
        else:
            column = as_column(batch)
            extract = partial(_extracted, column, shingles)
            yield from ordered_map(extract, spans(column.offsets, SPAN), threads)


def _extracted(column: TextColumn, shingles: Shingles, span: tuple[int, int]) -> Features:
    return Features(*distinct(*shingles.occurrences(column, *span), True))


def _run(features: Features) -> Occurrences:
    if features.counts is None:
        raise UsageError("a reference needs term counts: extract the features with counts=True")
    return _added(features.hashes, features.counts.astype(np.int64))


def _added(hashes: U64, counts: I64) -> Occurrences:
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(ordered)]
    return Occurrences(ordered[first], np.add.reduceat(counts[order], first) if len(first) else counts)


def _merged(a: Occurrences, b: Occurrences) -> Occurrences:
    return Occurrences(*merge_counts(*map(read_only, a), *map(read_only, b)))


def _histogram(classes: PrefixClasses, features: Features) -> tuple[I64, bool]:
    """Count the deviations of documents with features by class and bin, and say whether any feature is known."""
    deviations = classes.deviations(features)[features.sizes > 0]
    count = deviations.shape[1]
    bins = np.floor((deviations + FARTHEST) * (BINS / (2 * FARTHEST)))
    places = np.clip(bins, 0, BINS - 1).astype(np.int64) + np.arange(count) * BINS
    counts = np.bincount(places.ravel(), minlength=count * BINS).reshape(count, BINS)
    return counts, bool(classes.known(features.hashes).any())


def _on_grid(cuts: F64) -> F64:
    return np.asarray(np.rint(cuts * GRID) / GRID)
