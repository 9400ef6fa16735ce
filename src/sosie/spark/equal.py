"""Equal signatures on a cluster: one of each is compared, and pairs are written out for all; large groups as stars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.kernels.tables.equal import hash_rows
from sosie.matches.equal.groups import STAR, Groups, pairs_between, pairs_inside
from sosie.spark.blocks import Blocks, Told, signed_of
from sosie.spark.candidates import PAIRS, Candidates, Entries, distinct_pairs, given_candidates, packed_pairs
from sosie.spark.exchange import SCHEMA, Blob, Packer, Sent, batched, buckets_of, exchange, record_batch
from sosie.spark.packed import pack, unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

PER_BUCKET = 1 << 20  # signatures
COLUMNS = ("part", "first", "count", "sizes", "signed")


class Equal(NamedTuple):
    """Rows whose signature an earlier row has, ascending, and the first row that has it."""

    rows: I64
    of: I64

    def groups(self, star: int = STAR) -> Groups:
        """Return the groups of rows with one signature, the first of them first."""
        firsts, place = np.unique(self.of, return_inverse=True)
        rows = np.concatenate([firsts, self.rows])
        group = np.concatenate([np.arange(len(firsts)), place])
        order = np.lexsort((rows, group))
        return Groups(rows[order], np.searchsorted(group[order], np.arange(len(firsts) + 1)), star)


def find_equal(work: Work, blocks: Blocks, without: I64, words: int, split: int = 0) -> Equal:
    """Find the rows of blocks whose signature an earlier row of the same side has, but for some rows, which ascend."""
    buckets = work.buckets(blocks.rows, PER_BUCKET)
    sent = [
        Sent(frame.select(*COLUMNS), send_signatures, (blocks.firsts, told, words, buckets))
        for frame, told in blocks.telling(without)
    ]
    found = work.collect(exchange(work, sent, buckets, take_signatures, "a long, b long", words, split))
    order = np.argsort(found["b"].to_numpy())
    return Equal(found["b"].to_numpy()[order], found["a"].to_numpy()[order])


def send_signatures(batches: Batches, firsts: I64, without: Told, words: int, buckets: int) -> Batches:
    """Send each signature to the bucket of its hash."""
    packer, left_out = Packer(), without.rows()[0]
    for batch in batches:
        rows, signed = signed_of(batch, firsts, left_out, words)
        places = (hash_rows(read_only(signed)) % np.uint64(buckets)).astype(np.int32)
        packer.add(places, rows, [signed[:, word] for word in range(words)])
        yield from packer.ready()
    yield from packer.finish()


def take_signatures(batches: Batches, words: int, split: int) -> Batches:
    """Return the rows of each bucket that have the signature of an earlier one on their side, with that one."""
    for _, blobs in buckets_of(batches):
        rows, signed = unpack_all(blobs[0], [np.uint64] * words)
        columns = [*signed, rows >= split]
        order = np.lexsort((rows, *columns))
        opens = np.ones(len(rows), np.bool_)
        opens[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
        first = rows[order][opens][np.cumsum(opens) - 1]
        yield record_batch(a=first[~opens], b=rows[order][~opens])


def written_out(
    work: Work, candidates: Candidates, equal: Equal, *, star: int = STAR, across: bool = False
) -> Candidates:
    """Return what pairs of different signatures stand for: pairs of all rows, and those of equal ones, unless `across`.

    Groups of more than `star` rows are written as stars.
    """
    from pyspark.sql import functions as F

    if not len(equal.rows):
        return candidates
    groups = equal.groups(star)
    a, b, group = (np.empty(0, np.int64),) * 3 if across else pairs_inside(groups)
    inside = distinct_pairs([Entries(np.minimum(a, b), np.maximum(a, b), groups.representatives[group])])
    between = work.run(candidates.frame, take_written, SCHEMA, Told(pack(equal.rows, [equal.of]), ("<i8",)), star)
    stage = work.stage(between.unionAll(given_candidates(work, inside).frame), "written", pairs=F.sum("entries"))
    return replace(candidates, frame=stage.frame, pairs=int(stage.observed["pairs"] or 0))


def take_written(batches: Batches, told: Told, star: int) -> Batches:
    """Write out the pairs of each batch."""
    rows, (of,) = told.rows()
    known = Equal(rows, of).groups(star)

    def written() -> Iterator[Blob]:
        for _, blobs in buckets_of(batches):
            a, (b, meeting) = unpack_all(blobs.get(PAIRS, []), [np.int64] * 2)
            firsts, places = np.unique(np.concatenate([a, b]), return_inverse=True)
            groups = groups_of_firsts(known, firsts)
            left, right, which = pairs_between(places[: len(a)], places[len(a) :], groups, groups)
            pairs = Entries(np.minimum(left, right), np.maximum(left, right), meeting[which])
            yield from packed_pairs(distinct_pairs([pairs]))

    yield from batched(written())


def groups_of_firsts(known: Groups, firsts: I64) -> Groups:
    """Return the group of each of these rows, which ascend: itself alone, where no other has its signature."""
    place = np.minimum(np.searchsorted(known.representatives, firsts), max(len(known) - 1, 0))
    there = known.representatives[place] == firsts
    sizes = np.where(there, known.sizes[place], 1)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    start = np.repeat(np.where(there, known.offsets[place], 0), sizes)
    rows = np.where(
        np.repeat(there, sizes),
        known.rows[start + np.where(np.repeat(there, sizes), inside, 0)],
        np.repeat(firsts, sizes),
    )
    return Groups(rows, offsets, known.star)
