"""All signatures compared with all on a cluster: in tiles, each of two slabs of rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.matches.brute import join_brute
from sosie.matches.equal.groups import STAR
from sosie.spark.blocks import Blocks, Told, signed_of
from sosie.spark.candidates import PER_BUCKET, Candidates, Entries, PairPacker, find_candidates
from sosie.spark.equal import COLUMNS, find_equal, written_out
from sosie.spark.exchange import Packer, Sent, buckets_of
from sosie.spark.packed import unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U64, Signatures

SLAB = 1 << 17  # rows, about


class Tiling(NamedTuple):
    """Rows in slabs: `total` rows, those from `split` on are the second collection (0: none), and how many slabs."""

    total: int
    split: int
    slabs: int

    def slab(self, rows: I64) -> I64:
        """Return the slab of each row: none has rows of both collections.

        >>> Tiling(10, 5, 4).slab(np.array([0, 4, 5, 9])).tolist()
        [0, 1, 2, 3]
        """
        if not self.split:
            return rows * self.slabs // max(self.total, 1)
        half = self.slabs // 2
        second = half + (rows - self.split) * half // max(self.total - self.split, 1)
        return np.where(rows < self.split, rows * half // self.split, second)

    def meet(self, own: I64, other: int) -> NDArray[np.bool_]:
        """Return which slabs are compared with another."""
        half = self.slabs // 2 if self.split else 0
        return np.asarray((own < half) != (other < half)) if self.split else np.ones(len(own), np.bool_)


def tile_candidates(
    work: Work, blocks: Blocks, without: I64, bits: int, radius: int, *, split: int = 0, max_pairs: int | None = None
) -> Candidates:
    """Return all pairs of signatures within the radius, but for those of some rows.

    With a `split`, rows from there on are a second collection. Of many equal signatures a star is written, unless no
    more than `max_pairs` are wanted in any tile, else it is refused.
    """
    words = -(-bits // 64)
    equal = find_equal(work, blocks, without, words, split)
    slabs = max(-(-blocks.rows // SLAB), math.isqrt(2 * work.buckets(blocks.rows, blocks.rows + 1)), 1)
    tiling = Tiling(blocks.rows, split, 2 * slabs if split else slabs)
    sent = [
        Sent(frame.select(*COLUMNS), send_slabs, (blocks.firsts, told, words, tiling))
        for frame, told in blocks.telling(np.union1d(without, equal.rows))
    ]
    tiles, pair_buckets = tiling.slabs**2, work.buckets(blocks.rows, PER_BUCKET)
    found = find_candidates(work, sent, tiles, take_tiles, pair_buckets, bits, radius, split, max_pairs)
    return written_out(work, found, equal, star=STAR if max_pairs is None else 2**62, across=split > 0)


def send_slabs(batches: Batches, firsts: I64, without: Told, words: int, tiling: Tiling) -> Batches:
    """Send each signature to all tiles that its slab is in: as the first of the two slabs, or as the second."""
    packers, left_out = [Packer(side) for side in (0, 1)], without.rows()[0]
    for batch in batches:
        rows, signed = signed_of(batch, firsts, left_out, words)
        columns = [signed[:, word] for word in range(words)]
        own = tiling.slab(rows)
        for other in range(tiling.slabs):
            met = tiling.meet(own, other)
            for packer, some in zip(packers, (met & (own <= other), met & (own > other)), strict=True):
                tile = np.minimum(own[some], other) * tiling.slabs + np.maximum(own[some], other)
                packer.add(tile.astype(np.int32), rows[some], [column[some] for column in columns])
            for packer in packers:
                yield from packer.ready()
    for packer in packers:
        yield from packer.finish()


def take_tiles(
    batches: Batches, pair_buckets: int, bits: int, radius: int, split: int, max_pairs: int | None
) -> Batches:
    """Compare the signatures of each tile."""
    pairs, words = PairPacker(pair_buckets), -(-bits // 64)
    for _, blobs in buckets_of(batches):
        first, second = (_slab(blobs.get(side, []), words) for side in (0, 1))
        if len(first[0]) and len(second[0]):
            sides = Signatures(first[1], bits), Signatures(second[1], bits)
            found = join_brute(*sides, radius, 1, max_pairs=max_pairs)
        elif not split:
            rows, signed = first if len(first[0]) else second
            first = second = rows, signed
            found = join_brute(Signatures(signed, bits), None, radius, 1, max_pairs=max_pairs)
        else:
            continue
        a, b = first[0][found.a], second[0][found.b]
        pairs.add(meeting(np.minimum(a, b), np.maximum(a, b)))
        yield from pairs.ready()
    yield from pairs.finish()


def meeting(a: I64, b: I64) -> Entries:
    """Return pairs that meet at the first row that their first row is paired with, or at itself if it comes before.

    >>> [column.tolist() for column in meeting(np.array([1, 1, 2]), np.array([2, 3, 3]))]
    [[1, 1, 2], [2, 3, 3], [1, 1, 1]]
    """
    rows, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    first = rows.copy()
    np.minimum.at(first, places[len(a) :], a)
    return Entries(a, b, first[places[: len(a)]])


def _slab(blobs: list[object], words: int) -> tuple[I64, U64]:
    """Return rows that were sent, in order, and their signatures."""
    rows, columns = unpack_all(blobs, [np.uint64] * words)
    order = np.argsort(rows)
    return rows[order], np.ascontiguousarray(np.stack(columns, axis=1)[order])
