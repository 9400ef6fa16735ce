"""Documents that share a key: each key travels to its bucket, and there the documents that have it become pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sosie.kernels.tables.keys import count_pairs, group_by_key, write_pairs
from sosie.matches.check import check_pairs
from sosie.matches.order import unpacked
from sosie.matches.sets.partitions import listed_at_most
from sosie.planner.constants.documents import CROWDED_KEY as CROWDED
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.spark.blocks import Blocks, Told, bucket_of, mixed, signed_of
from sosie.spark.candidates import LISTS, PER_BUCKET, Candidates, Entries, PairPacker, find_candidates
from sosie.spark.exchange import Packer, Sent, buckets_of
from sosie.spark.packed import unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

ENTRIES = 1 << 20  # keys in one bucket, about


def key_candidates(work: Work, blocks: Blocks, left_out: I64, bands: int, groups: int, first_pairs: int) -> Candidates:
    """Return the pairs of groups of identical documents that share a key, each by its first row, and crowded lists.

    As `matches.keys.key_groups`, which this follows: lists of more than `DENSE` rows are crowded, or of more than
    `CROWDED` where there would be too many pairs, judged by the first key. `copies` and `without` are left out.
    """
    most = 4 * listed_at_most(groups)
    limit = DENSE if bands * first_pairs <= most else CROWDED
    parts = max(1, -(-groups // ENTRIES))
    sent = [
        Sent(frame.select("part", "first", "count", "sizes", "signed"), send_keys, (blocks.firsts, told, bands, parts))
        for frame, told in blocks.telling(left_out)
    ]
    expected = min(bands * first_pairs, most)
    pair_buckets = work.buckets(expected, PER_BUCKET)
    found = find_candidates(work, sent, bands * parts, take_keys, pair_buckets, limit)
    counters = {"keys": bands, "comparisons": found.pairs, "bounded_lists": 0, "unlisted_pairs": 0}
    return replace(found, counters=counters)


def send_keys(batches: Batches, firsts: I64, left_out: Told, bands: int, parts: int) -> Batches:
    """Send the keys of each document that has features to the buckets of their tables."""
    packer, copies = Packer(), left_out.rows()[0]
    for batch in batches:
        numbers, keys = signed_of(batch, firsts, copies, bands)
        for band in range(bands):
            values = np.ascontiguousarray(keys[:, band])
            packer.add(band * parts + bucket_of(values, parts), numbers, [values])
        yield from packer.ready()
    yield from packer.finish()


def equal_keys(work: Work, blocks: Blocks, tables: int, split: int, max_pairs: int) -> Candidates:
    """Return all pairs of rows that have a key in common; rows from `split` on are the second collection (0: none)."""
    parts = max(1, -(-blocks.rows // ENTRIES))
    none = np.empty(0, np.int64)
    sent = [
        Sent(frame.select("part", "first", "count", "sizes", "signed"), send_keys, (blocks.firsts, told, tables, parts))
        for frame, told in blocks.telling(none)
    ]
    pair_buckets = work.buckets(blocks.rows, PER_BUCKET)
    return find_candidates(work, sent, tables * parts, take_keys, pair_buckets, blocks.rows, split, max_pairs)


def take_keys(batches: Batches, pair_buckets: int, limit: int, split: int = 0, max_pairs: int | None = None) -> Batches:
    """Pair the rows of each bucket that have one key; lists of more than `limit` rows go on as lists.

    With a `split`, only pairs across it count. More than `max_pairs` in one bucket are refused.
    """
    pairs, lists = PairPacker(pair_buckets), Packer(LISTS)
    for bucket, blobs in buckets_of(batches):
        rows, (keys,) = unpack_all(blobs[0], [np.uint64])
        if (np.diff(rows) < 0).any():
            order = np.argsort(rows)
            rows, keys = rows[order], keys[order]
        offsets, members = group_by_key(keys)
        middle = int(np.searchsorted(rows, split)) if split else 0
        if split and middle in (0, len(rows)):
            continue
        if max_pairs is not None:
            check_pairs(count_pairs(offsets, members, middle, limit), max_pairs)
        pairs.add(pairs_of(rows, offsets, members, limit, middle))
        sizes = np.diff(offsets)
        crowded = np.repeat(sizes > limit, sizes)
        listed = members[crowded]
        names = mixed(keys[listed] ^ mixed(np.array([bucket]))[0])
        whole = [np.zeros(len(listed), np.int64), np.ones(len(listed), np.int64)]
        lists.add(bucket_of(names, pair_buckets), rows[listed], [names, *whole])
        yield from pairs.ready()
        yield from lists.ready()
    yield from pairs.finish()
    yield from lists.finish()


def pairs_of(rows: I64, offsets: I64, members: I64, limit: int, split: int = 0) -> Entries:
    """Return the pairs inside groups of at most `limit` members, which are places in ascending rows.

    They meet at the first row of their group. With a `split`, only pairs of places across it count.

    >>> pairs = pairs_of(np.array([4, 7, 9]), np.array([0, 3]), np.array([0, 1, 2]), 10)
    >>> [column.tolist() for column in pairs]
    [[4, 4, 7], [7, 9, 9], [4, 4, 4]]
    """
    found = np.empty(count_pairs(offsets, members, split, limit), np.uint64)
    write_pairs(offsets, members, split, limit, found)
    a, b = unpacked(found)
    first = np.empty(len(rows), np.int64)
    first[members] = np.repeat(members[offsets[:-1]], np.diff(offsets))
    return Entries(rows[a], rows[b], rows[first[a]])
