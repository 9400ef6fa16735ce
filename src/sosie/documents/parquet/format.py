"""Parquet as a format, and tables in memory as another, which becomes Parquet when it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.format import Format, Probe
from sosie.documents.input import Input
from sosie.documents.parquet.read import footer_of, parquet_at, read_parquet, read_schema, slice_table, table_at
from sosie.documents.parquet.write import split_parquet, split_table
from sosie.documents.share import Share
from sosie.documents.tables.decode import decode_columns
from sosie.types import I64

_ROWS = 1 << 16


class ParquetFile(Format[Any]):
    """A piece is an Arrow batch of the wanted columns."""

    name = "parquet"
    suffixes: ClassVar = {".parquet": "parquet"}

    def probe(self, source: Input) -> Probe:
        """The file has a schema."""
        return Probe(read_schema(source))

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[Any]:
        """Yield batches."""
        return read_parquet(source, names, _ROWS, threads, watch)

    def count(self, source: Input) -> int | None:
        """Return what the footer says."""
        return footer_of(source).rows

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[Any, int]] | None:
        """Yield batches from some places."""
        return parquet_at(source, names, places, size)

    def held(self, piece: Any) -> int:
        """Return the size of a piece."""
        return int(piece.nbytes)

    def decode(self, piece: Any, columns: Columns) -> Records:
        """Check the columns of a batch."""
        return decode_columns(piece, columns)

    def fetch(self, piece: Any, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode one slice for each of the rows: not every type of column can be gathered."""
        rows = wanted[wanted < piece.num_rows].tolist()
        return piece.num_rows, [(np.array([row]), decode_columns(piece.slice(row, 1), columns)) for row in rows]

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Write rows with the same schema, metadata and compression, or with more columns."""
        return split_parquet(share, threads, advance)


class MemoryTable(ParquetFile):
    """A table in memory: `Input.table`."""

    name = "arrow"
    suffixes: ClassVar = {}

    def probe(self, source: Input) -> Probe:
        """The table has a schema."""
        return Probe(source.table.schema)

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[Any]:
        """Yield slices."""
        return slice_table(source.table, names, _ROWS)

    def count(self, source: Input) -> int | None:
        """Return the rows of the table."""
        return int(source.table.num_rows)

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[Any, int]] | None:
        """Yield slices from some places."""
        return table_at(source.table, names, places, size)

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Write rows to a Parquet file."""
        return split_table(share, advance)


PARQUET, ARROW = ParquetFile(), MemoryTable()
