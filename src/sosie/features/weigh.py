"""The weights of a collection's features, for the cosine: row after row, on disk where they are many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import FITTED, Weighting, weights
from sosie.parallel import ordered_map, spans
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import F64, Features

SPAN = 1 << 20  # features that one task weighs


def weigh(features: Features, weighting: Weighting, room: Room) -> F64 | None:
    """Return the weight of every feature, None for "binary"; statistics are those of the features themselves.

    >>> import tempfile
    >>> features = Features(np.array([3, 7, 3], np.uint64), np.array([0, 2, 3]), np.array([1, 5, 2], np.int32))
    >>> weigh(features, "tf", Room(tempfile.mkdtemp())).tolist()
    [1.0, 5.0, 2.0]
    """
    if weighting == "binary":
        return None

    def pieces() -> Iterator[Features]:
        for start, stop in spans(features.offsets, SPAN):
            offsets = features.offsets[start : stop + 1]
            here = slice(offsets[0], offsets[-1])
            counts = None if features.counts is None else features.counts[here]
            yield Features(features.hashes[here], offsets - offsets[0], counts)

    frequencies = count_frequencies(pieces(), threads=room.threads) if weighting in FITTED else None
    with Spill(room.scratch, np.float64, memory=room.memory) as spill:
        for part in ordered_map(lambda piece: weights(piece, weighting, frequencies), pieces(), room.threads):
            spill.append(part)
        return spill.array()
