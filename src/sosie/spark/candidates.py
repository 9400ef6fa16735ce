"""Candidate pairs, found many times in many places: each once, with where it is to be verified; and crowded lists.

A pair has a *meeting point*: a row that it was found with, the same one for most pairs of a group. Pairs that meet at
one point are verified in one place, so that the features of a document travel once, and not once for each of its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sosie.spark.blocks import bucket_of
from sosie.spark.exchange import SCHEMA, Blob, Packer, Sent, batched, buckets_of, empty_entries, send
from sosie.spark.packed import pack, unpack, unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAIRS, LISTS, COUNTED = 0, 1, 2  # kinds of entries; of the last, only their number counts
LIST_TYPES = [np.uint64, np.int64, np.int64]  # of a member: which list, what is left of it there, and whether it asks
_WAITING = 1 << 20  # pairs that wait until repeated ones are left out
BLOB = 1 << 11  # pairs that are packed together
PER_BUCKET = 1 << 22  # pairs


class Entries(NamedTuple):
    """Pairs of rows a[i] < b[i], and where each is verified."""

    a: I64
    b: I64
    meeting: I64


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate pairs as packed entries, written: a table of `exchange.SCHEMA`, and how many there are.

    `listed` is how many members crowded lists have, of which no pairs are made.
    """

    frame: DataFrame
    pairs: int
    listed: int
    counters: dict[str, int] = field(default_factory=dict)


def find_candidates(
    work: Work, sent: Sequence[Sent], buckets: int, take: Callable[..., Any], pair_buckets: int, *arguments: Any
) -> Candidates:
    """Send entries to buckets, where `take` makes pairs and lists of them; write each pair once.

    `take` is called with the batches, the number of buckets that it sends pairs to, and the arguments.
    """
    return distinct_candidates(
        work, work.run(send(work, sent, buckets), take, SCHEMA, pair_buckets, *arguments), pair_buckets
    )


def candidates_of(work: Work, pairs: DataFrame, count: int) -> Candidates:
    """Return pairs of rows, of a table with the columns a and b, as candidates, each once."""
    buckets = work.buckets(count, PER_BUCKET)
    return distinct_candidates(work, work.run(pairs.select("a", "b"), send_rows, SCHEMA, buckets), buckets)


def distinct_candidates(work: Work, made: DataFrame, pair_buckets: int) -> Candidates:
    """Write packed pairs that may be there many times, each once."""
    from pyspark.sql import functions as F

    partitions = max(1, min(work.partitions, pair_buckets))
    together = made.repartition(partitions, "bucket").sortWithinPartitions("bucket", "kind")
    kinds = {"pairs": PAIRS, "listed": LISTS, "expected": COUNTED}
    sums = {name: F.sum(F.when(F.col("kind") == kind, F.col("entries"))) for name, kind in kinds.items()}
    stage = work.stage(work.run(together, take_pairs, SCHEMA), "candidates", **sums)
    counts = {name: int(value or 0) for name, value in stage.observed.items()}
    return Candidates(stage.frame, counts["pairs"], counts["listed"], {"expected": counts["expected"]})


def given_candidates(work: Work, pairs: Entries) -> Candidates:
    """Return pairs that are known on the driver as candidates; they are ordered and distinct."""
    table = pa.Table.from_batches([empty_entries(), *batched(packed_pairs(pairs))])
    return Candidates(work.table(table), len(pairs.a), 0)


def packed_pairs(pairs: Entries, bucket: int = 0) -> Iterator[Blob]:
    """Yield pairs, which are ordered, in blobs."""
    for start in range(0, len(pairs.a), BLOB):
        a, b, meeting = (column[start : start + BLOB] for column in pairs)
        yield bucket, PAIRS, len(a), pack(a, [b, meeting])


class PairPacker:
    """Packs pairs by their first row, for the tasks that leave out repeated ones; those found together go once.

    >>> packer = PairPacker(1)
    >>> packer.add(Entries(np.array([1, 1]), np.array([2, 2]), np.array([1, 0])))
    >>> [batch.to_pydict()["entries"] for batch in packer.finish()]
    [[1]]
    """

    def __init__(self, buckets: int) -> None:
        self._buckets = buckets
        self._packer = Packer(PAIRS)
        self._waiting: list[Entries] = []
        self._count = 0

    def add(self, pairs: Entries) -> None:
        """Add pairs, some of them perhaps again."""
        self._waiting.append(pairs)
        self._count += len(pairs.a)
        if self._count > _WAITING:
            held = distinct_pairs(self._waiting)
            self._waiting, self._count = [held], len(held.a)
            if 2 * self._count > _WAITING:
                self._hand_over()

    def ready(self) -> Batches:
        """Yield what is packed because too much waits."""
        yield from self._packer.ready()

    def finish(self) -> Batches:
        """Yield all that waits."""
        self._hand_over()
        yield from self._packer.finish()

    def _hand_over(self) -> None:
        pairs = distinct_pairs(self._waiting)
        self._packer.add(bucket_of(pairs.a, self._buckets), pairs.a, [pairs.b, pairs.meeting])
        self._waiting, self._count = [], 0


def distinct_pairs(parts: list[Entries]) -> Entries:
    """Return pairs in order, each once, with the first of its meeting points.

    >>> pairs = distinct_pairs([Entries(np.array([3, 1, 3]), np.array([4, 2, 4]), np.array([3, 1, 0]))])
    >>> [column.tolist() for column in pairs]
    [[1, 3], [2, 4], [1, 0]]
    """
    none = np.empty(0, np.int64)
    a, b, meeting = (np.concatenate([none, *column]) for column in zip(*parts, strict=True)) if parts else (none,) * 3
    order = np.lexsort((meeting, b, a))
    a, b, meeting = a[order], b[order], meeting[order]
    new = np.ones(len(a), np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return Entries(a[new], b[new], meeting[new])


def send_rows(batches: Batches, buckets: int) -> Batches:
    """Send pairs of rows to where repeated ones are left out; each meets at its first row."""
    packer = PairPacker(buckets)
    for batch in batches:
        a, b = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("a", "b"))
        lower, upper = np.minimum(a, b)[a != b], np.maximum(a, b)[a != b]
        packer.add(Entries(lower, upper, lower))
        yield from packer.ready()
    yield from packer.finish()


def take_pairs(batches: Batches) -> Batches:
    """Leave out repeated pairs of each bucket; the members of crowded lists go on as they are."""

    def kept() -> Iterator[Blob]:
        for bucket, blobs in buckets_of(batches):
            rows, (b, meeting) = unpack_all(blobs.get(PAIRS, []), [np.int64] * 2)
            yield from packed_pairs(distinct_pairs([Entries(rows, b, meeting)]), bucket)
            for data in blobs.get(LISTS, []):
                yield bucket, LISTS, len(unpack(data, LIST_TYPES)[0]), data.to_pybytes()
            if COUNTED in blobs:
                yield bucket, COUNTED, sum(int(np.frombuffer(data, np.int64)[0]) for data in blobs[COUNTED]), b""

    yield from batched(kept())
