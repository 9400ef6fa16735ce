"""Tab-separated text: on each line a text and its translation, nothing quoted; other columns are ignored."""

from __future__ import annotations

from sosie.crosslingual.parallel.file import read_lines
from sosie.crosslingual.parallel.segment import Gathered
from sosie.documents.input import Input
from sosie.errors import DataError

SUFFIXES = (".tsv",)
_HEADER = ["source", "target"]


def read_tsv(place: Input, gathered: Gathered) -> None:
    """Gather the pairs of a file; a first line `source` and `target` is a header, in whatever case."""
    for number, line in read_lines(place):
        cells = line.split("\t", 2)
        if len(cells) < 2:
            raise DataError(
                f"{place.path}, line {number:,}: has no tab. Each line is a text, a tab and its translation: mend the "
                "line or leave it out."
            )
        if number > 1 or [cell.strip().lower() for cell in cells[:2]] != _HEADER:
            gathered.add(cells[0], cells[1])
