"""A run of a store: the rows of a batch, or of several that were merged, sorted; with their ids, if they have any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.arrays import I64, U64, read_only
from sosie.errors import StorageError
from sosie.index.files import check_array
from sosie.index.untrusted import check_each_once, check_padding
from sosie.kernels.tables.streamed import is_sorted
from sosie.matches.store.ids import NUMBER, RunIds
from sosie.matches.store.sorted_rows import SortedRows
from sosie.storage.ids import hash_ids
from sosie.types import Signatures

ROWS = 2**32 - 1  # of a run


@dataclass(frozen=True, eq=False)
class StoreRun:
    """Rows `first` and up in the order of their leads. Without ids, rows have their numbers as ids.

    `folder` is where it lies in its store, `checksum` that of its manifest; a run in memory has neither.
    """

    first: int
    bits: int
    sorted: SortedRows
    ids: RunIds | None = None
    folder: str = ""
    checksum: int = 0

    @staticmethod
    def of(batch: Signatures, first: int, ids: RunIds | None) -> StoreRun:
        """Sort a batch."""
        return StoreRun(first, batch.bits, SortedRows.of(batch.words, batch.bits), ids)

    def __len__(self) -> int:
        return len(self.sorted.rows)

    @property
    def words(self) -> U64:
        """The signatures in their order here."""
        return self.sorted.words

    def rows_at(self, places: I64) -> I64:
        """Return the rows that are at some places of the order."""
        return self.first + self.sorted.rows[places].astype(np.int64)

    def ids_of(self, rows: I64) -> Any:
        """Return the ids of some rows."""
        return pa.array(rows) if self.ids is None else self.ids.ids.take(pa.array(rows - self.first))

    def all_ids(self) -> RunIds:
        """Return the ids of all rows, numbers where none were given."""
        return self.ids or RunIds.of(pa.array(np.arange(self.first, self.first + len(self), dtype=np.int64)))

    def find(self, wanted: Any, hashes: U64) -> I64:
        """Return the places of those wanted ids that are here, of the type that the ids of the store have."""
        if self.ids is not None:
            return self.ids.find(wanted, hashes)
        numbers = hash_ids(wanted).view(np.int64)
        return np.flatnonzero((numbers >= self.first) & (numbers < self.first + len(self)))

    def arrays(self) -> dict[str, Any]:
        """Return what `restored` needs."""
        return {"words": self.words, "rows": self.sorted.rows, **({} if self.ids is None else self.ids.arrays())}

    @staticmethod
    def restored(first: int, count: int, shape: tuple[int, str], arrays: Mapping[str, Any]) -> StoreRun:
        """Return a run from arrays that were read from a file; `shape` is the bits of a row, and what ids are."""
        bits, kind = shape
        words, rows = arrays["words"], arrays["rows"]
        check_array(words, np.uint64, (count, -(-bits // 64)))
        check_array(rows, np.uint32, (count,))
        check_padding(words, bits)
        check_each_once(rows, 0, count)
        found = SortedRows(read_only(words), read_only(rows))
        if not is_sorted(found.words, found.rows, bits):
            raise StorageError("the rows are not in order")
        numbered = "ids" not in arrays and "id_bytes" not in arrays
        if numbered and kind != NUMBER:
            raise StorageError("a run has no ids")
        return StoreRun(first, bits, found, None if numbered else RunIds.restored(kind, count, arrays))
