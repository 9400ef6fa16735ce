"""Signatures of near-duplicates as simhash makes them: the sums behind the bits, and what edits do to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.types import Signatures

FEATURES = 200  # of a document
EDITS = 2  # features that are replaced in a copy, on average


def near_pairs(count: int, seed: int = 3, edits: float = EDITS) -> tuple[Signatures, Signatures]:
    """Return originals, and edited copies with volatility."""
    rng = np.random.default_rng(seed)
    sums = rng.standard_normal((count, 64), np.float32)
    changed = edited(sums, rng, edits)
    return Signatures(packed(sums)), Signatures(packed(changed), volatility=changed)


def edited(sums: Any, rng: np.random.Generator, edits: float = EDITS) -> Any:
    """Return the sums of edited copies."""
    return moved(sums, cosines_left(len(sums), rng, edits), rng)


def cosines_left(count: int, rng: np.random.Generator, edits: float = EDITS) -> Any:
    """Return the cosines of copies with their originals: replacing e of f features leaves 1 - e / f.

    The number of edits is geometric: small ones are frequent, large ones occur.
    """
    replaced = np.minimum(rng.geometric(1 / edits, (count, 1)), FEATURES // 2)
    return (1 - replaced / FEATURES).astype(np.float32)


def moved(sums: Any, cosines: Any, rng: np.random.Generator) -> Any:
    """Return the sums of copies that have these cosines with their originals.

    A sum over some hundred features of equal weight is normally distributed, as is what edits add to it.
    """
    return cosines * sums + np.sqrt(1 - cosines**2) * rng.standard_normal(sums.shape, np.float32)


def packed(sums: Any) -> Any:
    """Return the signs as words."""
    return np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)
