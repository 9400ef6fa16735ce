"""The features of a collection in memory, or of a random sample of it: what an embedding is fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.signatures.drawn import drawn_words
from sosie.types import I32, I64, Features, offsets_of


def collected(collection: Any, shingles: Shingles, threads: int | None = None) -> Iterator[Features]:
    """Yield the features, with term counts, of texts, `Features`, a `Source` or a `Reading`, batch by batch."""
    reading = collection.batches(threads) if isinstance(collection, Source) else collection
    if isinstance(reading, Reading):
        if reading.documents:
            raise UsageError(
                "this reading has begun, so its first texts are gone: pass the Source, or its batches() anew"
            )
        yield from (shingles.extract(batch.texts, counts=True, threads=threads) for batch in reading)
        return
    features = reading if isinstance(reading, Features) else shingles.extract(reading, counts=True, threads=threads)
    if features.counts is None:
        raise UsageError("an embedding needs term counts: extract the features with counts=True")
    yield features


def sampled(batches: Iterable[Features], sample: int | None, seed: int) -> Features:
    """Return the features of all documents that have some, or of `sample` of them: the same ones however it is cut.

    >>> rows = Features(np.arange(9, dtype=np.uint64), np.arange(0, 10, 3), np.ones(9, np.int32))
    >>> sampled([rows], 2, seed=0).hashes.tolist()
    [3, 4, 5, 6, 7, 8]
    """
    held: list[Features] = []
    ranks, first = np.empty(0, np.uint64), 0
    for batch in batches:
        held.append(taken(batch, np.flatnonzero(batch.sizes)))
        if sample is not None:
            ranks = np.concatenate([ranks, drawn_words(first + np.flatnonzero(batch.sizes), seed)])
            chosen = np.sort(np.argsort(ranks, kind="stable")[:sample])
            held, ranks = [taken(_joined(held), chosen)], ranks[chosen]
        first += len(batch)
    return _joined(held)


def taken(features: Features, rows: I64) -> Features:
    """Return some of the rows, with their counts."""
    sizes = features.sizes[rows]
    offsets = offsets_of(sizes)
    places = np.arange(offsets[-1]) + np.repeat(features.offsets[rows] - offsets[:-1], sizes)
    return Features(features.hashes[places], offsets, _counts(features)[places])


def _joined(parts: list[Features]) -> Features:
    hashes = np.concatenate([np.empty(0, np.uint64), *(part.hashes for part in parts)])
    counts = np.concatenate([np.empty(0, np.int32), *(_counts(part) for part in parts)])
    return Features(hashes, offsets_of(np.concatenate([np.empty(0, np.int64), *(p.sizes for p in parts)])), counts)


def _counts(features: Features) -> I32:
    assert features.counts is not None, "collected features have counts"
    return features.counts
