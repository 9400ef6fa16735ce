"""splitmix64: the stream of independent words that one 64-bit feature hash seeds, and what is drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def splitmix64(x: np.uint64) -> np.uint64:
    """Return the finaliser of Steele, Lea and Flood (2014) of x + the golden ratio."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@kernel
def lane_word(feature: np.uint64, lane: np.uint64) -> np.uint64:
    """Return word `lane` of the bits that a feature stands for: splitmix64(feature + lane * golden ratio)."""
    return splitmix64(feature + lane * np.uint64(0x9E3779B97F4A7C15))


@kernel
def draw_classes(hashes: U64, lane: int, count: int, classes: I64) -> None:
    """Number classes from 0 on: `classes[i]` is 1 more than the known class of feature i, or 0 where there is none."""
    for i in range(hashes.size):
        if classes[i] > 0:
            classes[i] -= 1
        else:
            classes[i] = np.int64(lane_word(hashes[i], np.uint64(lane)) % np.uint64(count))


def drawn_words(numbers: Any, seed: int = 0) -> U64:
    """Return 64 random bits for each number below 2^32 and seed below 2^32, whole arrays at a time.

    >>> drawn_words([7, 8], seed=3)[1] == splitmix64(np.uint64((3 << 32) + 8))
    np.True_
    """
    z = np.asarray(numbers).astype(np.uint64) + np.uint64(seed << 32) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
