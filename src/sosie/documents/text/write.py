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

from sosie.documents.input import DocumentFiles
from sosie.documents.share import ANNOTATED, COPIED, Share
from sosie.documents.text.files import read_texts
from sosie.parallel import ordered_map


def split_files(share: Share, files: DocumentFiles, threads: int | None, advance: Callable[[int], None]) -> int:
    """Copy the files of one input to their places; return how many there were."""
    targets = {COPIED: share.copies, ANNOTATED: share.annotated}
    folders = {int(place): folder for place, folder in targets.items() if folder is not None}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for portion in ordered_map(_copy, _portions(share, files, folders), threads):
        if share.annotated is not None:
            labels = portion.labels.filter(pa.array(portion.place == ANNOTATED))
            share.listing.append(labels, portion.added)
        done += len(portion.names)
        advance(len(portion.names))
    return done


@dataclass(frozen=True, eq=False)
class FilePortion:
    """The contents of some files, where each goes (`folders[place]`), and the columns of the annotated ones."""

    contents: list[bytes]
    names: list[str]
    labels: Any
    place: NDArray[np.uint8]
    folders: dict[int, Path]
    added: Any


def _portions(share: Share, files: DocumentFiles, folders: dict[int, Path]) -> Iterator[FilePortion]:
    for block in read_texts(files, share.source.max_file):
        place = share.places(block.first, len(block))
        names = files.names[block.first : block.first + len(block)]
        yield FilePortion(block.contents, names, block.labels, place, folders, share.columns(block.first, place))


def _copy(portion: FilePortion) -> FilePortion:
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
