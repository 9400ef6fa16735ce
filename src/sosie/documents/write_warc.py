"""WARC to kept and dropped: the bytes of every record as they are; `dropped.tsv` lists the dropped documents."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import IO, Any

import numpy as np

from sosie.documents.share import DROPPED, KEPT, Share
from sosie.documents.warc_blocks import WarcBlock, read_warc
from sosie.documents.zstd_frames import read_dictionary

_CHUNK = 1 << 20


def split_warc(share: Share, advance: Callable[[int], None]) -> int:
    """Copy the records of one input where its decisions say; return how many documents it had.

    Records that are no documents are kept. Rejected ones are copied nowhere.
    """
    done = 0
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open(share.source.path, "rb"))
        targets: dict[int, IO[bytes]] = {int(KEPT): stack.enter_context(open(share.kept, "xb"))}
        if share.has_dropped:
            targets[int(DROPPED)] = stack.enter_context(open(share.dropped, "xb"))
            if share.source.compression == "zstd":
                targets[int(DROPPED)].write(read_dictionary(source))
        for block in read_warc(share.source):
            state = share.state[done : done + len(block)]
            if len(state) < len(block):
                raise share.source.changed()
            for target, start, end in _runs(block, state):
                if target in targets:
                    _copy(source, targets[target], start, end)
            done += len(block)
            advance(len(block))
    return done


def _runs(block: WarcBlock, state: Any) -> Iterator[tuple[int, int, int]]:
    """Yield the state, the start and the end of neighbours that share their state."""
    states = np.full(len(block.spans), KEPT)
    states[block.numbers] = state
    bounds = [0, *(np.flatnonzero(np.diff(states)) + 1).tolist(), len(states)]
    for first, stop in pairwise(bounds):
        yield int(states[first]), block.spans[first].start, block.spans[stop - 1].end


def _copy(source: IO[bytes], target: IO[bytes], start: int, end: int) -> None:
    source.seek(start)
    while start < end and (chunk := source.read(min(_CHUNK, end - start))):
        target.write(chunk)
        start += len(chunk)
