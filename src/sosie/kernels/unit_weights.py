"""The weights of each row, divided by their L2 norm, as integers."""

from __future__ import annotations

import numpy as np

from sosie.kernels.arrays import F64, I64
from sosie.kernels.compile import kernel


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
