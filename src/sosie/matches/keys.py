"""The key join: pairs of rows that share a key in some table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sosie.kernels.tables.keys import count_pairs, group_by_key, write_pairs
from sosie.matches.check import MAX_PAIRS, check_keys, check_pairs
from sosie.matches.collected import PairRuns
from sosie.matches.key_tables import key_tables
from sosie.matches.order import distinct_packed, unpacked
from sosie.parallel import ordered_map
from sosie.planner.constants.documents import CROWDED_KEY as CROWDED
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.storage.resident import give_back
from sosie.storage.room import Room
from sosie.types import I64, U64, Keys, Pairs

PART = 1 << 22  # rows of a table that one task groups
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class KeyGroups:
    """Candidate pairs of rows that share a key, and apart from them the groups that are too dense to pair.

    Dense group g is `members[offsets[g]:offsets[g + 1]]`, ordered by row. A pair may be in a dense group as well.
    """

    a: I64
    b: I64
    offsets: I64
    members: I64


def join_keys(
    a: Keys,
    b: Keys | None = None,
    *,
    max_pairs: int = MAX_PAIRS,
    threads: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return all pairs of rows that share a key in at least one table: inside a collection, or between two.

    More than `max_pairs` are refused. Which share of the similar pairs have a key in common is not known here: the
    recall is that of the method that made the keys. Tables and pairs keep to the `room`, where there is one. The
    comparisons that are counted are the pairs of all tables, those that share several keys as often as they do.

    >>> pairs = join_keys(Keys(np.array([[1, 5], [2, 5], [1, 6]], np.uint64)))
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([0, 0], [1, 2])
    """
    if b is not None:
        check_keys(a, b)
    with PairRuns(room) as runs:
        if len(a) and (b is None or len(b)):
            with key_tables(a, b, room, threads) as tables:
                tables.join(runs.add_packed, max_pairs)
        if runs.added > max_pairs:  # repeats are counted before anything is written
            check_pairs(sum(map(len, runs.merged())), max_pairs)
        return runs.pairs({"comparisons": runs.added})


def key_groups(
    columns: Sequence[U64], limit: int = DENSE, *, most: int | None = None, threads: int | None = None
) -> KeyGroups:
    """Return the pairs of rows that share a key in some table, and the groups of more than `limit` rows apart.

    `columns[t]` holds the keys of table t, which are grouped in parts that fit into little memory. Every pair is given
    once, ordered by (a, b). Where the groups would hold more than `most` pairs, judged by the first table, those of
    more than 16 rows are set apart, too.

    >>> groups = key_groups([np.array([1, 2, 1, 1], np.uint64), np.array([5, 5, 6, 7], np.uint64)], limit=2)
    >>> list(zip(groups.a.tolist(), groups.b.tolist())), groups.members.tolist()
    ([(0, 1)], [0, 2, 3])
    """
    rows = len(columns[0]) if len(columns) else 0
    parts = 1 << max(rows // PART, 0).bit_length()

    def grouped(table: int, part: int) -> tuple[I64, I64]:
        column = columns[table]
        if parts == 1:
            offsets, members = group_by_key(np.ascontiguousarray(column))
        else:
            mixed = column * GOLDEN >> np.uint64(64 - parts.bit_length() + 1)
            here = np.flatnonzero(mixed == part)
            offsets, members = group_by_key(column[here])
            members = here[members]
        give_back(column)
        return offsets, members

    if most is not None and len(columns):
        # Keys of one table are as good as those of another: the first tells how many pairs to expect.
        expected = len(columns) * sum(_pairs_within(grouped(0, part)[0], limit) for part in range(parts))
        limit = limit if expected <= most else min(limit, CROWDED)

    def pairs_of(task: tuple[int, int]) -> tuple[U64, list[I64]]:
        offsets, members = grouped(*task)
        pairs = np.empty(count_pairs(offsets, members, 0, limit), np.uint64)
        write_pairs(offsets, members, 0, limit, pairs)
        dense = np.flatnonzero(np.diff(offsets) > limit)
        return pairs, [members[offsets[group] : offsets[group + 1]] for group in dense]

    held: list[I64] = []

    def each() -> Iterator[U64]:
        tasks = ((table, part) for table in range(len(columns)) for part in range(parts))
        for pairs, dense in ordered_map(pairs_of, tasks, threads, ahead=1):
            held.extend(dense)
            yield pairs

    pairs = distinct_packed(each())
    offsets = np.cumsum([0, *(len(rows) for rows in held)], dtype=np.int64)
    members = np.concatenate([np.empty(0, np.int64), *held])
    return KeyGroups(*unpacked(pairs), offsets, members)


def _pairs_within(offsets: I64, limit: int) -> int:
    """Return the number of pairs inside groups of at most `limit` rows."""
    sizes = np.diff(offsets)
    sizes = sizes[sizes <= limit]
    return int((sizes * (sizes - 1) // 2).sum())
