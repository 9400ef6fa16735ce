"""Linear embeddings in integers: rows of features -> unit vectors -> sums of the features' directions."""

from __future__ import annotations

import numpy as np

from sosie.arrays import F64, I32, I64
from sosie.kernels.machine.compile import kernel


@kernel
def unit_weights(weights: F64, offsets: I64, unit: int, units: I64) -> None:
    """Write weights as integers, so that those of a row have an L2 norm of about `unit`."""
    for row in range(offsets.size - 1):
        square = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            square += weights[i] * weights[i]
        scale = unit / np.sqrt(square) if square > 0.0 else 0.0
        for i in range(offsets[row], offsets[row + 1]):
            units[i] = np.int64(np.rint(weights[i] * scale))


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
