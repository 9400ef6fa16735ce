"""Weights from integers, tf-idf and BM25, with the same bits on every CPU; and as integers, of one norm.

The C library's logarithm differs between CPUs in the last place. This one is made of additions, multiplications and
divisions alone, which IEEE 754 rounds in one way everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from sosie.arrays import F64, I32, I64
from sosie.kernels.machine.compile import kernel

K1 = 1.2
B = 0.75

_LN2 = 0.6931471805599453
_ROOT_HALF = 0.7071067811865476
_SERIES = tuple(2.0 / k for k in range(23, 0, -2))  # of ln((1 + s) / (1 - s)) in s, for |s| < 0.172


@kernel
def logarithm(x: float) -> float:
    """Return ln x of a positive number: x = m 2^e, and ln m as a series in s = (m - 1) / (m + 1)."""
    m, e = math.frexp(x)
    if m < _ROOT_HALF:
        m, e = 2 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    total = 0.0
    for term in _SERIES:
        total = total * square + term
    return e * _LN2 + s * total


@kernel
def tf_idf(counts: I32, frequencies: I64, documents: int, weights: F64) -> None:
    """Write tf ln(1 + N / df) for every feature; a df of 0 counts as 1."""
    for i in range(counts.size):
        df = max(frequencies[i], 1)
        weights[i] = counts[i] * logarithm(1.0 + documents / df)


@kernel
def bm25(counts: I32, offsets: I64, frequencies: I64, documents: int, mean_length: float, weights: F64) -> None:
    """Write BM25's weight (k1 = 1.2, b = 0.75) for every feature of rows of features; a df of 0 counts as 1."""
    for row in range(offsets.size - 1):
        length = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            length += counts[i]
        damping = K1 * (1.0 - B + B * (length / mean_length))
        for i in range(offsets[row], offsets[row + 1]):
            df = max(frequencies[i], 1)
            idf = logarithm(1.0 + (documents - df + 0.5) / (df + 0.5))
            weights[i] = idf * (counts[i] * (K1 + 1.0) / (counts[i] + damping))


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
