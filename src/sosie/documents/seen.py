"""Which ids were there before: exact, columnar, decided in document order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.storage.ids import IdTable, hash_ids, same_ids
from sosie.types import I64, U64


class SeenIds:
    """The ids so far, by their hashes; `fetch` gives the ids of document numbers, which confirm what is found."""

    def __init__(self, fetch: Callable[[I64], Any]) -> None:
        self._fetch = fetch
        self._table = IdTable()

    def admit(self, ids: Any, rows: I64) -> I64:
        """Remember new ids; return for each the document number that had it before, -1 if it is new.

        >>> ids = pa.array(["a", "b", "a"], pa.large_string())
        >>> seen = SeenIds(lambda rows: ids.take(pa.array(rows)))
        >>> seen.admit(ids, np.arange(3)).tolist()
        [-1, -1, 0]
        """
        hashes = hash_ids(ids)
        order = np.argsort(hashes, kind="stable")
        earlier = np.full(len(rows), -1, np.int64)
        places, owners = self._table.find(hashes[order])
        if len(places):
            positions = order[places]
            same = same_ids(ids.take(pa.array(positions)), self._fetch(owners))
            earlier[positions[same]] = owners[same]
        new = _first_of_each(ids, hashes, order[earlier[order] < 0], rows, earlier)
        self._table = self._table.added(hashes[new], rows[new])
        return earlier


def _first_of_each(ids: Any, hashes: U64, waiting: I64, rows: I64, earlier: I64) -> I64:
    """Return the places of new ids where each comes first; for the others, note the row of that one as the earlier.

    `waiting` are places in the order of their hashes, those of one hash in the order of documents. Ids that share a
    hash with another take another turn each, which practically never happens.
    """
    new = [np.empty(0, np.int64)]
    while len(waiting):
        first = np.ones(len(waiting), np.bool_)
        first[1:] = hashes[waiting[1:]] != hashes[waiting[:-1]]
        new.append(waiting[first])
        others, firsts = waiting[~first], waiting[first][np.cumsum(first)[~first] - 1]
        if not len(others):
            break
        same = same_ids(ids.take(pa.array(others)), ids.take(pa.array(firsts)))
        earlier[others[same]] = rows[firsts[same]]
        waiting = others[~same]
    return np.concatenate(new)
