"""The brute-force join: all pairs are compared, over bit planes. It wins when the radius is large."""

from __future__ import annotations

import numpy as np

from sosie.arrays import aligned_zeros, read_only
from sosie.kernels.planes.layout import BLOCK, ask_planes, plane_count, set_rows
from sosie.kernels.planes.within import plane_within, room_within
from sosie.matches.check import check_join, check_pairs
from sosie.matches.equal.signatures import join_distinct
from sosie.parallel import ordered_map
from sosie.types import I64, U64, Pairs, Signatures

_TILE = 64  # rows that share a pass over the others
_SAMPLED = 16  # tiles that tell how many pairs to expect
_MANY = 2**62


def join_brute(
    a: Signatures,
    b: Signatures | None = None,
    radius: int = 3,
    threads: int | None = None,
    *,
    max_pairs: int | None = None,
) -> Pairs:
    """Return all pairs of rows at most `radius` apart, as `join_blocks` does, for any radius.

    >>> rows = Signatures(np.array([0b1111, 0b1110, 0b0000], np.uint64))
    >>> join_brute(rows, radius=64).b.tolist()
    [1, 2, 2]
    """
    check_join(a, b, radius, a.bits)
    return join_distinct(a, b, lambda words, split: _join(words, split, a.bits, radius, threads, max_pairs), max_pairs)


def _join(words: U64, split: int, bits: int, radius: int, threads: int | None, max_pairs: int | None) -> Pairs:
    others = words[split:]
    blocks = -(-len(others) // BLOCK)
    planes, live = aligned_zeros((blocks, plane_count(bits), BLOCK // 64)), aligned_zeros((blocks, BLOCK // 64))
    set_rows(planes, 0, others)
    set_rows(live.reshape(-1, 1, BLOCK // 64), 0, np.ones((len(others), 1), np.uint64))
    searched = read_only(planes), read_only(live)

    def run(start: int) -> tuple[I64, I64]:
        """Find the partners of a tile of rows; inside one collection only those that come later."""
        queries = words[start : min(start + _TILE, split or len(words))]
        asked = ask_planes(queries, planes.shape[1])
        room = room_within(len(queries), planes.shape[1])
        wanted = np.full(len(queries), _MANY)
        block, left, right = 0 if split else start // BLOCK, [], []
        while block < blocks:
            block, count = plane_within(*searched, block, blocks, asked, radius, wanted, room)
            a, b = room.queries[:count] + np.int64(start), room.rows[:count] + split
            later = a < b
            left.append(a[later])
            right.append(b[later])
        return np.concatenate(left), np.concatenate(right)

    tiles = range(0, split or len(words), _TILE)
    if max_pairs is not None and len(tiles) > 2 * _SAMPLED:
        some = tiles[:: len(tiles) // _SAMPLED]
        expected = sum(len(a) for a, _ in ordered_map(run, some, threads)) * len(tiles) // len(some)
        check_pairs(expected, max_pairs, about=True)
    found = list(ordered_map(run, tiles, threads))
    comparisons = split * len(others) if split else len(words) * (len(words) - 1) // 2
    left, right = (np.concatenate(column) for column in zip(*found, strict=True))
    return Pairs(left, right, {"comparisons": comparisons}, recall=1.0)
