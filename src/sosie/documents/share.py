"""The records of one input: which are copied as they are, which get columns added, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sosie.documents.input import Input
from sosie.documents.splice import concatenated, csv_fields, joined, more_fields, quoted
from sosie.errors import MismatchError
from sosie.types import I64

COPIED, ANNOTATED, LEFT_OUT = np.uint8(0), np.uint8(1), np.uint8(2)
TYPES = (pa.string(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_())
_TAB = b"\t"


@dataclass(frozen=True, eq=False)
class Share:
    """What becomes of each record of an input: COPIED, ANNOTATED or LEFT_OUT.

    `first` is the document number of its first record. The files are None where nothing is to be written:
    `copies` if all documents are annotated, `annotated` if none is; where the input is many files, they are folders.
    The `listing` takes the columns that documents of the format cannot hold.
    """

    source: Input
    first: int
    place: NDArray[np.uint8]
    added: AddedColumns
    copies: Path | None
    annotated: Path | None
    listing: Listing

    def places(self, start: int, count: int) -> NDArray[np.uint8]:
        """Return what becomes of `count` records from `start` on."""
        place = self.place[start : start + count]
        if len(place) < count:
            raise self.source.changed()
        return place

    def columns(self, start: int, place: NDArray[np.uint8]) -> Any:
        """Return the columns that are added to the annotated ones among the records from `start` on."""
        return self.added.take(np.flatnonzero(place == ANNOTATED) + (self.first + start))

    @property
    def files(self) -> list[Path]:
        """The files that this input becomes."""
        return [path for path in (self.copies, self.annotated) if path is not None]


class AddedColumns:
    """The columns that a function gives for document numbers, always with the same names and types.

    >>> added = AddedColumns(lambda rows: pa.table({"row": pa.array(rows, pa.int64())}))
    >>> added.names, added.take(np.array([3, 5]))["row"].to_pylist()
    (['row'], [3, 5])
    """

    def __init__(self, columns: Callable[[I64], Any]) -> None:
        self._columns = columns
        self.schema = columns(np.empty(0, np.int64)).schema
        self.names: list[str] = self.schema.names
        if not self.names or len(set(self.names)) < len(self.names):
            raise MismatchError(f"the columns to add must have distinct names, and there must be one: {self.names}")
        for field in self.schema:
            if field.type not in TYPES:
                kinds = ", ".join(map(str, TYPES))
                raise MismatchError(f"the column to add {field.name!r} is {field.type}. Use one of: {kinds}.")

    def take(self, rows: I64) -> Any:
        """Return the columns of these documents, as a table with one chunk in each; nothing is asked for no rows."""
        if not len(rows):
            return pa.table([pa.array([], kind) for kind in self.schema.types], schema=self.schema)
        table = self._columns(rows).combine_chunks()
        if not table.schema.equals(self.schema) or table.num_rows != len(rows):
            raise MismatchError(
                f"{len(rows)} documents were to get the columns {_listed(self.schema)}, "
                f"but there are {table.num_rows} rows of {_listed(table.schema)}"
            )
        for name, column in zip(table.column_names, table.columns, strict=True):
            if column.type == pa.float64() and not pc.all(pc.is_finite(column), min_count=0).as_py():
                raise MismatchError(f"the column to add {name!r} holds a number that is not finite. Use null for none.")
        return table


@dataclass(frozen=True, eq=False)
class Listing:
    """The list of a run, as TSV: documents that cannot hold the added columns, with these columns beside their names.

    `ids` gives the ids of document numbers.
    """

    path: Path
    names: list[str]
    ids: Callable[[I64], Any]

    def append(self, labels: Any, added: Any) -> None:
        """Append documents, named by their files or ids; the list appears with the first of them."""
        if not added.num_rows:
            return
        with open(self.path, "ab") as file:
            if file.tell() == 0:
                names = ["file", *free_names(self.names, ["file"])]
                file.write(_TAB.join(quoted(name, _TAB) for name in names) + b"\n")
            file.write(concatenated(joined(csv_fields(labels, _TAB), more_fields(added, _TAB), "\n")))


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Return the names of new columns; a name that is taken gets a number. Names are equal letter by letter.

    >>> free_names(["kept", "similarity"], ["text", "Kept", "similarity", "similarity_1"])
    ['kept', 'similarity_2']
    """
    used = set(taken)
    names = []
    for name in wanted:
        free, number = name, 0
        while free in used:
            number += 1
            free = f"{name}_{number}"
        used.add(free)
        names.append(free)
    return names


def _listed(schema: Any) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
