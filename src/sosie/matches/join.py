"""Signatures joined within a radius, exactly: by block tables, or by comparing all with all."""

from __future__ import annotations

from typing import Literal, get_args

from sosie.errors import UsageError
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.matches.scan import PROGRAM
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import Pairs, Signatures

SignatureJoin = Literal["blocks", "brute"]

SORTED_ROW = 16  # what a row costs in a block table, in comparisons
TILED = 8  # how many comparisons a scan over bit planes makes in the time of one in a block table


def _brute(
    a: Signatures,
    b: Signatures | None,
    radius: int,
    threads: int | None,
    *,
    max_pairs: int | None,
    room: Room | None,
) -> Pairs:
    """Compare all with all, where that fits: the words of both sides, their planes, and copies of what is distinct."""
    needed = PROGRAM + 4 * sum(side.words.nbytes for side in (a, b) if side is not None)
    if room is not None and room.limit is not None and needed > room.limit:
        raise UsageError(
            f"comparing all with all takes about {show_size(needed)} of memory: allow more (--memory, memory=)"
        )
    return join_brute(a, b, radius, threads, max_pairs=max_pairs)


_JOINS = {"blocks": join_blocks, "brute": _brute}


def join_signatures(
    a: Signatures,
    b: Signatures | None = None,
    *,
    radius: int,
    method: SignatureJoin,
    max_pairs: int | None = None,
    threads: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return all pairs of signatures within the radius; both methods find the same.

    More than `max_pairs` are refused; without a limit, groups of very many equal rows are written as stars. Methods
    keep to the `room`, where there is one; its `limit` is for the whole process.

    >>> import numpy as np
    >>> signatures = Signatures(np.array([0b0000, 0b0111, 0b1111], np.uint64))
    >>> join_signatures(signatures, radius=1, method="brute").b.tolist()
    [2]
    """
    if method not in _JOINS:
        raise UsageError(f"method must be {' or '.join(get_args(SignatureJoin))}, got {method!r}")
    return _JOINS[method](a, b, radius, threads, max_pairs=max_pairs, room=room)


def blocks_pay(rows: int, bits: int, radius: int) -> bool:
    """Whether sorting into radius + 1 block tables costs less than comparing all pairs, for evenly spread bits.

    >>> blocks_pay(1_000_000, 64, 3), blocks_pay(1_000_000, 256, 53)
    (True, False)
    """
    if not 0 <= radius < bits:
        return False
    tables, header = radius + 1, bits // (radius + 1)
    return tables * (SORTED_ROW + rows * 2.0**-header) < rows / TILED
