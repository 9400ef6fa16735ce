"""Counted instead of modelled: how many comparisons a join makes, from the sizes of its groups, before it makes any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import read_only
from sosie.index.block_run import BlockCut
from sosie.matches.block_tables import BlockTables
from sosie.matches.blocks import choose_cut
from sosie.matches.check import check_join, check_keys
from sosie.matches.equal.copies import Copies
from sosie.matches.scan import Scan
from sosie.parallel import ordered_map, thread_count
from sosie.types import I64, U64, Keys, Signatures

LARGEST = 10  # groups that are shown


class Group(NamedTuple):
    """Rows that are compared with each other: how many, in which table, and one of them with its id."""

    size: int
    table: int
    row: int
    id: Any


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What a join will do: its tables, comparisons as its own counter has them, and its ten largest groups.

    `rows` are those that are compared, without those that equal an earlier one. Of two collections, a group has rows of
    both, and its example is of the first.
    """

    rows: int
    tables: int
    comparisons: int
    largest: tuple[Group, ...] = ()


def count_blocks(
    a: Signatures,
    b: Signatures | None = None,
    *,
    radius: int,
    cut: BlockCut | None = None,
    threads: int | None = None,
) -> Counted:
    """Count the comparisons of a block join within a radius, by the cut that it chooses itself or by another.

    >>> rows = Signatures(np.arange(1000, dtype=np.uint64))
    >>> counted = count_blocks(rows, radius=3)
    >>> counted.largest[0].size <= 1000, counted.comparisons <= counted.tables * 1000 * 999 // 2
    (True, True)
    """
    check_join(a, b, radius, a.bits - 1)
    workers = thread_count(threads)
    sides = [side for side in (a, b) if side is not None]
    scan, count = Scan.of(*sides), 0
    left_out = np.zeros(-(-len(scan) // 64), np.uint64)
    for side, first in zip(sides, (0, scan.split), strict=False):
        copies = Copies.found(side.words, workers)
        copies.mark(left_out, first)
        count += len(side) - len(copies)
    scan = replace(scan, left_out=read_only(left_out))
    if count < 2 or not all(map(len, sides)):
        return Counted(rows=count, tables=0, comparisons=0)
    cut = cut or choose_cut(scan, count, a.bits, radius)
    tables, rows = BlockTables(scan, cut, radius, workers), np.arange(len(scan))
    rows = rows[scan.stay(rows)]
    kept = [side for side in np.split(rows, [np.searchsorted(rows, scan.split)]) if len(side)]
    words = [read_only(scan.take(side)) for side in kept]

    def grouped(table: int) -> _Groups:
        return _Groups.of([tables.group_keys(table, each) for each in words], kept[0], table)

    return _counted(grouped, len(cut.headers), count, a, threads)


def count_keys(a: Keys, b: Keys | None = None, *, threads: int | None = None) -> Counted:
    """Count the pairs that a key join makes in all of its tables, those that share several keys as often.

    >>> counted = count_keys(Keys(np.array([[1, 5], [2, 5], [1, 6], [1, 7]], np.uint64)))
    >>> counted.comparisons, counted.largest[0]
    (4, Group(size=3, table=0, row=2, id=2))
    """
    if b is not None:
        check_keys(a, b)
    sides = [side for side in (a, b) if side is not None]
    rows = np.arange(len(a))

    def grouped(table: int) -> _Groups:
        return _Groups.of([np.ascontiguousarray(side.values[:, table]) for side in sides], rows, table)

    tables = a.values.shape[1] if all(map(len, sides)) else 0
    return _counted(grouped, tables, sum(map(len, sides)), a, threads)


class _Groups(NamedTuple):
    """The groups of a table: how many comparisons there are in all, and the largest: their sizes and a row of each."""

    table: int
    comparisons: int
    sizes: I64
    rows: I64

    @staticmethod
    def of(keys: Sequence[U64], rows: I64, table: int) -> _Groups:
        """Group the rows of one collection, or of two, by their keys; `rows` are those of the first."""
        of, sizes = _sizes(keys[0])
        comparisons = sizes * (sizes - 1) // 2
        if len(keys) > 1:
            of_other, others = _sizes(keys[1])
            of, at, other = np.intersect1d(of, of_other, assume_unique=True, return_indices=True)
            comparisons, sizes = sizes[at] * others[other], sizes[at] + others[other]
        most = np.arange(len(sizes)) if len(sizes) <= LARGEST else np.argpartition(-sizes, LARGEST)[:LARGEST]
        examples = [_middle(np.flatnonzero(keys[0] == of[group])) for group in most.tolist()]
        return _Groups(table, int(comparisons.sum()), sizes[most], rows[np.array(examples, np.int64)])


def _middle(rows: I64) -> int:
    """Return a row that is likely to be one of the crowd: a row or two may be in a group by chance."""
    return int(rows[len(rows) // 2])


def _sizes(keys: U64) -> tuple[U64, I64]:
    """Return the distinct keys, and how many rows have each."""
    keys = np.sort(keys)
    opens = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[opens], np.diff(np.append(opens, len(keys)))


def _counted(
    grouped: Callable[[int], _Groups], tables: int, rows: int, a: Signatures | Keys, threads: int | None
) -> Counted:
    """Count table by table; rows that are alone are no group."""
    comparisons, largest = 0, list[tuple[int, int, int]]()
    for groups in ordered_map(grouped, range(tables), threads, ahead=1):
        comparisons += groups.comparisons
        of = zip(groups.sizes.tolist(), groups.rows.tolist(), strict=True)
        largest += [(size, groups.table, row) for size, row in of if size > 1]
        largest = sorted(largest, key=lambda group: (-group[0], group[1:]))[:LARGEST]
    ids = [row if a.numbered else a.ids[row].as_py() for _, _, row in largest]
    shown = tuple(Group(*group, id) for group, id in zip(largest, ids, strict=True))
    return Counted(rows=rows, tables=tables, comparisons=comparisons, largest=shown)
