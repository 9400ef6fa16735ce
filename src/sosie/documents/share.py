"""The records of one input: which are copied as they are, which get columns added, and where they go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.documents.added import AddedColumns
from sosie.documents.inputs import Input

COPIED, ANNOTATED, LEFT_OUT = np.uint8(0), np.uint8(1), np.uint8(2)


@dataclass(frozen=True, eq=False)
class Share:
    """What becomes of each record of an input: COPIED, ANNOTATED or LEFT_OUT.

    `first` is the document number of its first record. The files are None where nothing is to be written:
    `copies` if all documents are annotated, `annotated` if none is.
    """

    source: Input
    first: int
    place: NDArray[np.uint8]
    added: AddedColumns
    copies: Path | None
    annotated: Path | None

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
        """The files that this input becomes, if they are all that it becomes: others are listed, too."""
        if self.source.files is not None or self.source.format == "warc":
            return []
        return [path for path in (self.copies, self.annotated) if path is not None]
