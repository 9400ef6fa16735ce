"""Linear embeddings in integers: rows of features -> unit vectors -> sums of the features' directions."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import I32, I64
from sosie.kernels.compile import kernel


@kernel
def embed(places: I64, offsets: I64, units: I64, directions: I32, sums: I64, known: I64) -> None:
    """Write `sums[row]`, the sum of units times `directions[place - 1]`; a place of 0 is a feature that has none.

    `known[row]` counts the features that have a direction.
    """
    sums[:] = 0
    for row in range(offsets.size - 1):
        known[row] = 0
        for i in range(offsets[row], offsets[row + 1]):
            if places[i] == 0:
                continue
            known[row] += 1
            direction = directions[places[i] - 1]
            for j in range(direction.size):
                sums[row, j] += units[i] * np.int64(direction[j])
