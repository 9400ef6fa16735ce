"""Text and HTML files as a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.format import Format, Naming
from sosie.documents.html import load_resiliparse
from sosie.documents.input import Input
from sosie.documents.share import Share
from sosie.documents.text.files import HTML, TextBlock, decode_texts, files_of, read_texts, texts_at
from sosie.documents.text.write import split_files
from sosie.types import I64


class TextFiles(Format[TextBlock]):
    """A piece is the contents of some files; pages of HTML among them are extracted."""

    name = "text"
    suffixes: ClassVar = {".txt": "text", ".md": "text", ".html": HTML, ".htm": HTML}
    is_whole = True
    options = ("encoding",)
    unit = "file"
    naming = Naming("text files", "their names")

    def load(self, source: Input) -> None:
        """Pages need Resiliparse."""
        if any(entry.format == HTML for entry in files_of(source).entries):
            load_resiliparse()

    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[TextBlock]:
        """Yield the contents of several files at a time."""
        texts = read_texts(files_of(source), source.max_file, watch)
        return (replace(block, encoding=source.encoding) for block in texts)

    def count(self, source: Input) -> int | None:
        """Return how many files there are."""
        return len(files_of(source).entries)

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[TextBlock, int]] | None:
        """Yield some files from each of some places in their list."""
        return texts_at(files_of(source), places, size, source)

    def held(self, piece: TextBlock) -> int:
        """Return the size of a piece."""
        return sum(map(len, piece.contents))

    def decode(self, piece: TextBlock, columns: Columns) -> Records:
        """Check the texts, extract the pages."""
        return decode_texts(piece, columns)

    def fetch(self, piece: TextBlock, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Decode the wanted files alone."""
        inside = wanted[wanted < len(piece)]
        return len(piece), [(inside, decode_texts(piece.take(inside), columns))]

    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Copy files, and list the columns that they cannot hold."""
        return split_files(share, files_of(share.source), threads, advance)


TEXT = TextFiles()
