"""Signatures with planted pairs."""

import numpy as np

from sosie.types import Signatures


def planted(count, bits, share, far, seed=0):
    """Random rows; so many of them have another that differs in 1 to `far` bits."""
    rng = np.random.default_rng(seed)
    rows = rng.random((count, bits)) < 0.5
    for row in range(round(count * share)):
        rows[-1 - row] = rows[row]
        rows[-1 - row, rng.choice(bits, rng.integers(1, far + 1), replace=False)] ^= True
    words = np.packbits(rows[rng.permutation(count)], axis=1, bitorder="little").view(np.uint64)
    return Signatures(np.ascontiguousarray(words), bits)
