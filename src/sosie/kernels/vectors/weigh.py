"""BM25 of counts that may be fractions, and rows of unit length."""

from __future__ import annotations

import numpy as np

from sosie.arrays import F64, I32, I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.weigh import K1, B, logarithm


@kernel
def rarities(frequencies: F64, documents: float, idf: F64) -> None:
    """Write ln(1 + (N - df + 0.5) / (df + 0.5)) of every column, 0 where no document has it (df = 0).

    A df that is a sum of probabilities may exceed N; such a column weighs nothing.
    """
    for column in range(frequencies.size):
        df = frequencies[column]
        ratio = (documents - df + 0.5) / (df + 0.5)
        idf[column] = logarithm(1.0 + ratio) if df > 0.0 and ratio > 0.0 else 0.0


@kernel
def weigh_rows(offsets: I64, columns: I32, counts: F64, idf: F64, mean_length: float, weights: F64) -> None:
    """Write BM25's weights (k1 = 1.2, b = 0.75) of rows of counts, each row scaled to a length of 1.

    A row is as long as the sum of its counts. A column without rarity weighs 0; a row of such columns alone is 0.
    """
    for row in range(offsets.size - 1):
        length = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            length += counts[i]
        damping = K1 * (1.0 - B + B * (length / mean_length))
        square = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            weights[i] = idf[columns[i]] * (counts[i] * (K1 + 1.0) / (counts[i] + damping))
            square += weights[i] * weights[i]
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 0.0
        for i in range(offsets[row], offsets[row + 1]):
            weights[i] *= scale
