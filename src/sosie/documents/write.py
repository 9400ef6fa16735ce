"""Documents go where they belong: kept and dropped, or annotated, file by file as they came."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.documents.formats import format_of
from sosie.documents.input import Input
from sosie.documents.reading import Reading
from sosie.documents.share import ANNOTATED, LEFT_OUT, AddedColumns, Listing, Share
from sosie.errors import MismatchError
from sosie.storage.finished import FinishedFiles
from sosie.types import I64

__all__ = ["DROPPED", "KEPT", "REJECTED", "Decisions", "Written", "write_documents"]


KEPT, DROPPED, REJECTED = np.uint8(0), np.uint8(1), np.uint8(2)
_DROPPED_LIST, _ANNOTATED_LIST = "dropped.tsv", "annotations.tsv"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of every document, by document number: `state` is KEPT, DROPPED or REJECTED.

    `columns` gives the columns that are added to some documents, as a table with a row for each of the numbers it is
    given: any columns of text, int64, float64 or bool, always the same ones, null where there is no value.
    """

    state: NDArray[np.uint8]
    columns: Callable[[I64], Any]

    def __post_init__(self) -> None:
        if len(self.state) and self.state.max() > REJECTED:
            raise MismatchError(f"states are 0, 1 and 2, got {self.state.max()}")


@dataclass(frozen=True)
class Written:
    """How many documents went where."""

    kept: int
    dropped: int
    rejected: int


def write_documents(
    reading: Reading,
    decisions: Decisions,
    directory: str | os.PathLike[str],
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
    annotate: bool = False,
    finished: FinishedFiles | None = None,
    only: range | None = None,
) -> Written:
    """Read the inputs again and write `kept/<name>` and `dropped/<name>`, in the format of each input.

    Kept lines and records are copied byte for byte; dropped documents get the columns of the decisions as members or
    columns; where a document or a file has such a name already, the new one is `name_1` (`_2`, ...). `kept/<name>`
    always appears, `dropped/<name>` if it holds a document. Blank lines are not copied. Text files and records
    of WARC are copied, and `dropped.tsv` lists the dropped ones with their columns. `advance` is told how many
    documents were written.

    With `annotate`, there is `annotated/<name>` instead, with all documents that are not rejected, in their order and
    each with the columns; text files and records of WARC are listed in `annotations.tsv`. Inputs whose files are all
    `finished` are passed over; text files and WARC are always copied. With `only`, so are all inputs but these.
    """
    if not reading.finished or len(decisions.state) != reading.documents:
        raise MismatchError(f"{len(decisions.state)} decisions for {reading.documents} documents")
    added = AddedColumns(decisions.columns)
    listing = Listing(Path(directory) / (_ANNOTATED_LIST if annotate else _DROPPED_LIST), added.names, reading.ids.take)
    first = 0
    for number, (source, count) in enumerate(zip(reading.inputs, reading.counts.tolist(), strict=True)):
        if only is not None and number not in only:
            first += count
            continue
        state = decisions.state[first : first + count]
        place = np.where(state == REJECTED, LEFT_OUT, ANNOTATED) if annotate else state
        share = Share(source, first, place, added, *_files(source, state, Path(directory), annotate), listing)
        # A list is made by all inputs together, so those that go there are never passed over.
        own = share.files if format_of(source).naming is None else []
        if finished is not None and own and all(file in finished for file in own):
            done = count
            advance(count)
        else:
            done = format_of(source).write(share, threads, advance)
        if done != count:
            raise source.changed()
        if finished is not None and own:
            finished.add(own)
        first += count
    counts = np.bincount(decisions.state, minlength=3)
    return Written(*counts.tolist())


def _files(source: Input, state: NDArray[np.uint8], directory: Path, annotate: bool) -> tuple[Path | None, Path | None]:
    """Return where the copies and the annotated documents of an input go; a folder for text files."""
    copies = None if annotate else directory / "kept"
    annotated = directory / "annotated" if annotate else directory / "dropped" if np.any(state == DROPPED) else None
    if source.files is not None:
        return copies, annotated
    paths = [folder and folder / source.name for folder in (copies, annotated)]
    for path in paths:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    return paths[0], paths[1]
