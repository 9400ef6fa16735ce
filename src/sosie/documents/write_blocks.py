"""Blocks of lines or records to kept and dropped: kept ones byte for byte, in runs, in the input's compression."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.share import DROPPED, KEPT, Share
from sosie.kernels.parallel import ordered_map
from sosie.types import F64, I64, Bools

_GZIP_LEVEL = 6
# A record without its newline, the id of the kept twin, the similarity -> the record with both, and a newline.
Splice = Callable[[bytes, "str | int", float], bytes]


class Spans(Protocol):
    """Where the records of a block are, without their newlines."""

    @property
    def starts(self) -> I64:
        """Where they begin."""

    @property
    def ends(self) -> I64:
        """Where they end."""


@dataclass(frozen=True, eq=False)
class Portion:
    """A block and what becomes of each of its records; ids and similarities of the dropped ones."""

    block: bytes
    spans: Spans
    state: NDArray[np.uint8]
    duplicate_of: Any
    similarity: F64


def split_blocks(
    share: Share,
    blocks: Iterator[tuple[bytes, Spans]],
    splice: Splice,
    heads: tuple[bytes, bytes],
    threads: int | None,
    advance: Callable[[int], None],
) -> int:
    """Write the records of one input where its decisions say, each file after its head; return how many there were."""
    compression = share.source.compression
    pack = _member if compression == "gzip" else bytes
    done = 0
    with contextlib.ExitStack() as stack:
        kept_file = stack.enter_context(_create(share.kept, compression))
        kept_file.write(pack(heads[0]))
        dropped_file = None
        if share.has_dropped:
            dropped_file = stack.enter_context(_create(share.dropped, compression))
            dropped_file.write(pack(heads[1]))
        split = partial(_split, splice=splice, pack=pack)
        for count, kept, dropped in ordered_map(split, _portions(share, blocks), threads):
            done += count
            advance(count)
            kept_file.write(kept)
            if dropped_file is not None:
                dropped_file.write(dropped)
    return done


def _portions(share: Share, blocks: Iterator[tuple[bytes, Spans]]) -> Iterator[Portion]:
    done = dropped = 0
    for block, spans in blocks:
        count = len(spans.starts)
        state = share.state[done : done + count]
        if len(state) < count:
            raise share.source.changed()
        gone = slice(dropped, dropped + int(np.count_nonzero(state == DROPPED)))
        yield Portion(block, spans, state, share.duplicate_of[gone], share.similarity[gone])
        done, dropped = done + count, gone.stop


def _split(portion: Portion, splice: Splice, pack: Callable[[bytes], bytes]) -> tuple[int, bytes, bytes]:
    """Return how many records there are, and the bytes to write as kept and as dropped."""
    block, spans = portion.block, portion.spans
    gone = portion.state == DROPPED
    places = zip(spans.starts[gone].tolist(), spans.ends[gone].tolist(), strict=True)
    values = zip(places, portion.duplicate_of.to_pylist(), portion.similarity.tolist(), strict=True)
    dropped = b"".join([splice(block[start:end], twin, similarity) for (start, end), twin, similarity in values])
    return len(spans.starts), pack(_copy(block, spans, portion.state == KEPT)), pack(dropped)


def _copy(block: bytes, spans: Spans, chosen: Bools) -> bytes:
    """Join the chosen records, newlines included; neighbours are copied as one run."""
    starts, ends = spans.starts[chosen], spans.ends[chosen] + 1
    if not len(starts):
        return b""
    first = np.ones(len(starts), bool)
    first[1:] = starts[1:] != ends[:-1]
    last = np.roll(first, -1)
    view = memoryview(block)
    joined = b"".join([view[start:end] for start, end in zip(starts[first].tolist(), ends[last].tolist(), strict=True)])
    return joined if joined.endswith(b"\n") else joined + b"\n"


def _member(content: bytes) -> bytes:
    """Return a member of a gzip file, without name and time; a file may have any number of them."""
    return gzip.compress(content, _GZIP_LEVEL, mtime=0) if content else b""


@contextlib.contextmanager
def _create(path: Path, compression: str | None) -> Iterator[Any]:
    """Create a file; the same content always gives the same bytes. Gzip comes as members."""
    with open(path, "xb") as file:
        if compression == "zstd":
            # One frame: some readers stop after the first.
            with pa.PythonFile(file, "w") as sink, pa.CompressedOutputStream(sink, "zstd") as stream:
                yield stream
            return
        yield file
        if compression == "gzip" and file.tell() == 0:
            file.write(gzip.compress(b"", _GZIP_LEVEL, mtime=0))
