"""WARC as a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.format import Format, Naming
from sosie.documents.html import load_resiliparse
from sosie.documents.input import Input
from sosie.documents.share import Share
from sosie.documents.warc.blocks import WarcBlock, decode_warc, read_warc
from sosie.documents.warc.headers import RECORD_ID, load_fastwarc
from sosie.documents.warc.write import split_warc
from sosie.types import I64


class WebArchive(Format[WarcBlock]):
    """A piece is some records, whether they are documents or not."""

    name = "warc"
    suffixes: ClassVar = {".warc": "warc"}
    compressions = ("gzip", "zstd")
    unit = "record"
    naming = Naming("WARC files", "record ids", RECORD_ID)

    def load(self, source: Input) -> None:
        """Headers need FastWARC, pages Resiliparse."""
        load_fastwarc()
        load_resiliparse()

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[WarcBlock]:
        """Yield several records at a time."""
        return read_warc(source, watch)

    def held(self, piece: WarcBlock) -> int:
        """Return the size of a piece."""
        return sum(len(span.record) for span in piece.spans)

    def decode(self, piece: WarcBlock, columns: Columns) -> Records:
        """Unpack and extract the texts."""
        return decode_warc(piece, columns)

    def fetch(self, piece: WarcBlock, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode the wanted documents alone."""
        inside = wanted[wanted < len(piece)]
        return len(piece), [(inside, decode_warc(piece.take(inside), columns))]

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Copy records, and list the columns that they cannot hold."""
        return split_warc(share, advance)


WARC = WebArchive()
