"""Matches in the order of finding, and how they are brought into theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64
from sosie.kernels.machine.compile import kernel


class Hits(NamedTuple):
    """Matches in the order of finding: entry i says that `rows[i]` is at `distances[i]` from `queries[i]`."""

    queries: I32
    rows: I64
    distances: I32


def room_for_hits(count: int) -> Hits:
    """Return room for so many matches."""
    return Hits(np.empty(count, np.int32), np.empty(count, np.int64), np.empty(count, np.int32))


def take_hits(hits: Hits, which: slice | I64) -> Hits:
    """Return a copy of some of the matches."""
    return Hits(hits.queries[which].copy(), hits.rows[which].copy(), hits.distances[which].copy())


def concat_hits(parts: Sequence[Hits]) -> Hits:
    """Return the matches of all parts, one part after another."""
    parts = [room_for_hits(0), *parts]
    return Hits(
        np.concatenate([part.queries for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )


@kernel
def sort_hits(hits: Hits, queries: int, bits: int) -> tuple[I64, I64, I32]:
    """Order matches by (query, distance), stable, as `offsets, rows, distances`."""
    count = hits.rows.size
    starts = np.zeros(bits + 2, np.int64)
    for i in range(count):
        starts[hits.distances[i] + 1] += 1
    for d in range(bits + 1):
        starts[d + 1] += starts[d]
    by_distance = np.empty(count, np.int64)
    for i in range(count):
        by_distance[starts[hits.distances[i]]] = i
        starts[hits.distances[i]] += 1
    offsets = np.zeros(queries + 1, np.int64)
    for i in range(count):
        offsets[hits.queries[i] + 1] += 1
    for q in range(queries):
        offsets[q + 1] += offsets[q]
    place = offsets[:-1].copy()
    rows, distances = np.empty(count, np.int64), np.empty(count, np.int32)
    for i in by_distance:
        at = place[hits.queries[i]]
        rows[at], distances[at] = hits.rows[i], hits.distances[i]
        place[hits.queries[i]] = at + 1
    return offsets, rows, distances


@kernel
def lowest_rows(hits: Hits, queries: int) -> I64:
    """Return the place of one match of each query that has any: that with the lowest row."""
    lowest = np.full(queries, -1, np.int64)
    count = 0
    for i in range(hits.rows.size):
        before = lowest[hits.queries[i]]
        count += before < 0
        if before < 0 or hits.rows[i] < hits.rows[before]:
            lowest[hits.queries[i]] = i
    places = np.empty(count, np.int64)
    count = 0
    for query in range(queries):
        if lowest[query] >= 0:
            places[count] = lowest[query]
            count += 1
    return places
