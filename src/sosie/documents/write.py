"""Documents go where they belong: kept and dropped, file by file as they came."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sosie.documents.inputs import Input
from sosie.documents.reading import Reading
from sosie.documents.share import DROPPED, KEPT, REJECTED, Share
from sosie.documents.write_csv import split_records
from sosie.documents.write_jsonl import split_lines
from sosie.documents.write_parquet import split_rows
from sosie.documents.write_text import split_files
from sosie.errors import MismatchError
from sosie.storage.finished import FinishedFiles
from sosie.types import F64, I64

__all__ = ["DROPPED", "KEPT", "REJECTED", "Decisions", "Written", "write_documents"]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of every document, by document number.

    `state` is KEPT, DROPPED or REJECTED. A dropped document i is a duplicate of document `duplicate_of[i]`, with
    `similarity[i]`; elsewhere both are ignored.
    """

    state: NDArray[np.uint8]
    duplicate_of: I64
    similarity: F64

    def __post_init__(self) -> None:
        sizes = {len(self.state), len(self.duplicate_of), len(self.similarity)}
        if len(sizes) > 1 or (len(self.state) and self.state.max() > REJECTED):
            raise MismatchError("decisions are three arrays of one length, with states 0, 1 and 2")


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
    finished: FinishedFiles | None = None,
) -> Written:
    """Read the inputs again and write `kept/<name>` and `dropped/<name>`, in the format of each input.

    Kept lines and records are copied byte for byte; dropped documents get two more members or columns, `duplicate_of`
    (an id) and `similarity`; where a document or a file has such a name already, the new one is `duplicate_of_1`
    (`_2`, ...). `kept/<name>` always appears, `dropped/<name>` if it holds a document. Blank lines are not copied.
    Text files are copied, and `dropped.tsv` lists the dropped ones. `advance` is told how many documents were written.
    Inputs whose files are all `finished` are passed over; text files are always copied.
    """
    if not reading.finished or len(decisions.state) != reading.documents:
        raise MismatchError(f"{len(decisions.state)} decisions for {reading.documents} documents")
    first = 0
    for source, count in zip(reading.inputs, reading.counts.tolist(), strict=True):
        span = slice(first, first + count)
        share = _share(source, span, decisions, reading, Path(directory))
        if finished is not None and share.files and all(file in finished for file in share.files):
            done = count
            advance(count)
        elif source.files is not None:
            done = split_files(share, source.files, threads, advance)
        elif source.format == "jsonl":
            done = split_lines(share, threads, advance)
        elif source.format in ("csv", "tsv"):
            done = split_records(share, threads, advance)
        else:
            done = split_rows(share, reading.table, threads, advance)
        if done != count:
            raise source.changed()
        if finished is not None and share.files:
            finished.add(share.files)
        first += count
    counts = np.bincount(decisions.state, minlength=3)
    return Written(*counts.tolist())


def _share(source: Input, span: slice, decisions: Decisions, reading: Reading, directory: Path) -> Share:
    """Cut the decisions about one input; `duplicate_of` becomes the ids for its dropped documents, in order."""
    state = decisions.state[span]
    dropped = state == DROPPED
    ids = reading.ids.take(decisions.duplicate_of[span][dropped])
    folders = (directory / "kept", directory / "dropped")
    if source.files is not None:
        return Share(source, state, ids, decisions.similarity[span][dropped], *folders)
    folders = (folders[0] / source.name, folders[1] / source.name)
    for path in folders if dropped.any() else folders[:1]:
        path.parent.mkdir(parents=True, exist_ok=True)
    return Share(source, state, ids, decisions.similarity[span][dropped], *folders)
