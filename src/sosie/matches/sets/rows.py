"""Rows of features as the kernels take them: of one collection or two, with what their features weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.arrays import read_only
from sosie.errors import MismatchError, UsageError
from sosie.kernels.sets.similarity import Sets, WeighedSets, squared_norms
from sosie.matches.sets.similarity import Similarity
from sosie.types import I64, U64, Features


def sets_of(features: Features, other: Features | None = None) -> tuple[Sets, int]:
    """Return the rows of one or two collections in one array, and where the second one starts (0 if there is none)."""
    if other is None:
        return rows_of(features.hashes, features.offsets[:-1], features.offsets[1:]), 0
    shifted = other.offsets + len(features.hashes)
    both = rows_of(
        np.concatenate([features.hashes, other.hashes]),
        np.concatenate([features.offsets[:-1], shifted[:-1]]),
        np.concatenate([features.offsets[1:], shifted[1:]]),
    )
    return both, len(features)


def rows_of(hashes: U64, starts: I64, stops: I64) -> Sets:
    """Return rows of features that lie anywhere in one array; read-only, so that kernels are compiled once."""
    return Sets(read_only(hashes), read_only(starts), read_only(stops))


def weighed_sets(sets: Sets, similarity: Similarity) -> WeighedSets:
    """Return rows with what their features weigh, and with their tags."""
    if similarity.weights is None:
        weights, norms = np.empty(0, np.float64), (sets.stops - sets.starts).astype(np.float64)
    else:
        weights = weights_of(similarity.weights, sets, np.float64)
        norms = squared_norms(weights, sets.starts, sets.stops)
        if not np.isfinite(norms).all():
            raise UsageError("weights must be finite numbers, 0 or more")
    hashes, starts, stops = (read_only(array) for array in sets)
    tags = np.empty(0, np.uint32) if similarity.tags is None else weights_of(similarity.tags, sets, np.uint32)
    return WeighedSets(hashes, starts, stops, read_only(weights), read_only(norms), read_only(tags))


def weights_of(weights: NDArray[Any], sets: Sets, dtype: DTypeLike) -> NDArray[Any]:
    """Return weights, or tags, as numbers of one type; raise unless there is one for each feature."""
    if weights.shape != sets.hashes.shape:
        raise MismatchError(f"{list(weights.shape)} weights for {len(sets.hashes)} features: pass one for each")
    return weights.astype(dtype, copy=False)
