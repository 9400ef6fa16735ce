"""Signatures within a small radius on a cluster: by block tables (Manku et al. 2007), one for each choice of blocks.

Two signatures that differ in few bits agree in some of their blocks, the header of a table. Each signature travels once
for each table, to the bucket of its header, and is compared with those of the same header there.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sosie.arrays import read_only
from sosie.index.block_run import BlockCut
from sosie.kernels.tables.hamming_join import TableJoin, hash_headers, join_hashed
from sosie.kernels.tables.sort_rows import bits_to_tell, sort_by_top_bits
from sosie.matches.equal.groups import STAR
from sosie.planner.constants.cluster import SENT
from sosie.spark.blocks import Blocks, Told, signed_of
from sosie.spark.candidates import Candidates, PairPacker, find_candidates
from sosie.spark.equal import COLUMNS, find_equal, written_out
from sosie.spark.exchange import Packer, Sent, buckets_of
from sosie.spark.packed import unpack_all
from sosie.spark.tiles import meeting
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U64

PER_BUCKET = 1 << 20  # signatures, about
TABLES = 64  # at most
_ROOM = 1 << 16  # pairs that are written at a time


def header_candidates(
    work: Work, blocks: Blocks, without: I64, bits: int, radius: int, *, split: int = 0, star: int = STAR
) -> Candidates:
    """Return all pairs of signatures within the radius, but for those of some rows.

    With a `split`, rows from there on are a second collection. Of more than `star` equal ones a star is written.
    """
    words = -(-bits // 64)
    equal = find_equal(work, blocks, without, words, split)
    cut = choose_cut(bits, radius, blocks.rows)
    parts = max(1, -(-blocks.rows // PER_BUCKET))
    sent = [
        Sent(frame.select(*COLUMNS), send_headers, (blocks.firsts, told, words, cut.masks, parts))
        for frame, told in blocks.telling(np.union1d(without, equal.rows))
    ]
    tables = len(cut.headers)
    how = cut.masks, parts, radius, split
    found = find_candidates(work, sent, tables * parts, take_headers, work.buckets(blocks.rows, PER_BUCKET), *how)
    return replace(written_out(work, found, equal, star=star, across=split > 0), counters={"tables": tables})


def choose_cut(bits: int, radius: int, rows: int) -> BlockCut:
    """Return the cut that costs least for so many evenly spread signatures: tables to send to, and comparisons there.

    >>> len(choose_cut(64, 3, 100_000).headers), len(choose_cut(64, 3, 1_000_000_000).headers)
    (4, 10)
    """
    best, least = 1, math.inf
    for chosen in range(1, bits - radius + 1):
        tables = math.comb(radius + chosen, chosen)
        if tables > TABLES and chosen > 1:
            break
        header = BlockCut.of(bits, radius + chosen, chosen).header_bits(0)
        cost = tables * (SENT + rows / 2 ** (header + 1))
        best, least = (chosen, cost) if cost < least else (best, least)
    return BlockCut.of(bits, radius + best, best)


def send_headers(batches: Batches, firsts: I64, without: Told, words: int, masks: U64, parts: int) -> Batches:
    """Send each signature to the bucket of its header in every table."""
    packer, left_out = Packer(), without.rows()[0]
    for batch in batches:
        rows, signed = signed_of(batch, firsts, left_out, words)
        columns = [signed[:, word] for word in range(words)]
        for table, mask in enumerate(masks):
            part = hash_headers(read_only(signed), mask) % np.uint64(parts)
            packer.add(table * parts + part.astype(np.int32), rows, columns)
            yield from packer.ready()
    yield from packer.finish()


def take_headers(batches: Batches, pair_buckets: int, masks: U64, parts: int, radius: int, split: int = 0) -> Batches:
    """Compare the signatures of each bucket that have one header; a pair is written by the first table that has it."""
    packer, words = PairPacker(pair_buckets), masks.shape[1]
    for bucket, blobs in buckets_of(batches):
        rows, columns = unpack_all(blobs[0], [np.uint64] * words)
        order = np.argsort(rows)
        rows, signed = rows[order], np.stack(columns, axis=1)[order]
        middle = int(np.searchsorted(rows, split)) if split else 0
        if split and middle in (0, len(rows)):
            continue
        a, b = near_pairs(rows, signed, masks[: bucket // parts + 1], radius, middle)
        packer.add(meeting(np.minimum(a, b), np.maximum(a, b)))
        yield from packer.ready()
    yield from packer.finish()


def near_pairs(rows: I64, signed: U64, masks: U64, radius: int, split: int = 0) -> tuple[I64, I64]:
    """Return pairs of rows, which ascend, within the radius, that agree in the last of these headers alone."""
    bits = bits_to_tell(len(rows))
    keys, places = sort_by_top_bits(hash_headers(read_only(signed), masks[-1]), np.arange(len(rows)), bits)
    near = np.ascontiguousarray(signed[places])
    sought, pairs, place = TableJoin(split, radius, masks), np.empty((max(len(rows), _ROOM), 2), np.int64), 0
    found = [np.empty((0, 2), np.int64)]
    while place < len(rows):
        place, count, _ = join_hashed(keys, places, bits, near, place, sought, pairs)
        found.append(pairs[:count].copy())
    both = np.concatenate(found)
    return rows[both[:, 0]], rows[both[:, 1]]
