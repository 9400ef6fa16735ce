"""The neighbourhood of a query in slice lists, one radius after another (TOPK 2; ISSL 5.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.bits import next_mask, popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import prefetch
from sosie.kernels.slices.lists import SliceLists, slice_value
from sosie.kernels.slices.sums import Sums, are_many

WORK = ("stopped_all", "stopped_certain", "stopped_early", "lists", "postings", "candidates", "comparisons", "breadth")
LISTS, POSTINGS, CANDIDATES, COMPARISONS, BREADTH = 3, 4, 5, 6, 7  # the stopping rules come first, by their numbers
_AT_ONCE = 64  # lists that are asked for together


class SliceTable(NamedTuple):
    """All rows: those before `listed` are in the lists, the others are scanned; `present` of them have a live bit."""

    lists: SliceLists
    words: U64
    live: U64
    listed: int
    present: int


class Reach(NamedTuple):
    """Lists up to `breadth` bits away are read; new rows count up to `admit` (ISSL 6.2).

    A row seen at r bits of a slice of w gains `gains[w, r]`.
    """

    breadth: int
    admit: int
    gains: U64


@kernel
def look(
    table: SliceTable, queries: U64, query: int, radii: tuple[int, int], reach: Reach, sums: Sums, work: I64
) -> None:
    """See the rows that have a slice at `radii` bits, first to last, from the query's; count the `WORK`."""
    for radius in range(radii[0], radii[1] + 1):
        lists, postings = _read(table.lists, queries, query, radius, reach, sums)
        work[LISTS] += lists
        work[POSTINGS] += postings
    _scan(table, queries, query, radii, reach, sums)
    if radii[0] == 0:
        work[COMPARISONS] += table.words.shape[0] - table.listed
    work[BREADTH] = max(work[BREADTH], radii[1])


@kernel
def _read(lists: SliceLists, queries: U64, query: int, radius: int, reach: Reach, sums: Sums) -> tuple[int, int]:
    """Read the lists at exactly `radius` bits from the query's slices; return how many lists and postings.

    Many lists are under way at once: first their offsets are asked for, then their rows, then the rows are seen.
    """
    visited, postings = 0, 0
    spans = np.empty((_AT_ONCE, 2), np.int64)
    for which in range(lists.edges.size - 1):
        low, width = lists.edges[which], lists.edges[which + 1] - lists.edges[which]
        value = slice_value(queries, query, low, width)
        start, rows = lists.starts[which], lists.rows[which]
        gain = reach.gains[width, min(radius, width)]
        mask, beyond = (1 << radius) - 1, 1 << width
        while mask < beyond:
            count = 0
            while mask < beyond and count < _AT_ONCE:
                spans[count, 0] = start + (value ^ mask)
                prefetch(lists.offsets, spans[count, 0])
                count += 1
                mask = next_mask(mask) if mask else beyond
            for i in range(count):
                at = spans[i, 0]
                spans[i, 0], spans[i, 1] = lists.offsets[at], lists.offsets[at + 1]
                prefetch(rows, spans[i, 0])
                prefetch(rows, spans[i, 1] - 1)
                postings += spans[i, 1] - spans[i, 0]
            visited += count
            _see(rows, spans[:count], gain, radius <= reach.admit, sums)
    return visited, postings


@kernel
def _see(rows: U32, spans: I64, gain: int, admit: bool, sums: Sums) -> None:
    """Let the rows of some lists gain; those not seen before only with `admit`."""
    of, seen, count = sums.of, sums.seen, sums.count[0]
    many, nothing = are_many(sums), np.uint64(0)
    for i in range(len(spans)):
        begin, end = spans[i, 0], spans[i, 1]
        if not admit:
            for place in range(begin, end):
                of[rows[place]] += gain if of[rows[place]] != 0 else nothing  # no branch: it would be unforeseeable
        elif many:
            for place in range(begin, end):
                of[rows[place]] += gain
        else:
            for place in range(begin, end):
                seen[count] = rows[place]  # stays if the row is new
                count += np.int64(of[rows[place]] == 0)
                of[rows[place]] += gain
    sums.count[0] = count


@kernel
def _scan(table: SliceTable, queries: U64, query: int, radii: tuple[int, int], reach: Reach, sums: Sums) -> None:
    """Do what `_read` does, for the rows that are in no list yet."""
    edges = table.lists.edges
    for row in range(table.listed, table.words.shape[0]):
        gain, admit = np.uint64(0), sums.of[row] != 0
        for which in range(edges.size - 1):
            low, width = edges[which], edges[which + 1] - edges[which]
            differ = slice_value(queries, query, low, width) ^ slice_value(table.words, row, low, width)
            radius = np.int64(popcount(np.uint64(differ)))
            if radii[0] <= radius <= radii[1]:
                gain += reach.gains[width, radius]
                admit |= radius <= reach.admit
        if admit and gain != 0:
            if sums.of[row] == 0 and not are_many(sums):
                sums.seen[sums.count[0]] = row
                sums.count[0] += 1
            sums.of[row] += gain
