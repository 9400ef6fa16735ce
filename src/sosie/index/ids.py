"""The rows of an index by their ids: which id belongs to which row, and which rows have not been removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.arrays import aligned_zeros
from sosie.errors import MismatchError, UsageError
from sosie.index.untrusted import whole
from sosie.runs import Runs
from sosie.storage.ids import IdTable, hash_ids, same_ids
from sosie.types import I64, U64, Bools

_MOST = 2**48 - 1  # rows; kernels hold a distance beside them
_BLOCK = 8  # words: bits come in blocks of 512 rows, as bit planes do


class RowIds:
    """The ids of the rows of an index, by row number, and a bit for each row that is there; they never change.

    Rows that are added without ids are numbered, which costs nothing to keep. Ids that are given are what they say, 0
    and 1 too; they are kept in runs, as they come, and looked up in a table of hashes that is made when first needed.

    >>> ids = RowIds().added(pa.array([0, 1]), numbered=True).added(pa.array([0, 1]), numbered=True)
    >>> ids.of(np.array([3])).to_pylist()
    [3]
    """

    def __init__(
        self,
        count: int = 0,
        given: Runs[Any] | None = None,
        live: U64 | None = None,
        removed: Runs[I64] | None = None,
        table: IdTable | None = None,
    ) -> None:
        self._count = count
        self._given = given
        self._removed: Runs[I64] = Runs() if removed is None else removed
        self._live = live
        self._table = table
        self._present = count - sum(map(len, self._removed))

    @staticmethod
    def restored(count: int, given: Any, removed: I64) -> RowIds:
        """Return the ids of so many rows, `given` or None for numbers, some of which were removed; from a file."""
        count = whole("rows", count, 0, _MOST)
        return RowIds(count, None if given is None else Runs((given,)), None, Runs((np.array(removed),)))

    def __len__(self) -> int:
        return self._count

    @property
    def numbered(self) -> bool:
        """Whether every row has its number as id, because none was given."""
        return self._given is None

    @property
    def type(self) -> Any:
        """The Arrow type of the ids."""
        return pa.int64() if self._given is None else next(iter(self._given)).type

    @property
    def all(self) -> Any:
        """The ids of all rows that were ever added, as one Arrow array."""
        if self._given is None:
            return pa.array(np.arange(self._count, dtype=np.int64))
        return pa.concat_arrays(list(self._given)) if len(self._given) > 1 else next(iter(self._given))

    @property
    def live(self) -> U64:
        """A bit for each row, set unless it was removed; beyond the rows, up to a whole block, bits are 0."""
        if self._live is None:  # of a file, whose number of rows is trusted only when its arrays have been looked at
            self._live = live_bits(self._count, self.removed)
        return self._live

    @property
    def present_count(self) -> int:
        """How many rows have not been removed."""
        return self._present

    @property
    def present_rows(self) -> I64:
        """The rows that have not been removed, in order."""
        return np.flatnonzero(np.unpackbits(self.live.view(np.uint8), bitorder="little"))

    @property
    def present(self) -> Any:
        """The ids of the rows that have not been removed, in order."""
        return self.of(self.present_rows)

    @property
    def removed(self) -> I64:
        """The rows that were removed, in the order of their removal."""
        return np.concatenate([np.empty(0, np.int64), *self._removed])

    def of(self, rows: I64) -> Any:
        """Return the ids of some rows."""
        if self._given is None:
            return pa.array(rows)
        chunks = list(self._given)
        if len(chunks) == 1:
            return chunks[0].take(pa.array(rows))
        starts = np.cumsum([0, *map(len, chunks)])
        chunk_of = np.searchsorted(starts, rows, "right") - 1
        order = np.argsort(chunk_of, kind="stable")
        cuts = np.searchsorted(chunk_of[order], np.arange(len(chunks) + 1))
        parts = [
            chunk.take(pa.array(rows[order[begin:end]] - start))
            for chunk, start, begin, end in zip(chunks, starts[:-1], cuts[:-1], cuts[1:], strict=True)
            if begin < end
        ]
        if len(parts) < 2:
            return parts[0] if parts else chunks[0][:0]
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return pa.concat_arrays(parts).take(pa.array(back))

    def rows(self, ids: Any) -> I64:
        """Return the rows of ids (an Arrow array or any sequence); an unknown one, or one named twice, raises."""
        wanted = self._typed(ids)
        rows = self._find(wanted)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            first = wanted[int(unknown[0])].as_py()
            raise MismatchError(f"no row has the id {first!r} ({len(unknown)} of {len(wanted)} ids are unknown)")
        if len(np.unique(rows)) < len(rows):
            raise UsageError("an id is named twice in one removal")
        return rows

    def added(self, ids: Any, *, numbered: bool) -> RowIds:
        """Return these and the ids of new rows; an id of a row that is there raises.

        Rows that are `numbered` have the numbers that their rows have here, whatever `ids` are.
        """
        count = self._count + len(ids)
        if not len(ids):
            return self
        live = more_bits(self.live, self._count, count)
        if numbered and self._given is None:
            return RowIds(count, None, live, self._removed)
        given = self._checked(self._numbers(len(ids)) if numbered else ids)
        table = None
        if self._count:
            hashes, known = hash_ids(given), self._known()
            self._refuse_known(given, hashes, known)
            rows = np.arange(self._count, count)
            table = known.added(hashes, rows, lambda rows: are_live(live, rows))
        before = Runs((self.all,) if self._count else ()) if self._given is None else self._given
        return RowIds(count, before.added(given, _joined), live, self._removed, table)

    def without(self, ids: Any) -> tuple[RowIds, I64]:
        """Return what is left when rows are removed by their ids, and these rows; an unknown id raises."""
        rows = self.rows(ids)
        if not len(rows):
            return self, rows
        live = aligned_zeros(self.live.shape)
        live[:] = self.live
        forget_bits(live, rows)
        removed = self._removed.added(rows, lambda a, b: np.concatenate([a, b]))
        return RowIds(self._count, self._given, live, removed, self._table), rows

    def _numbers(self, count: int) -> Any:
        """Return the numbers of the next rows, as integers of the width that the ids have."""
        numbers = pa.array(np.arange(self._count, self._count + count, dtype=np.int64))
        if not pa.types.is_integer(self.type):
            return numbers
        try:
            return numbers.cast(self.type)
        except pa.ArrowInvalid as error:
            raise MismatchError(f"rows beyond those that {self.type} can number were added without ids") from error

    def _checked(self, ids: Any) -> Any:
        """Refuse ids that are no ids of this index, whichever these are."""
        if ids.null_count:
            raise MismatchError("an id is null; every row of an index needs one")
        if self._count and ids.type != self.type:
            raise MismatchError(f"ids of type {ids.type} added to an index whose ids are {self.type}")
        if len(ids) > 1 and len(pc.unique(ids)) < len(ids):
            raise MismatchError("an id occurs twice in the added rows")
        return ids

    def _refuse_known(self, ids: Any, hashes: U64, table: IdTable) -> None:
        rows = self._confirmed(ids, table.find(hashes))
        known = np.flatnonzero(rows >= 0)
        if len(known):
            raise MismatchError(
                f"the id {ids[int(known[0])].as_py()!r} is in the index already; remove it first, "
                f"as `sosie index remove` does, or leave it out"
            )

    def _find(self, ids: Any) -> I64:
        """Return the row of each id, -1 where there is none."""
        if self._given is None:
            rows = ids.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            there = (rows >= 0) & (rows < self._count)
            there[there] = are_live(self.live, rows[there])
            return np.where(there, rows, -1)
        return self._confirmed(ids, self._known().find(hash_ids(ids)))

    def _confirmed(self, ids: Any, found: tuple[I64, I64]) -> I64:
        """Return the row of each id out of those that have its hash: it is there, and its id is the same."""
        places, rows = found
        live = are_live(self.live, rows)
        places, rows = places[live], rows[live]
        answer = np.full(len(ids), -1, np.int64)
        if len(places):
            same = same_ids(ids.take(pa.array(places)), self.of(rows))
            answer[places[same]] = rows[same]
        return answer

    def _known(self) -> IdTable:
        """Return the table of the ids of all rows that are there."""
        if self._table is None:
            rows = self.present_rows
            self._table = IdTable().added(hash_ids(self.of(rows)), rows)
        return self._table

    def _typed(self, ids: Any) -> Any:
        """Return ids that somebody names as an Arrow array of the type that they have here."""
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        if isinstance(ids, pa.Array):
            if ids.type == self.type:
                return ids
            ids = ids.to_pylist()
        listed = list(ids)
        try:
            return pa.array(listed, self.type)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            other = next(item for item in listed if not _is_of(item, self.type))
            raise MismatchError(f"no row has the id {other!r}: the ids of the index are {self.type}") from error


def live_bits(rows: int, removed: I64 | None = None) -> U64:
    """Return bit i for row i, set unless it was removed; bits beyond the rows are 0, up to a whole block of 512.

    >>> live_bits(67, np.array([0, 65]))[:3].tolist() == [2**64 - 2, 0b101, 0]
    True
    """
    live = more_bits(aligned_zeros((0,)), 0, rows)
    if removed is not None:
        forget_bits(live, removed)
    return live


def more_bits(live: U64, begin: int, end: int) -> U64:
    """Return a copy of the bits with those of rows `begin` to `end` set."""
    longer = aligned_zeros((-(-end // (64 * _BLOCK)) * _BLOCK,))
    longer[: len(live)] = live
    first, last = begin // 64, end // 64
    every, start, stop = ~np.uint64(0), np.uint64(begin % 64), np.uint64(end % 64)
    longer[first + 1 : last] = every
    if first == last:
        if begin < end:
            longer[first] |= (every << start) & ~(every << stop)
        return longer
    longer[first] |= every << start
    if end % 64:
        longer[last] |= ~(every << stop)
    return longer


def forget_bits(live: U64, rows: I64) -> None:
    """Clear the bits of some rows."""
    np.bitwise_and.at(live, rows // 64, ~(np.uint64(1) << (rows % 64).astype(np.uint64)))


def are_live(live: U64, rows: I64) -> Bools:
    """Say which of some rows have their bit.

    >>> are_live(live_bits(3, np.array([1])), np.array([0, 1, 2])).tolist()
    [True, False, True]
    """
    return np.asarray((live[rows >> 6] >> (rows & 63).astype(np.uint64)) & np.uint64(1), np.bool_)


def _joined(a: Any, b: Any) -> Any:
    return pa.concat_arrays([a, b])


def _is_of(item: Any, kind: Any) -> bool:
    try:
        pa.array([item], kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return True
