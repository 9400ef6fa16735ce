"""Documents that share a key: each key travels to its bucket, and there the documents that have it become pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sosie.kernels.tables.keys import count_pairs, group_by_key, write_pairs
from sosie.matches.order import unpacked
from sosie.matches.sets.partitions import listed_at_most
from sosie.planner.constants.documents import CROWDED_KEY as CROWDED
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.spark.blocks import Blocks, Told, among, bucket_of, mixed, rows_of
from sosie.spark.candidates import LISTS, PER_BUCKET, Candidates, Entries, PairPacker, find_candidates
from sosie.spark.copies import Copies
from sosie.spark.exchange import Packer, Sent, buckets_of
from sosie.spark.packed import unpack_all, values_of
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

ENTRIES = 1 << 20  # keys in one bucket, about


def key_candidates(work: Work, blocks: Blocks, copies: Copies, without: I64, bands: int, groups: int) -> Candidates:
    """Return the pairs of groups of identical documents that share a key, each by its first row, and crowded lists.

    As `matches.keys.key_groups`, which this follows: lists of more than `DENSE` rows are crowded, or of more than
    `CROWDED` where there would be too many pairs, judged by the first key. `copies` and `without` are left out.
    """
    most = 4 * listed_at_most(groups)
    limit = DENSE if bands * copies.first_pairs <= most else CROWDED
    parts = max(1, -(-groups // ENTRIES))
    left_out = np.union1d(copies.rows, without)
    sent = [
        Sent(frame.select("part", "first", "count", "sizes", "signed"), send_keys, (blocks.firsts, told, bands, parts))
        for frame, told in blocks.telling(left_out)
    ]
    expected = min(bands * copies.first_pairs, most)
    pair_buckets = work.buckets(expected, PER_BUCKET)
    found = find_candidates(work, sent, bands * parts, take_keys, pair_buckets, limit)
    counters = {"keys": bands, "comparisons": found.pairs, "bounded_lists": 0, "unlisted_pairs": 0}
    return replace(found, counters=counters)


def send_keys(batches: Batches, firsts: I64, left_out: Told, bands: int, parts: int) -> Batches:
    """Send the keys of each document that has features to the buckets of their tables."""
    packer, copies = Packer(), left_out.rows()[0]
    for batch in batches:
        rows = rows_of(batch, firsts)
        some = np.flatnonzero((rows.sizes > 0) & ~among(rows.numbers, copies))
        numbers = rows.numbers[some]
        keys = values_of(batch.column("signed"), np.uint64).reshape(len(rows.numbers), -1)[some]
        for band in range(bands):
            values = np.ascontiguousarray(keys[:, band])
            packer.add(band * parts + bucket_of(values, parts), numbers, [values])
        yield from packer.ready()
    yield from packer.finish()


def take_keys(batches: Batches, pair_buckets: int, limit: int) -> Batches:
    """Pair the rows of each bucket that have one key; lists of more than `limit` rows go on as lists."""
    pairs, lists = PairPacker(pair_buckets), Packer(LISTS)
    for bucket, blobs in buckets_of(batches):
        rows, (keys,) = unpack_all(blobs[0], [np.uint64])
        if (np.diff(rows) < 0).any():
            order = np.argsort(rows)
            rows, keys = rows[order], keys[order]
        offsets, members = group_by_key(keys)
        pairs.add(pairs_of(rows, offsets, members, limit))
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


def pairs_of(rows: I64, offsets: I64, members: I64, limit: int) -> Entries:
    """Return the pairs inside groups of at most `limit` members, which are places in ascending rows.

    They meet at the first row of their group.

    >>> pairs = pairs_of(np.array([4, 7, 9]), np.array([0, 3]), np.array([0, 1, 2]), 10)
    >>> [column.tolist() for column in pairs]
    [[4, 4, 7], [7, 9, 9], [4, 4, 4]]
    """
    found = np.empty(count_pairs(offsets, members, 0, limit), np.uint64)
    write_pairs(offsets, members, 0, limit, found)
    a, b = unpacked(found)
    first = np.empty(len(rows), np.int64)
    first[members] = np.repeat(members[offsets[:-1]], np.diff(offsets))
    return Entries(rows[a], rows[b], rows[first[a]])
