"""Signatures of near-duplicates as simhash makes them: the sums behind the bits, and what edits do to them."""

from __future__ import annotations

import numpy as np

from sosie.types import Signatures

FEATURES = 200  # of a document
EDITS = 6  # features that are replaced in a copy, on average


def near_pairs(count: int, seed: int = 3, bits: int = 64) -> tuple[Signatures, Signatures]:
    """Return originals, and edited copies with volatility.

    A sum over some hundred features of equal weight is normally distributed, as is what edits add to it: replacing e of
    f features leaves the cosine 1 - e / f. The number of edits is geometric: small ones are frequent, large ones occur.
    """
    rng = np.random.default_rng(seed)
    sums = rng.standard_normal((count, bits), np.float32)
    edits = np.minimum(rng.geometric(1 / EDITS, (count, 1)), FEATURES // 2)
    cosine = (1 - edits / FEATURES).astype(np.float32)
    edited = cosine * sums + np.sqrt(1 - cosine**2) * rng.standard_normal((count, bits), np.float32)
    return Signatures(_bits(sums)), Signatures(_bits(edited), volatility=edited)


def _bits(sums: np.ndarray) -> np.ndarray:
    return np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)
