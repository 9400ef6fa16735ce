"""Answers put together: by look-ups for most queries, by a scan for those that were given up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sosie.arrays import read_only
from sosie.parallel import ordered_map, thread_count
from sosie.types import I64, U64, Bools, Counters, Matches, Signatures, offsets_of

GIVEN_UP = -1  # instead of the number of a query's keys
Part = tuple[I64, I64, Counters]  # of some queries: how many keys each has, the keys in order, and the work
_ROW = 2**48 - 1  # a key is distance << 48 | row
_TILE = 64  # queries of one piece of work


def in_order(asked: I64, keys: I64, given_up: Bools, first: bool) -> tuple[I64, I64]:
    """Return how many keys each query has and the keys, in order, from keys and the queries that asked for them.

    With `first`, every query has the key of its lowest row alone. Keys of queries that were given up are left out.

    >>> found = np.array([7, 2 << 48 | 3, 1 << 48 | 5])
    >>> sizes, keys = in_order(np.array([2, 0, 0]), found, given_up=np.zeros(3, np.bool_), first=True)
    >>> sizes.tolist(), (keys >> 48).tolist(), (keys & 2**48 - 1).tolist()
    ([1, 0, 1], [2, 0], [3, 7])
    """
    wanted = ~given_up[asked]
    asked, keys = asked[wanted], keys[wanted]
    order = np.lexsort((keys & _ROW if first else keys, asked))
    if first:
        order = order[np.unique(asked[order], return_index=True)[1]]
    sizes = np.bincount(asked[order], minlength=len(given_up))
    sizes[given_up] = GIVEN_UP
    return sizes, keys[order]


def answer(
    look_up: Callable[[U64], Part], scan: Callable[[Signatures], Matches], queries: Signatures, threads: int | None
) -> Matches:
    """Look up all queries, some at a time on threads, and scan for those that were given up.

    The counters are those of the look-ups, with the comparisons of the scan, and `scanned`, the number of its queries.
    """
    tiles = [read_only(queries.words[start : start + _TILE]) for start in range(0, len(queries), _TILE)]
    parts = list(ordered_map(look_up, tiles, min(thread_count(threads), len(tiles))))
    sizes, keys = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    counters = {name: sum(part[2][name] for part in parts) for name in parts[0][2]}
    given_up = sizes == GIVEN_UP
    if np.any(given_up):
        far = scan(queries.take(np.flatnonzero(given_up)))
        counters["comparisons"] += far.counters["comparisons"]
        sizes[given_up] = np.diff(far.offsets)
        scanned = np.repeat(given_up, sizes)
        near, keys = keys, np.empty(len(scanned), np.int64)
        keys[~scanned], keys[scanned] = near, far.distances.astype(np.int64) << 48 | far.rows
    counters["scanned"] = int(np.count_nonzero(given_up))
    return Matches(offsets_of(sizes), keys & _ROW, (keys >> 48).astype(np.int32), None, counters, 1.0)
