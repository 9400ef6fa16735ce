"""The verb `join`: all pairs of a collection with itself, or of two collections, by whatever they consist of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from sosie.errors import UsageError
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.matches.keys import join_keys
from sosie.matches.sets.join import join_features
from sosie.matches.sets.similarity import Measure
from sosie.types import Features, Keys, Pairs, Signatures

JoinMethod = Literal["auto", "blocks", "brute"]

SORTED_ROW = 16  # what a row costs in a block table, in comparisons
TILED = 8  # how many comparisons a scan over bit planes makes in the time of one in a block table


def join(
    a: Signatures | Keys | Features,
    b: Any = None,
    *,
    radius: int | None = None,
    threshold: float | str | Fraction | None = None,
    method: JoinMethod = "auto",
    measure: Measure = "jaccard",
    threads: int | None = None,
) -> Pairs:
    """Return all pairs of a collection, or of two: signatures within a radius, features above a threshold, equal keys.

    `measure` says what the threshold of features is: Jaccard, cosine (of term counts, where there are any) or
    containment.

    >>> import numpy as np
    >>> pairs = join(Signatures(np.array([0b0000, 0b0111, 0b1111], np.uint64)), radius=1)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([1], [2])
    """
    if b is not None and type(b) is not type(a):
        raise UsageError(f"cannot join {type(a).__name__} with {type(b).__name__}")
    if measure != "jaccard" and not isinstance(a, Features):
        raise UsageError(f"measure={measure!r} is for features; {type(a).__name__} are compared as they are")
    other: Any = b
    if isinstance(a, Signatures):
        if radius is None or threshold is not None:
            raise UsageError("signatures are joined within a radius: pass radius=, and no threshold")
        return join_signatures(a, other, radius=radius, method=method, threads=threads)
    if isinstance(a, Features):
        if threshold is None or radius is not None:
            raise UsageError("features are joined above a threshold: pass threshold=, and no radius")
        return join_features(a, other, threshold=threshold, measure=measure, threads=threads)
    if not isinstance(a, Keys):
        raise UsageError(f"join takes Signatures, Keys or Features, got {type(a).__name__}")
    if radius is not None or threshold is not None:
        raise UsageError("keys are joined where they are equal: pass neither radius nor threshold")
    return join_keys(a, other, threads=threads)


def join_signatures(
    a: Signatures,
    b: Signatures | None = None,
    *,
    radius: int,
    method: JoinMethod = "auto",
    threads: int | None = None,
) -> Pairs:
    """Return all pairs of signatures within the radius, exactly, by block tables or by comparing all with all."""
    if method not in ("auto", "blocks", "brute"):
        raise UsageError(f"method must be auto, blocks or brute, got {method!r}")
    if method == "auto":
        rows = len(a) if b is None else len(a) + len(b)
        method = "blocks" if blocks_pay(rows, a.bits, radius) else "brute"
    return (join_blocks if method == "blocks" else join_brute)(a, b, radius, threads)


def blocks_pay(rows: int, bits: int, radius: int) -> bool:
    """Whether sorting into radius + 1 block tables costs less than comparing all pairs, for evenly spread bits.

    >>> blocks_pay(1_000_000, 64, 3), blocks_pay(1_000_000, 256, 53)
    (True, False)
    """
    if radius >= bits:
        return False
    tables, header = radius + 1, bits // (radius + 1)
    return tables * (SORTED_ROW + rows * 2.0**-header) < rows / TILED
