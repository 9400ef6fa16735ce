"""Segments: the rows of an index in runs that never change, each with tables of its own; merged by one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sosie.arrays import U64
from sosie.errors import StorageError
from sosie.runs import count_staying


class Segment(Protocol):
    """A run of consecutive rows, `first` and up."""

    @property
    def first(self) -> int:
        """The lowest row."""
        ...

    def __len__(self) -> int: ...

    def arrays(self) -> dict[str, Any]:
        """Return the arrays from which the run is made again."""
        ...


class HoldsRows(Segment, Protocol):
    """A run that can give its rows back."""

    def put_rows(self, rows: U64, begin: int) -> None:
        """Write the rows to their places, of which `begin` is the first there."""
        ...


S = TypeVar("S", bound=Segment)


@dataclass(frozen=True, eq=False)
class Segments(Generic[S]):
    """All rows, run after run. Adding gives other segments: whoever searches these goes on with them.

    The rule is that of `sosie.runs`: a run is merged with those that follow as soon as it has less than twice as many
    rows as they have together, or fewer than `least`. So there are few runs, and every row is sorted few times.
    """

    runs: tuple[S, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[S]:
        return iter(self.runs)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.runs[-1].first + len(self.runs[-1]) if self.runs else 0

    def grown(self, added: int, build: Callable[[int, tuple[S, ...]], S], least: int = 0) -> Segments[S]:
        """Return segments with more rows, at least one.

        `build` makes their run, from the row where it begins and the runs that are merged into it.
        """
        staying = count_staying([len(run) for run in self.runs], added, least)
        merged = self.runs[staying:]
        return Segments((*self.runs[:staying], build(merged[0].first if merged else self.rows, merged)))

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of every run, named by its number."""
        return {f"run{i}_{name}": array for i, run in enumerate(self.runs) for name, array in run.arrays().items()}

    @staticmethod
    def restored(
        saved: Sequence[Any],
        rows: int,
        arrays: Mapping[str, Any],
        names: Sequence[str],
        restore: Callable[[int, int, Any, Any], S],
    ) -> Segments[S]:
        """Return segments of so many rows from what was read from a file, and is not trusted.

        `saved` tells of each run how many rows it has, alone or beside other things; it has arrays of these names.
        `restore` makes a run from its first row, the number of its rows, what was saved of it, and its arrays.
        """
        runs: list[S] = []
        first = 0
        for i, each in enumerate(saved):
            count = each["count"] if isinstance(each, Mapping) else each
            if type(count) is not int or not 0 < count <= rows - first:
                raise StorageError(f"a run of {count} rows")
            if isinstance(each, Mapping) and each.get("first", first) != first:
                raise StorageError("the runs do not follow each other")
            runs.append(restore(first, count, each, {name: arrays[f"run{i}_{name}"] for name in names}))
            first += count
        if first != rows:
            raise StorageError("the runs do not hold all rows")
        return Segments(tuple(runs))


def written_behind(held: U64, begin: int, added: U64) -> U64:
    """Return an array that has the first `begin` rows of another and then those that are added.

    They are written into the room behind these, where nobody looks who holds fewer rows, as long as there is enough;
    room grows by halves, so that adding row by row costs little.
    """
    rows = begin + len(added)
    if rows > len(held) or not held.flags.writeable:
        longer = np.empty((max(rows, begin + begin // 2), added.shape[1]), np.uint64)
        longer[:begin] = held[:begin]
        held = longer
    held[begin:rows] = added
    return held


def with_rows_of(merged: Sequence[HoldsRows], added: U64) -> U64:
    """Return the rows of runs that follow each other, and then those that are added, as one array of its own."""
    before = sum(map(len, merged))
    together = np.empty((before + len(added), added.shape[1]), np.uint64)
    for run in merged:
        run.put_rows(together, merged[0].first)
    together[before:] = added
    return together
