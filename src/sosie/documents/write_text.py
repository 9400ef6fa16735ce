"""Text files to their places: copies under their names, and one list of the columns that they cannot hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.added import free_names
from sosie.documents.csv_record import quoted
from sosie.documents.folder import TextFiles
from sosie.documents.literals import csv_fields
from sosie.documents.share import ANNOTATED, COPIED, Share
from sosie.documents.splice import concatenated, joined
from sosie.documents.text_files import read_texts
from sosie.documents.write_csv import more_fields
from sosie.parallel import ordered_map

DROPPED_LIST, ANNOTATED_LIST = "dropped.tsv", "annotations.tsv"
_TAB = b"\t"


def split_files(share: Share, files: TextFiles, threads: int | None, advance: Callable[[int], None]) -> int:
    """Copy the files of one input to their places; return how many there were."""
    targets = {COPIED: share.copies, ANNOTATED: share.annotated}
    folders = {int(place): folder for place, folder in targets.items() if folder is not None}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for portion in ordered_map(_copy, _portions(share, files, folders), threads):
        if share.annotated is not None:
            labels = portion.labels.filter(pa.array(portion.place == ANNOTATED))
            append_list(share, share.annotated.parent, labels, portion.added)
        done += len(portion.names)
        advance(len(portion.names))
    return done


@dataclass(frozen=True, eq=False)
class Portion:
    """The contents of some files, where each goes (`folders[place]`), and the columns of the annotated ones."""

    contents: list[bytes]
    names: list[str]
    labels: Any
    place: NDArray[np.uint8]
    folders: dict[int, Path]
    added: Any


def _portions(share: Share, files: TextFiles, folders: dict[int, Path]) -> Iterator[Portion]:
    for block in read_texts(files):
        place = share.places(block.first, len(block))
        names = files.names[block.first : block.first + len(block)]
        yield Portion(block.contents, names, block.labels, place, folders, share.columns(block.first, place))


def _copy(portion: Portion) -> Portion:
    made: set[str] = set()
    for content, name, place in zip(portion.contents, portion.names, portion.place.tolist(), strict=True):
        if place not in portion.folders:
            continue
        path = f"{portion.folders[place]}/{name}"
        folder = path.rpartition("/")[0]
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        with open(path, "xb", buffering=0) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
    return portion


def append_list(share: Share, folder: Path, labels: Any, added: Any) -> None:
    """Append documents to the list: file (or id) and the added columns. There is one list for a run."""
    if not added.num_rows:
        return
    name = ANNOTATED_LIST if share.copies is None else DROPPED_LIST
    with open(folder / name, "ab") as file:
        if file.tell() == 0:
            names = ["file", *free_names(share.added.names, ["file"])]
            file.write(_TAB.join(quoted(name, _TAB) for name in names) + b"\n")
        file.write(concatenated(joined(csv_fields(labels, _TAB), more_fields(added, _TAB), "\n")))
