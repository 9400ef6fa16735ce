"""Signatures that joins are planned and run on: random, unevenly spread or crowded, with planted pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sosie.types import U64, Signatures

SKEWS = ("even", "odds", "crowds")
_PLANTED = 0.2  # of the rows have another one within the radius
_STEP = 1 << 16  # rows that are drawn at a time
_CROWDS = 50  # centres, a fifth of the rows about them
_FLIPPED = 0.25  # of the bits of a row of a crowd


class Data(NamedTuple):
    """Which signatures: how many of how many bits, within which radius pairs are planted, and how bits are spread."""

    rows: int
    bits: int
    radius: int
    skew: str

    def __str__(self) -> str:
        return f"{self.rows:,} x {self.bits} bits, radius {self.radius}, {self.skew}"

    def draw(self) -> Signatures:
        """Return the signatures, the same each time."""
        rng = np.random.default_rng([self.rows, self.bits, self.radius, SKEWS.index(self.skew)])
        words = np.empty((self.rows, -(-self.bits // 64)), np.uint64)
        odds = rng.beta(4, 4, self.bits)
        centres = rng.integers(0, 2**64, (_CROWDS, words.shape[1]), dtype=np.uint64)
        for start in range(0, self.rows, _STEP):
            stop = min(start + _STEP, self.rows)
            words[start:stop] = self._some(rng, stop - start, odds, centres)
        copies = round(_PLANTED / 2 * self.rows)
        for start in range(0, copies, _STEP):
            some = slice(start, min(start + _STEP, copies))
            to = slice(self.rows - copies + some.start, self.rows - copies + some.stop)
            words[to] = words[some] ^ self._flips(rng, some.stop - some.start)
        if self.bits % 64:
            words[:, -1] &= np.uint64(2 ** (self.bits % 64) - 1)
        return Signatures(words, self.bits)

    def _some(self, rng: Any, count: int, odds: Any, centres: U64) -> U64:
        if self.skew == "odds":
            return packed(rng.random((count, self.bits)) < odds)
        words = rng.integers(0, 2**64, (count, centres.shape[1]), dtype=np.uint64)
        if self.skew == "crowds":
            few = count // 5
            flips = packed(rng.random((few, self.bits)) < _FLIPPED)
            words[:few] = centres[rng.integers(0, _CROWDS, few)] ^ flips
        return np.asarray(words[rng.permutation(count)])

    def _flips(self, rng: Any, count: int) -> U64:
        """Return bits that differ: from one up to the radius, all numbers equally often."""
        wanted = rng.integers(1, self.radius + 1, count)
        order = np.argsort(rng.random((count, self.bits), dtype=np.float32), axis=1)
        return packed(np.argsort(order, axis=1) < wanted[:, None])


def packed(bits: Any) -> U64:
    """Return a matrix of bits as words."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
