"""The neighbourhood of a query in slice lists, one radius after another (TOPK 2; ISSL 5.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.kernels.arrays import I64, U64, Bools
from sosie.kernels.bits import trailing_zeros
from sosie.kernels.compile import kernel
from sosie.kernels.popcount import popcount
from sosie.kernels.slice_lists import SliceLists, slice_value
from sosie.kernels.slice_sums import Sums, are_many, gain_of

WORK = ("stopped_all", "stopped_certain", "stopped_early", "lists", "postings", "candidates", "comparisons", "breadth")
LISTS, POSTINGS, CANDIDATES, COMPARISONS, BREADTH = 3, 4, 5, 6, 7  # the stopping rules come first, by their numbers


class SliceTable(NamedTuple):
    """All rows: those before `listed` are in the lists, the others are scanned; `present` of them are live."""

    lists: SliceLists
    words: U64
    live: Bools
    listed: int
    present: int


@kernel
def look(table: SliceTable, queries: U64, query: int, radius: int, admit: bool, sums: Sums, work: I64) -> None:
    """See the rows that have a slice at exactly `radius` bits from the query's; count the `WORK`.

    Rows seen for the first time count only with `admit` (ISSL 6.2).
    """
    lists, postings = _expand(table.lists, queries, query, radius, admit, sums)
    _scan(table, queries, query, radius, admit, sums)
    work[LISTS] += lists
    work[POSTINGS] += postings
    if radius == 0:
        work[COMPARISONS] += table.live.size - table.listed
    work[BREADTH] = max(work[BREADTH], radius)


@kernel
def distance_to(table: SliceTable, row: int, queries: U64, query: int) -> int:
    """Return the true distance of a row."""
    distance = np.int64(0)
    for w in range(queries.shape[1]):
        distance += np.int64(popcount(table.words[row, w] ^ queries[query, w]))
    return distance


@kernel
def _expand(lists: SliceLists, queries: U64, query: int, radius: int, admit: bool, sums: Sums) -> tuple[int, int]:
    """Read the lists at exactly `radius` bits from the query's slices; return how many lists and postings."""
    visited, postings = 0, 0
    of, count = sums.of, sums.count[0]
    for which in range(lists.edges.size - 1):
        low, width = lists.edges[which], lists.edges[which + 1] - lists.edges[which]
        if radius > width:
            continue
        value = slice_value(queries, query, low, width)
        offsets = lists.offsets[lists.starts[which] : lists.starts[which + 1]]
        rows = lists.rows[which]
        gain = gain_of(width, radius)
        mask = (1 << radius) - 1
        while mask < 1 << width:
            begin, end = np.int64(offsets[value ^ mask]), np.int64(offsets[(value ^ mask) + 1])
            visited += 1
            postings += end - begin
            if not admit:
                for place in range(begin, end):
                    if of[rows[place]] != np.uint64(0):
                        of[rows[place]] += gain
            elif are_many(count, of.size):
                for place in range(begin, end):
                    of[rows[place]] += gain
            else:
                for place in range(begin, end):
                    sums.seen[count] = rows[place]  # stays if the row is new
                    count += np.int64(of[rows[place]] == np.uint64(0))
                    of[rows[place]] += gain
            if mask == 0:
                break
            mask = _next_mask(mask)
    sums.count[0] = count
    return visited, postings


@kernel
def _scan(table: SliceTable, queries: U64, query: int, radius: int, admit: bool, sums: Sums) -> None:
    """Do what `_expand` does, for the rows that are in no list yet."""
    edges = table.lists.edges
    for row in range(table.listed, table.live.size):
        for which in range(edges.size - 1):
            low, width = edges[which], edges[which + 1] - edges[which]
            differ = slice_value(queries, query, low, width) ^ slice_value(table.words, row, low, width)
            if np.int64(popcount(np.uint64(differ))) == radius and (admit or sums.of[row] != np.uint64(0)):
                if sums.of[row] == np.uint64(0):
                    sums.seen[sums.count[0]] = row
                    sums.count[0] += 1
                sums.of[row] += gain_of(width, radius)


@kernel
def _next_mask(mask: int) -> int:
    """Return the next larger number with as many set bits (Gosper)."""
    carried = mask + (mask & -mask)
    return carried | (((carried ^ mask) >> 2) >> np.int64(trailing_zeros(np.uint64(mask))))
