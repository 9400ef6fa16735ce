"""Random words by number: splitmix64 on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.types import U64


def drawn_words(numbers: Any, seed: int = 0) -> U64:
    """Return 64 random bits for each number below 2^32 and seed below 2^32.

    >>> from sosie.kernels.sign.mix import splitmix64
    >>> drawn_words([7, 8], seed=3)[1] == splitmix64(np.uint64((3 << 32) + 8))
    np.True_
    """
    z = np.asarray(numbers).astype(np.uint64) + np.uint64(seed << 32) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
