"""All signatures compared with all on a cluster: in tiles, each of two slabs of rows."""

from __future__ import annotations

import math

import numpy as np

from sosie.matches.brute import join_brute
from sosie.spark.blocks import Blocks, Told
from sosie.spark.candidates import PER_BUCKET, Candidates, Entries, PairPacker, find_candidates
from sosie.spark.equal import COLUMNS, find_equal, signed_rows, written_out
from sosie.spark.exchange import Packer, Sent, buckets_of
from sosie.spark.packed import unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U64, Signatures

SLAB = 1 << 17  # rows, about


def tile_candidates(work: Work, blocks: Blocks, without: I64, bits: int, radius: int) -> Candidates:
    """Return all pairs of signatures within the radius, but for those of some rows; of many equal ones, a star."""
    words = -(-bits // 64)
    equal = find_equal(work, blocks, without, words)
    slabs = max(-(-blocks.rows // SLAB), math.isqrt(2 * work.buckets(blocks.rows, blocks.rows + 1)), 1)
    sent = [
        Sent(frame.select(*COLUMNS), send_slabs, (blocks.firsts, told, words, blocks.rows, slabs))
        for frame, told in blocks.telling(np.union1d(without, equal.rows))
    ]
    found = find_candidates(work, sent, slabs * slabs, take_tiles, work.buckets(blocks.rows, PER_BUCKET), bits, radius)
    return written_out(work, found, equal)


def send_slabs(batches: Batches, firsts: I64, without: Told, words: int, count: int, slabs: int) -> Batches:
    """Send each signature to all tiles that its slab is in: as the first of the two slabs, or as the second."""
    packers, left_out = [Packer(side) for side in (0, 1)], without.rows()[0]
    for batch in batches:
        rows, signed = signed_rows(batch, firsts, left_out, words)
        columns = [signed[:, word] for word in range(words)]
        own = rows * slabs // max(count, 1)
        for other in range(slabs):
            for packer, some in zip(packers, (own <= other, own > other), strict=True):
                tile = np.minimum(own[some], other) * slabs + np.maximum(own[some], other)
                packer.add(tile.astype(np.int32), rows[some], [column[some] for column in columns])
            for packer in packers:
                yield from packer.ready()
    for packer in packers:
        yield from packer.finish()


def take_tiles(batches: Batches, pair_buckets: int, bits: int, radius: int) -> Batches:
    """Compare the signatures of each tile."""
    pairs, words = PairPacker(pair_buckets), -(-bits // 64)
    for _, blobs in buckets_of(batches):
        first, second = (_slab(blobs.get(side, []), words) for side in (0, 1))
        if len(first[0]) and len(second[0]):
            found = join_brute(Signatures(first[1], bits), Signatures(second[1], bits), radius, 1)
        else:
            rows, signed = first if len(first[0]) else second
            first = second = rows, signed
            found = join_brute(Signatures(signed, bits), None, radius, 1)
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
