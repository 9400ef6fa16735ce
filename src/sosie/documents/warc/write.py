"""WARC to their places: the bytes of every record as they are, and one list of the columns that they cannot hold."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.share import ANNOTATED, COPIED, Share
from sosie.documents.warc.blocks import WarcBlock, read_warc
from sosie.documents.warc.zstd_frames import read_dictionary

_CHUNK = 1 << 20


def split_warc(share: Share, advance: Callable[[int], None]) -> int:
    """Copy the records of one input to their places; return how many documents it had.

    Records that are no documents stay with the copies, or with the annotated ones where all are annotated.
    """
    done = 0
    other = int(COPIED if share.copies is not None else ANNOTATED)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(share.source.open(_CHUNK))
        paths = {int(COPIED): share.copies, int(ANNOTATED): share.annotated}
        targets = {place: stack.enter_context(open(path, "xb")) for place, path in paths.items() if path is not None}
        if share.source.compression == "zstd" and share.copies is not None and share.annotated is not None:
            targets[int(ANNOTATED)].write(read_dictionary(source))
        for block in read_warc(share.source):
            places = share.places(done, len(block))
            for place, start, end in _runs(block, places, other):
                if place in targets:
                    _copy(source, targets[place], start, end)
            chosen = share.first + done + np.flatnonzero(places == ANNOTATED)
            share.listing.append(share.listing.ids(chosen).cast(pa.large_string()), share.columns(done, places))
            done += len(block)
            advance(len(block))
    return done


def _runs(block: WarcBlock, places: NDArray[np.uint8], other: int) -> Iterator[tuple[int, int, int]]:
    """Yield the place, the start and the end of neighbours that share their place; `other` is that of no documents."""
    all_places = np.full(len(block.spans), other)
    all_places[block.numbers] = places
    bounds = [0, *(np.flatnonzero(np.diff(all_places)) + 1).tolist(), len(all_places)]
    for first, stop in pairwise(bounds):
        yield int(all_places[first]), block.spans[first].start, block.spans[stop - 1].end


def _copy(source: IO[bytes], target: IO[bytes], start: int, end: int) -> None:
    source.seek(start)
    while start < end and (chunk := source.read(min(_CHUNK, end - start))):
        target.write(chunk)
        start += len(chunk)
