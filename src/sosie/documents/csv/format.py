"""CSV and TSV as a format: they differ in what separates fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import pyarrow as pa

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.csv.blocks import CsvBlock, csv_blocks_at, read_csv, read_header, with_delimiter
from sosie.documents.csv.decode import decode_records
from sosie.documents.csv.write import split_records
from sosie.documents.format import STREAMS, Format, Probe
from sosie.documents.input import Input
from sosie.documents.share import Share
from sosie.types import I64


class SeparatedValues(Format[CsvBlock]):
    """A piece is a block of whole records."""

    name = "csv"
    suffixes: ClassVar = {".csv": "csv", ".tsv": "tsv"}
    compressions = STREAMS
    options = ("delimiter", "encoding")
    unit = "line"

    def settle(self, source: Input, texts: Sequence[str]) -> Input:
        """Find another delimiter where the header has the wanted columns only if it separates them."""
        return source if source.delimiter is not None else with_delimiter(source, texts)

    def probe(self, source: Input) -> Probe:
        """The header has the names; all columns are text."""
        header = read_header(source)
        fields = [] if header is None else [pa.field(name, pa.large_string()) for name in header.names]
        return Probe(None if header is None else pa.schema(fields))

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[CsvBlock]:
        """Yield blocks of records."""
        return read_csv(source, watch=watch)

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[CsvBlock, int]] | None:
        """Yield records from some places of a file that is neither packed nor in another encoding."""
        return None if source.compression or source.encoding else csv_blocks_at(source, places, size)

    def held(self, piece: CsvBlock) -> int:
        """Return the size of a piece."""
        return len(piece.data)

    def decode(self, piece: CsvBlock, columns: Columns) -> Records:
        """Decode a block of records."""
        return decode_records(piece, columns)

    def fetch(self, piece: CsvBlock, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode a block of the wanted records alone."""
        inside = wanted[wanted < len(piece)]
        return len(piece), [(inside, decode_records(piece.take(inside), columns))]

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Copy records after the header, or append fields to them."""
        return split_records(share, threads, advance)


CSV = SeparatedValues()
