"""How much a feature of a document weighs: 1, as often as it occurs, or by how rare it is in a collection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from sosie.errors import UsageError
from sosie.features.frequencies import DocumentFrequencies, count_frequencies
from sosie.features.shingles import Shingles
from sosie.features.spans import cut
from sosie.kernels.sign.weigh import bm25, tf_idf
from sosie.parallel import ordered_map
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import F64, I64, Features

SPAN = 1 << 23  # bytes of features that one task weighs

Weighting = Literal["binary", "tf", "tf-idf", "bm25"]

WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
FITTED = frozenset({"tf-idf", "bm25"})  # weightings that need the statistics of a collection
FIXED_POINT = 1 << 16


def fixed_point(weights: Any) -> I64:
    """Return weights as integers of 2^-16, rounded half to even: their sums are equal in every order.

    >>> fixed_point([1, 0.25, 2**-17]).tolist()
    [65536, 16384, 0]
    """
    return np.rint(np.asarray(weights, np.float64) * FIXED_POINT).astype(np.int64)


def weights(features: Features, weighting: Weighting, frequencies: DocumentFrequencies | None = None) -> F64:
    """Return the weight of each of `features.hashes`, a multiple of 2^-16.

    For a feature that occurs tf times in its document and in df of the N documents of a collection:

    - "binary": 1
    - "tf": tf
    - "tf-idf": tf ln(1 + N / df)
    - "bm25": ln(1 + (N - df + 0.5) / (df + 0.5)) * tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)) with
      k1 = 1.2 and b = 0.75; a document is as long as the sum of its counts

    A feature that the collection does not hold counts as one of a single document (df = 1), the rarest there is. An
    empty collection counts as one of one document with one feature. So every weight is finite and greater than 0
    before it is rounded. A weight depends on its own counts alone and is the same on every CPU.

    >>> from sosie.features.frequencies import count_frequencies
    >>> from sosie.features.shingles import Shingles
    >>> texts = ["the cat", "the dog", "the the bird"]
    >>> features = Shingles(width=1).extract(texts, counts=True)
    >>> found = weights(features, "tf-idf", count_frequencies([features]))
    >>> [round(weight, 2) for weight in sorted(found.tolist())]
    [0.69, 0.69, 1.39, 1.39, 1.39, 1.39]
    """
    if weighting == "binary":
        return np.ones(len(features.hashes))
    if features.counts is None:
        raise UsageError(f"weighting {weighting} needs term counts: extract the features with counts=True")
    if weighting == "tf":
        return features.counts.astype(np.float64)
    if weighting not in FITTED:
        raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {weighting!r}")
    if frequencies is None:
        raise UsageError(f"weighting {weighting} needs the document frequencies of a collection")
    found = np.empty(len(features.hashes))
    documents, known = max(frequencies.documents, 1), frequencies.lookup(features.hashes)
    if weighting == "tf-idf":
        tf_idf(features.counts, known, documents, found)
    else:
        bm25(features.counts, features.offsets, known, documents, max(frequencies.length, 1) / documents, found)
    return fixed_point(found) / FIXED_POINT


def weigh(features: Features, weighting: Weighting, room: Room, stand_ins: int = 0) -> F64 | None:
    """Return the weight of every feature of a collection, None for "binary": on disk where they are many.

    Statistics are those of the features themselves; so many `stand_ins`, which are all rare, are no part of a length.

    >>> import tempfile
    >>> features = Features(np.array([3, 7, 3], np.uint64), np.array([0, 2, 3]), np.array([1, 5, 2], np.int32))
    >>> weigh(features, "tf", Room(tempfile.mkdtemp())).tolist()
    [1.0, 5.0, 2.0]
    """
    if weighting == "binary":
        return None
    frequencies = count_frequencies([features], threads=room.threads) if weighting in FITTED else None
    if frequencies is not None and stand_ins:
        frequencies = replace(frequencies, length=frequencies.length - stand_ins)
    with Spill(room.scratch, np.float64, memory=room.memory) as spill:
        spans = cut(features, Shingles(), SPAN)
        for part in ordered_map(lambda span: weights(span.features(), weighting, frequencies), spans, room.threads):
            spill.append(part)
        return spill.array()
