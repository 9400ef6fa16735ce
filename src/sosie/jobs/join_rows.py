"""Signatures or keys joined: in memory, or within a limit; and their pairs as a file, piece by piece."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.errors import UsageError
from sosie.jobs.auto import FIXED_BYTES, check_limit, in_memory
from sosie.jobs.planning.joins import came_of, method_of, plan_join, taken
from sosie.matches.check import MAX_PAIRS, check_join
from sosie.matches.chunks import Window
from sosie.matches.join import SignatureJoin, check_method, join_signatures
from sosie.matches.keys import join_keys
from sosie.storage.durable import naming
from sosie.storage.resident import give_back, mapping_of
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import I64, Keys, Pairs, Signatures

JoinMethod = Literal["auto"] | SignatureJoin | Window
PAIRS = "pairs.parquet"
_ROWS = 1 << 20  # of a row group


def join_rows(
    a: Signatures | Keys,
    b: Any = None,
    *,
    radius: int | None = None,
    threshold: float | str | Fraction | None = None,
    method: JoinMethod = "auto",
    recall: float | None = None,
    max_pairs: int = MAX_PAIRS,
    threads: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return all pairs of signatures within the radius, or of keys that are equal; within a room if there is one.

    Where the method is not given, it is planned, so that the share `recall` of all pairs is found; 1 by default.

    >>> join_rows(Keys(np.array([[1, 5], [2, 5], [1, 6]], np.uint64))).b.tolist()
    [1, 2]
    """
    check_kinds(a, b)
    if isinstance(a, Keys):
        if method != "auto":
            raise UsageError(f"method={method!r} is for signatures; keys are joined where they are equal: leave it out")
        if recall is not None:
            raise UsageError(f"recall={recall!r} is for signatures; the join of keys finds all: leave it out")
        if radius is not None or threshold is not None:
            raise UsageError("keys are joined where they are equal: pass neither radius nor threshold")
        return join_keys(a, b, max_pairs=max_pairs, threads=threads, room=room)
    if radius is None or threshold is not None:
        raise UsageError("signatures are joined within a radius: pass --radius (in Python radius=), and no threshold")
    how: dict[str, Any] = {"radius": radius, "max_pairs": max_pairs, "threads": threads, "room": room}
    if method != "auto":
        name = check_method(method)
        if recall is not None:
            raise UsageError(f"recall={recall!r} is for --method auto, which finds a way to it; {name} has its own")
        return join_signatures(a, b, method=method, **how)
    check_join(a, b, radius, a.bits)
    limit = None if room is None else room.limit
    asked = 1.0 if recall is None else recall
    plan, began = plan_join(a, b, radius=radius, recall=asked, memory=limit, threads=threads), time.perf_counter()
    pairs = join_signatures(a, b, method=method_of(taken(plan)), **how)
    return replace(pairs, planned=came_of(plan, pairs, began))


def check_kinds(a: Any, b: Any) -> None:
    """Refuse two collections of different kinds."""
    if b is not None and type(b) is not type(a):
        raise UsageError(
            f"cannot join {type(a).__name__} with {type(b).__name__}: give two collections of the same kind"
        )


def joining_room(
    scratch: str | os.PathLike[str],
    limit: int | None,
    threads: int | None,
    tell: Callable[[int, int], None] = lambda done, total: None,
    *,
    held: int = 0,
) -> Room:
    """Return what a join may use within a limit for the whole process, `held` bytes of which are taken already.

    A limit that no run keeps to is refused.
    """
    check_limit(limit)
    if limit is not None and limit - held < FIXED_BYTES:
        raise UsageError(
            f"the rows to be joined take {show_size(held)} of memory themselves: allow {show_size(held + FIXED_BYTES)}"
            " or more, or save them and join what load_signatures maps"
        )
    free = None if limit is None else limit - held
    return Room(scratch, in_memory(free), threads, limit=free, tell=tell)


def held_bytes(*sides: Signatures | Keys | None) -> int:
    """Return how many bytes the rows of collections take that are not mapped from files.

    >>> held_bytes(Signatures(np.zeros(100, np.uint64)), None)
    800
    """
    arrays = [side.values if isinstance(side, Keys) else side.words for side in sides if side is not None]
    return sum(array.nbytes for array in arrays if mapping_of(array) is None)


def write_pairs(
    path: str | os.PathLike[str],
    pairs: Pairs,
    first: Signatures | Keys,
    second: Signatures | Keys,
    advance: Callable[[int], None] = lambda count: None,
) -> None:
    """Write the ids of pairs to a Parquet file, a row group at a time; mapped pairs take no more memory than one."""
    schema = pa.schema([("a", _id_type(first)), ("b", _id_type(second))])
    with naming(path), pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(pairs), _ROWS):
            a, b = pairs.a[start : start + _ROWS], pairs.b[start : start + _ROWS]
            writer.write_table(pa.table([_ids(first, a), _ids(second, b)], schema), _ROWS)
            give_back(pairs.a)
            give_back(pairs.b)
            advance(len(a))


def _ids(side: Signatures | Keys, rows: I64) -> Any:
    return pa.array(np.asarray(rows)) if side.numbered else side.ids.take(pa.array(rows))


def _id_type(side: Signatures | Keys) -> Any:
    return pa.int64() if side.numbered else side.ids.type
