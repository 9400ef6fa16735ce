"""Each row's features from rare to frequent as far as a join needs them, with what the row has left from each on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import F64, I64, U16, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sets.measures import Rows
from sosie.kernels.sets.rarity import token

SLACK = 1 - 1e-9  # filters compare floats: what rounding could decide passes, and is decided exactly later


class Ranked(NamedTuple):
    """Tokens from rare to frequent, CSR; `rests` is the sum of the squared weights of a feature and all after it."""

    tokens: U64
    offsets: I64
    rests: F64


@kernel
def rank_rows(rows: Rows, first: int, stop: int, share: float, shift: int, table: U16) -> Ranked:
    """Rank the features of rows first..stop, up to the last one whose rest is at least this share of the whole.

    What follows is too little: a pair whose first common feature is there has a cosine below sqrt(share).
    """
    bits = np.uint64(shift)
    features = 0
    for row in range(first, stop):
        features += rows.stops[row] - rows.starts[row]
    tokens, rests = np.empty(features, np.uint64), np.empty(features, np.float64)
    offsets = np.zeros(stop - first + 1, np.int64)
    taken = 0
    for row in range(first, stop):
        start = rows.starts[row]
        size = rows.stops[row] - start
        own = tokens[taken : taken + size]
        for i in range(size):
            h = rows.hashes[start + i]
            own[i] = token(table[h >> bits], h)
        rest = 0.0
        if rows.weights.size == 0:
            own.sort()
            for i in range(size - 1, -1, -1):
                rest += 1.0
                rests[taken + i] = rest
        else:
            order = np.argsort(own, kind="mergesort")
            own[:] = own[order]
            for i in range(size - 1, -1, -1):
                weight = rows.weights[start + order[i]]
                rest += weight * weight
                rests[taken + i] = rest
        length = 0
        while length < size and rest > 0 and rests[taken + length] >= share * rest * SLACK:
            length += 1
        taken += length
        offsets[row - first + 1] = taken
    return Ranked(tokens[:taken].copy(), offsets, rests[:taken].copy())
