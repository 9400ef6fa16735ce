"""The ids of a run: kept in the order of its rows, and found by their hashes, which are sorted beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.arrays import I64, U64, read_only
from sosie.errors import MismatchError, StorageError
from sosie.index.files import check_array
from sosie.index.untrusted import check_each_once
from sosie.kernels.tables.streamed import is_sorted
from sosie.matches.store.sorted_rows import SortedRows
from sosie.runs import Runs
from sosie.storage.ids import HashedRows, IdTable, hash_ids, id_arrays, ids_of, same_ids
from sosie.types import Signatures

NUMBER, TEXT = "int64", "string"  # what the ids of a store are
_TYPES = {NUMBER: pa.int64(), TEXT: pa.large_string()}
HASHES = ("id_hashes", "id_rows")


@dataclass(frozen=True, eq=False)
class RunIds:
    """Ids by row, and the same rows sorted by the hashes of their ids."""

    ids: Any
    hashed: SortedRows

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def of(ids: Any) -> RunIds:
        """Return ids with their hashes in order; an id that occurs twice raises."""
        if len(ids) and len(pc.unique(ids)) < len(ids):
            counted = pc.value_counts(ids)
            twice = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")[0].as_py()
            raise MismatchError(f"the id {twice!r} occurs twice in the batch: every row needs an id of its own")
        return RunIds(ids, SortedRows.of(hash_ids(ids).reshape(-1, 1), 64))

    @staticmethod
    def restored(kind: str, count: int, arrays: Mapping[str, Any]) -> RunIds:
        """Return ids from arrays that were read from a file and are not trusted."""
        ids = ids_of(arrays)
        if len(ids) != count or ids.type != _TYPES[kind]:
            raise StorageError(f"{len(ids)} ids of type {ids.type} for {count} rows")
        hashes, rows = (arrays[name] for name in HASHES)
        check_array(hashes, np.uint64, (count,))
        check_array(rows, np.uint32, (count,))
        check_each_once(rows, 0, count)
        hashed = SortedRows(read_only(hashes.reshape(-1, 1)), read_only(rows))
        if not is_sorted(hashed.words, hashed.rows, 64):
            raise StorageError("the hashes of ids are not in order")
        return RunIds(ids, hashed)

    def arrays(self) -> dict[str, Any]:
        """Return what `restored` needs."""
        return {**id_arrays(self.ids), **dict(zip(HASHES, (self.hashed.words[:, 0], self.hashed.rows), strict=True))}

    def find(self, wanted: Any, hashes: U64) -> I64:
        """Return the places of those wanted ids that are here; `hashes` are theirs."""
        run: HashedRows = HashedRows(self.hashed.words[:, 0], self.hashed.rows)  # type: ignore[arg-type]
        places, rows = IdTable(Runs((run,))).find(hashes)
        same = same_ids(wanted.take(pa.array(places)), self.ids.take(pa.array(rows)))
        return np.asarray(places[same])


def kind_of_ids(batch: Signatures) -> str:
    """Return what the ids of a batch are: numbers, where none were given; what is neither number nor text raises."""
    kind = batch.ids.type
    if pa.types.is_integer(kind):
        return NUMBER
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return TEXT
    raise MismatchError(f"ids of type {kind} cannot be stored: use strings or integers")


def plain_ids(batch: Signatures) -> Any:
    """Return the ids that were given to a batch as a store keeps them; a null raises."""
    if batch.ids.null_count:
        raise MismatchError("an id is null; every row of a store needs one")
    try:
        return batch.ids.cast(_TYPES[kind_of_ids(batch)])
    except pa.ArrowInvalid as error:
        raise MismatchError(f"an id is beyond the integers of 64 bits ({error})") from error
