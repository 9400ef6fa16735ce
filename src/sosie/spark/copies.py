"""Documents with the same features, and ids that are there twice: found by digests, which travel instead of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.tables.keys import group_by_key
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.spark.blocks import Blocks, Told, among, bucket_of, rows_of
from sosie.spark.exchange import Packer, Sent, buckets_of, exchange, record_batch
from sosie.spark.packed import unpack_all, values_of
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U64

PER_BUCKET = 1 << 20  # documents
COPY, REPEATED, COUNTED = 0, 1, 2  # what a row that is found stands for


class Copies(NamedTuple):
    """Rows whose features an earlier row has, ascending, and the first row of theirs.

    `first_pairs` are those that share the first key of a method, judged as `matches.keys.key_groups` does.
    """

    rows: I64
    of: I64
    repeated: I64
    repeated_of: I64
    first_pairs: int

    def first_of(self, rows: I64) -> I64:
        """Return the first row with the features of each of these."""
        if not len(self.rows):
            return rows
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[place] == rows, self.of[place], rows)


def find_copies(work: Work, blocks: Blocks, *, keyed: bool, ids: bool, without: I64) -> Copies:
    """Find the copies among the documents of blocks that have features, but for some rows, which ascend.

    `keyed`: documents that are signed have keys, and the pairs of the first are counted. `ids`: those that are there
    twice are found, too.
    """
    buckets = work.buckets(blocks.rows, PER_BUCKET)
    columns = [
        "part",
        "first",
        "count",
        "sizes",
        "digests",
        *(["signed"] if keyed else []),
        *(["id_hashes"] if ids else []),
    ]
    sent = [
        Sent(frame.select(*columns), send_digests, (blocks.firsts, keyed, ids, told, buckets))
        for frame, told in blocks.telling(without)
    ]
    found = work.collect(exchange(work, sent, buckets, take_digests, "kind int, a long, b long"))
    kind, a, b = (found[name].to_numpy() for name in ("kind", "a", "b"))
    pairs = [(a[kind == each], b[kind == each]) for each in (COPY, REPEATED)]
    (of, rows), (repeated_of, repeated) = ((first[(order := np.argsort(row))], row[order]) for first, row in pairs)
    return Copies(rows, of, repeated, repeated_of, int(a[kind == COUNTED].sum()))


def send_digests(batches: Batches, firsts: I64, keyed: bool, ids: bool, without: Told, buckets: int) -> Batches:
    """Send the digest of each document to the bucket of its first key, and the hash of its id to another."""
    digests_out, ids_out, left_out = Packer(kind=0), Packer(kind=1), without.rows()[0]
    for batch in batches:
        rows = rows_of(batch, firsts)
        digests = values_of(batch.column("digests"), np.uint64).reshape(-1, 2)
        first = digests[:, 0].copy()
        if keyed and len(worded := np.flatnonzero(rows.sizes > 0)):
            first[worded] = values_of(batch.column("signed"), np.uint64).reshape(len(worded), -1)[:, 0]
        some = (rows.sizes > 0) & ~among(rows.numbers, left_out)
        columns = [first[some], digests[some, 0], digests[some, 1]]
        digests_out.add(bucket_of(columns[0], buckets), rows.numbers[some], columns)
        if ids:
            hashes = values_of(batch.column("id_hashes"), np.uint64)
            ids_out.add(bucket_of(hashes, buckets), rows.numbers, [hashes])
        yield from digests_out.ready()
        yield from ids_out.ready()
    yield from digests_out.finish()
    yield from ids_out.finish()


def take_digests(batches: Batches) -> Batches:
    """Find in each bucket the rows that have the digests of an earlier one, those with its id, and count pairs."""
    for _, blobs in buckets_of(batches):
        rows, (keys, high, low) = unpack_all(blobs.get(0, []), [np.uint64] * 3)
        order = np.lexsort((rows, low, high, keys))
        of, copies, firsts = _runs(rows[order], [keys[order], high[order], low[order]])
        yield _found(COPY, of, copies)
        offsets, _ = group_by_key(keys[order][firsts])
        sizes = np.diff(offsets)
        sizes = sizes[sizes <= DENSE]
        yield _found(COUNTED, np.array([(sizes * (sizes - 1) // 2).sum()]), np.zeros(1, np.int64))
        rows, (hashes,) = unpack_all(blobs.get(1, []), [np.uint64])
        order = np.lexsort((rows, hashes))
        yield _found(REPEATED, *_runs(rows[order], [hashes[order]])[:2])


def _runs(rows: I64, columns: list[U64]) -> tuple[I64, I64, I64]:
    """Return of rows in the order of columns the first of each run, the others, and the places of the first ones."""
    opens = np.ones(len(rows), np.bool_)
    if len(rows):
        opens[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    firsts = np.flatnonzero(opens)
    first_of = rows[firsts][np.cumsum(opens) - 1] if len(rows) else rows
    return first_of[~opens], rows[~opens], firsts


def _found(kind: int, a: I64, b: I64) -> object:
    return record_batch(kind=np.full(len(a), kind, np.int32), a=a, b=b)
