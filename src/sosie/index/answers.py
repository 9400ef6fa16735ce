"""Answers: the matches of many queries put together, and what is left out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.errors import MismatchError
from sosie.types import I64, Bools, Matches, offsets_of


def no_matches(queries: int) -> Matches:
    """Return the answer of an index without rows."""
    empty = np.empty(0, np.int64)
    return Matches(np.zeros(queries + 1, np.int64), empty, empty.astype(np.int32), None, {"comparisons": 0}, 1.0)


def joined_matches(parts: Sequence[Matches]) -> Matches:
    """Return the matches of some queries and then of others; what is counted is added up, nothing is said of recall."""
    sizes = [np.diff(part.offsets) for part in parts]
    counters = {name: sum(part.counters[name] for part in parts) for name in parts[0].counters}
    rows, distances = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "distances"))
    return Matches(offsets_of(np.concatenate(sizes)), rows, distances, None, counters)


def without_self(matches: Matches, ids: Any) -> Matches:
    """Leave out the rows that have the id of their query.

    >>> found = Matches(np.array([0, 2, 3]), np.array([0, 1, 0]), np.zeros(3, np.int32), pa.array(["a", "b", "a"]))
    >>> without_self(found, pa.array(["a", "b"])).ids.to_pylist()
    ['b', 'a']
    """
    if not len(matches.rows):
        return matches
    if _is_text(ids.type) != _is_text(matches.ids.type):
        raise MismatchError(
            f"the ids of the queries are {ids.type}, those of the index {matches.ids.type}: nothing can be itself"
        )
    asked = ids.take(pa.array(_query_of(matches)))
    same = pc.equal(matches.ids.cast(ids.type, safe=False), asked)
    return _keep(matches, ~same.to_numpy(zero_copy_only=False))


def nearest(matches: Matches, k: int) -> Matches:
    """Leave out all but the first k rows of each query."""
    place = np.arange(len(matches.rows)) - matches.offsets[_query_of(matches)]
    return _keep(matches, place < k)


def lowest(matches: Matches) -> Matches:
    """Leave out all but the lowest row of each query."""
    order = np.lexsort((matches.rows, _query_of(matches)))
    firsts = order[matches.offsets[:-1][np.diff(matches.offsets) > 0]]
    keep = np.zeros(len(order), np.bool_)
    keep[firsts] = True
    return _keep(matches, keep)


def filled(matches: Matches, places: I64, others: Matches) -> Matches:
    """Return matches in which the queries at these places, which have none, have the matches of others.

    >>> some = Matches(np.array([0, 1, 1]), np.array([4]), np.zeros(1, np.int32), pa.array(["e"]))
    >>> more = Matches(np.array([0, 1]), np.array([2]), np.ones(1, np.int32), pa.array(["c"]))
    >>> filled(some, np.array([1]), more).rows.tolist()
    [4, 2]
    """
    asked = np.concatenate([_query_of(matches), places[_query_of(others)]])
    order = np.argsort(asked, kind="stable")
    counters = {name: count + others.counters.get(name, 0) for name, count in matches.counters.items()}
    return replace(
        matches,
        offsets=offsets_of(np.bincount(asked, minlength=len(matches))),
        rows=np.concatenate([matches.rows, others.rows])[order],
        distances=np.concatenate([matches.distances, others.distances])[order],
        ids=pa.concat_arrays([matches.ids, others.ids]).take(pa.array(order)),
        counters=counters,
    )


def _query_of(matches: Matches) -> I64:
    return np.repeat(np.arange(len(matches)), np.diff(matches.offsets))


def _keep(matches: Matches, keep: Bools) -> Matches:
    sizes = np.bincount(_query_of(matches)[keep], minlength=len(matches))
    known = matches.similarities
    return replace(
        matches,
        offsets=offsets_of(sizes),
        rows=matches.rows[keep],
        distances=matches.distances[keep],
        ids=matches.ids.filter(pa.array(keep)),
        similarities=None if known is None else known[keep],
    )


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
