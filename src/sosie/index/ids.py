"""Which id belongs to which row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.errors import MismatchError, UsageError
from sosie.types import I64


class RowIds:
    """The ids of the rows of an index, by row number; rows that were added without ids are numbered.

    Ids that are exactly 0, 1, 2, ... count as not given: that is what collections without ids carry. With `literal`
    they are what they say as soon as there are rows: that is what documents with such ids need. Numbers cost nothing to
    keep; other ids are looked up in a table that is made when first needed.

    >>> ids = RowIds()
    >>> ids.add(pa.array([0, 1])); ids.add(pa.array([0, 1]))
    >>> ids.of(np.array([3])).to_pylist()
    [3]
    """

    def __init__(self) -> None:
        self.literal = False
        self._chunks: list[Any] = []
        self._numbered = True
        self._count = 0
        self._gone: set[int] = set()
        self._rows: dict[Any, int] | None = None

    @staticmethod
    def restored(count: int, given: Any, removed: I64) -> RowIds:
        """Return the ids of so many rows, `given` or None for numbers, some of which were removed."""
        ids = RowIds()
        ids._count = count
        if given is not None:
            ids._numbered, ids._chunks = False, [given]
        ids._gone = set(removed.tolist())
        return ids

    def __len__(self) -> int:
        return self._count

    @property
    def numbered(self) -> bool:
        """Whether every row has its number as id."""
        return self._numbered

    @property
    def all(self) -> Any:
        """The ids of all rows that were ever added, as one Arrow array."""
        if self._numbered:
            return pa.array(np.arange(self._count, dtype=np.int64))
        if len(self._chunks) > 1:
            self._chunks = [pa.concat_arrays(self._chunks)]
        return self._chunks[0]

    @property
    def present(self) -> Any:
        """The ids of the rows that were not removed, in order."""
        return self.of(np.setdiff1d(np.arange(self._count), np.fromiter(self._gone, np.int64, len(self._gone))))

    def of(self, rows: I64) -> Any:
        """Return the ids of some rows."""
        return pa.array(rows) if self._numbered else self.all.take(pa.array(rows))

    def add(self, ids: Any) -> None:
        """Append the ids of new rows; an id of a present row raises."""
        if not len(ids):
            return
        given = (self.literal and self._count > 0) or not _counts_up(ids)
        if not given:
            ids = pa.array(np.arange(self._count, self._count + len(ids), dtype=np.int64))
        if self._numbered and not given:
            self._count += len(ids)
            return
        if ids.null_count:
            raise MismatchError("an id is null; every row of an index needs one")
        if self._count and ids.type != self.all.type:
            raise MismatchError(f"ids of type {ids.type} added to an index whose ids are {self.all.type}")
        self._add_given(ids)

    def rows(self, ids: Any) -> I64:
        """Return the rows of ids; an unknown one, or one that is named twice, raises."""
        wanted = _listed(ids)
        rows = [self._row(item) for item in wanted]
        unknown = [item for item, row in zip(wanted, rows, strict=True) if row is None]
        if unknown:
            raise MismatchError(f"no row has the id {unknown[0]!r} ({len(unknown)} of {len(wanted)} ids are unknown)")
        if len(set(wanted)) < len(wanted):
            raise UsageError("an id is named twice in one removal")
        return np.array(rows, np.int64)

    def remove(self, ids: Any) -> I64:
        """Forget ids and return their rows; an unknown one raises and nothing changes."""
        wanted, rows = _listed(ids), self.rows(ids)
        if not self._numbered:
            for item in wanted:
                del self._table()[item]
        self._gone.update(rows.tolist())
        return rows

    def _add_given(self, ids: Any) -> None:
        if len(pc.unique(ids)) < len(ids):
            raise MismatchError("an id occurs twice in the added rows")
        if self._count:
            table = self._table()
            known = next((item for item in ids.to_pylist() if item in table), None)
            if known is not None:
                raise MismatchError(f"the id {known!r} is in the index already; remove it first")
        if self._rows is not None:
            self._rows.update(zip(ids.to_pylist(), range(self._count, self._count + len(ids)), strict=True))
        if self._numbered:
            self._numbered, self._chunks = False, [self.all] if self._count else []
        self._chunks.append(ids)
        self._count += len(ids)

    def _row(self, item: Any) -> int | None:
        if not self._numbered:
            return self._table().get(item)
        known = isinstance(item, int | np.integer) and 0 <= item < self._count and item not in self._gone
        return int(item) if known else None

    def _table(self) -> dict[Any, int]:
        if self._rows is None:
            self._rows = {item: row for row, item in enumerate(self.all.to_pylist()) if row not in self._gone}
        return self._rows


def _listed(ids: Any) -> list[Any]:
    return list(ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else ids)


def _counts_up(ids: Any) -> bool:
    return bool(pa.types.is_integer(ids.type)) and bool(
        np.array_equal(ids.to_numpy(zero_copy_only=False), np.arange(len(ids)))
    )
