"""What it costs to flip bits of a header, from the sums behind them."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import F32, I32, I64
from sosie.kernels.compile import kernel

COSTLIEST = (1 << 20) - 1  # of a bit; the least is 1


@kernel
def costs_by_size(sums: F32, places: I64) -> I32:
    """Return costs in proportion to |W|, for the bits at some places; the largest of each query costs most."""
    costs = np.empty((sums.shape[0], places.size), np.int32)
    for query in range(sums.shape[0]):
        largest = np.float32(1e-30)
        for place in places:
            largest = max(largest, abs(sums[query, place]))
        scale = np.float32(COSTLIEST - 1) / largest
        for i in range(places.size):
            costs[query, i] = 1 + np.int32(abs(sums[query, places[i]]) * scale)
    return costs


@kernel
def costs_by_table(sums: F32, places: I64, step: float, table: I32) -> I32:
    """Return `table[|W| / step]`, or its last number, for the bits at some places."""
    costs = np.empty((sums.shape[0], places.size), np.int32)
    for query in range(sums.shape[0]):
        for i in range(places.size):
            costs[query, i] = table[np.int64(min(abs(sums[query, places[i]]) / step, table.size - 1))]
    return costs
