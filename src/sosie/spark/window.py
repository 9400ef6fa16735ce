"""The sliding window on a cluster (NFL Figures 3 and 4): chunks of each table with the overlap at their borders.

In each table signatures are ordered by their permuted bits. A table is cut at values of its leading bits into chunks of
about as many rows as are wanted, and whoever comes within the window before a chunk is sent to it as well: how far back
that is, a count of the leading bits tells beforehand. So each chunk is put in order and joined where it arrives, and
what is found is what one machine finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import read_only
from sosie.kernels.tables.permuted import draw_permutation, gather_bits, permuted_order
from sosie.matches.chunks import Chunk, Table, Window, WindowJoin
from sosie.matches.order import unpacked
from sosie.matches.recaptured import GROUPS, SAMPLE, Recaptured, hashed
from sosie.matches.share import Share
from sosie.spark.blocks import bucket_of, signed_of
from sosie.spark.equal import COLUMNS
from sosie.spark.exchange import SCHEMA, Blob, Packer, Sent, batched, buckets_of, record_batch, send
from sosie.spark.packed import pack, unpack_all
from sosie.spark.signed import Signed
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U64

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SENT = 1 << 34  # bytes of signatures that are sent in one job, about
MOST_BITS = 16  # that tell where a table is cut
_FOUND, _COUNTED = 0, 1
_COUNTERS = ("window_comparisons", "across", "chunks")
_TYPES = [np.int64, np.int64, *[np.int64] * GROUPS]
PAIR_COLUMNS = len(_TYPES)  # of a packed pair, beside its first row


class Cut(NamedTuple):
    """Where tables are cut: table t has chunks c from bin `edges[t, c]` on, and is sent those from `starts[t, c]` on.

    Bins are the first `bits` of the permuted bits.
    """

    bits: int
    edges: I64
    starts: I64

    @property
    def chunks(self) -> int:
        """How many chunks a table has at most."""
        return int(self.edges.shape[1])


@dataclass(frozen=True, eq=False)
class WindowPairs:
    """Pairs within a window and the radius, as packed entries, and how many; what was counted; the share, if known."""

    frame: DataFrame
    pairs: int
    counters: dict[str, int]
    share: Share | None


def window_pairs(work: Work, signed: Signed, radius: int, by: Window) -> WindowPairs:
    """Return the pairs at most `radius` apart that are within the window in some table, numbered as the rows are."""
    blocks, bits = signed.blocks, signed.bits
    assert bits is not None, "keys have no order"
    cut = _cut(_counted(work, signed, by), by)
    step = max(1, SENT // max(8 * signed.width * blocks.rows, 1))
    jobs = [range(first, min(first + step, by.tables)) for first in range(0, by.tables, step)]
    buckets = work.buckets(blocks.rows, 1 << 20)
    found = [_detected(work, signed, radius, by, cut, tables, buckets) for tables in jobs]
    together = found[0] if len(found) == 1 else _union([work.write(each, "found") for each in found])
    partitions = max(1, min(work.partitions, buckets))
    gathered = together.repartition(partitions, "bucket").sortWithinPartitions("bucket", "kind")
    frame = work.write(work.run(gathered, take_found, SCHEMA), "window")
    table = work.collect(frame.where(f"kind = {_COUNTED}").select("data"))
    sums = np.sum(
        [np.frombuffer(each.as_buffer(), np.int64) for each in table["data"]] or [np.zeros(4, np.int64)], axis=0
    )
    counters = dict(zip((*_COUNTERS, "pairs"), map(int, sums), strict=True))
    pairs, rows, split = counters.pop("pairs"), blocks.rows, signed.split
    brute = split * (rows - split) if split else rows * (rows - 1) // 2
    counters |= {"comparisons": counters.pop("across"), "brute_comparisons": brute, "tables": by.tables}
    share = Share(1.0, (1.0, 1.0)) if by.window + 1 >= rows else _share(work, frame, pairs, bits, rows, by)
    return WindowPairs(frame, pairs, counters, share)


def _counted(work: Work, signed: Signed, by: Window) -> I64:
    """Count the rows of each table by their leading bits: as many as it takes to cut it, none if it is one chunk."""
    blocks, bits = signed.blocks, signed.bits or 0
    chunks = -(-blocks.rows // by.chunk)
    if chunks <= 1:
        return np.full((by.tables, 1), blocks.rows)
    leading = min(MOST_BITS, bits, chunks.bit_length() + 6)
    sent = [Sent(blocks.frame.select(*COLUMNS), send_counts, (blocks.firsts, signed.width, bits, by, leading))]
    counts = np.zeros((by.tables, 1 << leading), np.int64)
    table = work.collect(work.run(send(work, sent, by.tables), take_counts, SCHEMA, leading))
    for number, data in zip(table["bucket"].to_pylist(), table["data"], strict=True):
        counts[number] += unpack_all([data.as_buffer()], [np.int64])[1][0]
    return counts


def _cut(counts: I64, by: Window) -> Cut:
    """Cut tables, given how many rows there are in each bin."""
    edges, starts = [], []
    for of_table in counts:
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(of_table)])
        cuts = [0]
        while before[-1] - before[cuts[-1]] > by.chunk:
            fits = int(np.searchsorted(before, before[cuts[-1]] + by.chunk, "right")) - 1
            cuts.append(max(fits, cuts[-1] + 1))
        edges.append(cuts)
        back = np.searchsorted(before, before[cuts] - by.window, "right") - 1
        starts.append(np.minimum(np.maximum(back, 0), cuts))
    most, bins = max(map(len, edges)), counts.shape[1]

    def padded(rows: list[Any]) -> I64:
        return np.array([[*row, *[bins] * (most - len(row))] for row in rows], np.int64)

    return Cut(bins.bit_length() - 1, padded(edges), padded(starts))


def _detected(work: Work, signed: Signed, radius: int, by: Window, cut: Cut, tables: range, buckets: int) -> DataFrame:
    """Return the pairs of some tables, in the buckets of their first rows."""
    blocks, bits = signed.blocks, signed.bits
    how = blocks.firsts, signed.width, bits, by, cut, tables
    sent = [Sent(blocks.frame.select(*COLUMNS), send_tables, how)]
    arrived = send(work, sent, len(tables) * cut.chunks)
    return work.run(arrived, take_chunks, SCHEMA, signed.width, bits, signed.split, radius, by, cut, tables, buckets)


def send_counts(batches: Batches, firsts: I64, words: int, bits: int, by: Window, leading: int) -> Batches:
    """Send how many rows of a partition are in each bin of each table."""
    counts = np.zeros((by.tables, 1 << leading), np.int64)
    for batch in batches:
        _, signed = signed_of(batch, firsts, np.empty(0, np.int64), words)
        for table in range(by.tables):
            bins = _bins(signed, draw_permutation(bits, by.seed, table), leading)
            counts[table] += np.bincount(bins, minlength=counts.shape[1])
    rows = np.arange(counts.shape[1])
    yield from batched((table, _FOUND, 1, pack(rows, [of_table])) for table, of_table in enumerate(counts))


def take_counts(batches: Batches, leading: int) -> Batches:
    """Add up the counts of each table."""

    def summed() -> Iterator[Blob]:
        for table, blobs in buckets_of(batches):
            bins, (counts,) = unpack_all(blobs[_FOUND], [np.int64])
            sums = np.zeros(1 << leading, np.int64)
            np.add.at(sums, bins, counts)
            yield table, _FOUND, 1, pack(np.arange(len(sums)), [sums])

    yield from batched(summed())


def send_tables(batches: Batches, firsts: I64, words: int, bits: int, by: Window, cut: Cut, tables: range) -> Batches:
    """Send each signature to its chunk of every table, and to those whose windows reach back to it."""
    packer = Packer()
    places = [draw_permutation(bits, by.seed, table) for table in tables]
    for batch in batches:
        rows, signed = signed_of(batch, firsts, np.empty(0, np.int64), words)
        columns = [signed[:, word] for word in range(words)]
        for number, table in enumerate(tables):
            bins = _bins(signed, places[number], cut.bits)
            own = np.searchsorted(cut.edges[table], bins, "right") - 1
            last = np.searchsorted(cut.starts[table], bins, "right") - 1
            for further in range(int((last - own).max(initial=-1)) + 1):
                some = own + further <= last
                chunk = number * cut.chunks + own[some] + further
                packer.add(chunk.astype(np.int32), rows[some], [column[some] for column in columns])
            yield from packer.ready()
    yield from packer.finish()


def take_chunks(
    batches: Batches,
    words: int,
    bits: int,
    split: int,
    radius: int,
    by: Window,
    cut: Cut,
    tables: range,
    buckets: int,
) -> Batches:
    """Find the pairs of each chunk; they go on with their distance and the group of their table."""
    packer, counted = Packer(_FOUND), np.zeros(4, np.int64)
    for bucket, blobs in buckets_of(batches):
        table, chunk = tables[bucket // cut.chunks], bucket % cut.chunks
        rows, columns = unpack_all(blobs[0], [np.uint64] * words)
        order = np.argsort(rows)
        rows, signed = rows[order], np.ascontiguousarray(np.stack(columns, axis=1)[order])
        places = draw_permutation(bits, by.seed, table)
        middle = int(np.searchsorted(rows, split)) if split else len(rows)
        sides = [signed[:middle], signed[middle:]] if split else [signed]
        ordered = permuted_order(sides, places)
        before = int((_bins(signed, places, cut.bits) < cut.edges[table, chunk]).sum())
        first = max(before - by.window, 0)
        here = Chunk(Table(table, ordered, 0.0), ordered[first:], before - first)
        size = len(here.rows)
        comparisons = int(np.minimum(np.arange(here.carried, size), by.window).sum())
        counted += [comparisons, 0, 1, 0]
        if not all(map(len, sides)):
            continue
        found: list[U64] = []
        join = WindowJoin([read_only(side) for side in sides], bits, radius, by)
        counted[1] += join.detect(here, lambda _, pairs, held=found: held.append(pairs)).across  # type: ignore[misc]
        a, b = unpacked(np.concatenate([np.empty(0, np.uint64), *found]))
        apart = np.bitwise_count(signed[a] ^ signed[b]).sum(axis=1, dtype=np.int64)
        group = np.full(len(a), table % GROUPS)
        a, b = np.minimum(rows[a], rows[b]), np.maximum(rows[a], rows[b])
        packer.add(bucket_of(a, buckets), a, [b, apart, group])
        yield from packer.ready()
    yield from packer.finish()
    yield from batched(iter([(0, _COUNTED, 1, counted.tobytes())]))


def take_found(batches: Batches) -> Batches:
    """Bring the findings of each pair together: how often it was found, by groups of tables."""

    def together() -> Iterator[Blob]:
        counted, pairs = np.zeros(4, np.int64), 0
        for bucket, blobs in buckets_of(batches):
            for data in blobs.get(_COUNTED, []):
                counted += np.frombuffer(data, np.int64)
            a, (b, apart, group) = unpack_all(blobs.get(_FOUND, []), [np.int64] * 3)
            order = np.lexsort((b, a))
            a, b, apart, group = a[order], b[order], apart[order], group[order]
            new = np.ones(len(a), np.bool_)
            new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
            times = np.zeros((int(new.sum()), GROUPS), np.int64)
            np.add.at(times, (np.cumsum(new) - 1, group), 1)
            a, b, apart, pairs = a[new], b[new], apart[new], pairs + len(times)
            for start in range(0, len(a), 1 << 11):
                here = slice(start, start + (1 << 11))
                yield bucket, _FOUND, len(a[here]), pack(a[here], [b[here], apart[here], *times[here].T])
        counted[3] = pairs
        yield 0, _COUNTED, 1, counted.tobytes()

    yield from batched(together())


def take_sample(batches: Batches, bound: int) -> Batches:
    """Return the pairs whose hashes are smallest, how far apart they are, and how often each was found."""
    for _, blobs in buckets_of(batches):
        a, (b, apart, *times) = unpack_all(blobs.get(_FOUND, []), _TYPES)
        pairs = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
        some = hashed(pairs) <= np.uint64(bound)
        columns = {f"times{number}": column[some] for number, column in enumerate(times)}
        yield record_batch(pair=pairs[some], apart=apart[some], **columns)


def _share(work: Work, frame: DataFrame, pairs: int, bits: int, rows: int, by: Window) -> Share | None:
    """Estimate the share that was found, from how often pairs of a sample were found."""
    if rows >= 1 << 32:
        return None
    bound = (1 << 64) - 1 if pairs <= 2 * SAMPLE else (1 << 64) * SAMPLE // pairs
    names = [f"times{number}" for number in range(GROUPS)]
    schema = ", ".join(["pair long", "apart long", *(f"{name} long" for name in names)])
    found = frame.where(f"kind = {_FOUND}")
    table = work.collect(work.run(found, take_sample, schema, bound)).sort_by("pair")
    packed: U64 = table["pair"].to_numpy().view(np.uint64)
    order = np.argsort(packed)
    again = Recaptured(by.tables)
    again.pairs = packed[order]
    again.times = np.stack([table[name].to_numpy() for name in names], axis=1)[order]
    apart: NDArray[np.int64] = table["apart"].to_numpy()[order]
    return again.share(lambda _: apart, bits)


def _bins(signed: U64, places: I64, leading: int) -> I64:
    """Return the first so many permuted bits of signatures as a number."""
    if not leading:
        return np.zeros(len(signed), np.int64)
    return (gather_bits(read_only(signed), places[:64]) >> np.uint64(64 - leading)).astype(np.int64)


def _union(frames: list[DataFrame]) -> DataFrame:
    together = frames[0]
    for other in frames[1:]:
        together = together.unionAll(other)
    return together
