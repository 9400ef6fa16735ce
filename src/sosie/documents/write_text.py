"""Text files to kept and dropped: copies under their names, and `dropped.tsv`, which says why the dropped ones went."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.csv_record import quoted
from sosie.documents.folder import TextFiles
from sosie.documents.share import DROPPED, KEPT, MEMBERS, Share
from sosie.documents.text_files import read_texts
from sosie.kernels.parallel import ordered_map

LIST = "dropped.tsv"


def split_files(share: Share, files: TextFiles, threads: int | None, advance: Callable[[int], None]) -> int:
    """Copy the files of one input where its decisions say; return how many there were."""
    share.kept.mkdir(parents=True, exist_ok=True)
    done = 0
    for count in ordered_map(_copy, _portions(share, files), threads):
        done += count
        advance(count)
    list_dropped(share, share.dropped.parent, files.labels.filter(pa.array(share.state == DROPPED)))
    return done


@dataclass(frozen=True, eq=False)
class Portion:
    """The contents of some files, and where each goes: `targets[state]`."""

    contents: list[bytes]
    names: list[str]
    state: NDArray[np.uint8]
    targets: dict[int, Path]


def _portions(share: Share, files: TextFiles) -> Iterator[Portion]:
    targets = {int(KEPT): share.kept, int(DROPPED): share.dropped}
    for block in read_texts(files):
        span = slice(block.first, block.first + len(block))
        yield Portion(block.contents, files.names[span], share.state[span], targets)


def _copy(portion: Portion) -> int:
    made: set[str] = set()
    for content, name, state in zip(portion.contents, portion.names, portion.state.tolist(), strict=True):
        if state not in portion.targets:
            continue
        path = f"{portion.targets[state]}/{name}"
        folder = path.rpartition("/")[0]
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        with open(path, "xb", buffering=0) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
    return len(portion.contents)


def list_dropped(share: Share, folder: Path, names: Any) -> None:
    """Append the dropped documents to the list: file, duplicate_of, similarity. There is one list for a run.

    `names` are their ids, which are the names of files where these have one document.
    """
    if not share.has_dropped:
        return
    with open(folder / LIST, "ab") as file:
        if file.tell() == 0:
            file.write("\t".join(["file", *MEMBERS]).encode() + b"\n")
        values = zip(names.to_pylist(), share.duplicate_of.to_pylist(), share.similarity.tolist(), strict=True)
        for name, twin, similarity in values:
            fields = [quoted(name, b"\t"), quoted(str(twin), b"\t"), repr(similarity).encode()]
            file.write(b"\t".join(fields) + b"\n")
