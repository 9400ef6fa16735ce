"""Blocks of lines or records to their places: copied in runs or with more columns, in the input's compression."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.blocks import coder_of
from sosie.documents.dialect import Transcoder
from sosie.documents.input import Input
from sosie.documents.share import ANNOTATED, COPIED, Share
from sosie.parallel import ordered_map
from sosie.types import I64

_GZIP_LEVEL = 6


class Spans(Protocol):
    """Where the records of a block are, without their newlines."""

    @property
    def starts(self) -> I64:
        """Where they begin."""

    @property
    def ends(self) -> I64:
        """Where they end."""


@dataclass(frozen=True, eq=False)
class RecordCut:
    """Some records of a block that ends with a newline: `block[starts[i]:ends[i]]`, and a newline after each."""

    block: bytes
    starts: I64
    ends: I64


# Records and the columns to add, row by row -> the bytes to write.
Splice = Callable[[RecordCut, Any], bytes]


@dataclass(frozen=True, eq=False)
class Portion:
    """A block and what becomes of each of its records; `start` is the first one's place in the input."""

    block: bytes
    spans: Spans
    place: NDArray[np.uint8]
    start: int

    def cut(self, place: np.uint8) -> RecordCut:
        """Return the records of one place."""
        chosen = self.place == place
        block = self.block if self.block.endswith(b"\n") else self.block + b"\n"
        return RecordCut(block, self.spans.starts[chosen], self.spans.ends[chosen])


@dataclass(frozen=True, eq=False)
class Packing:
    """How the bytes of a file are written: in the encoding and the compression of an input.

    The same content always gives the same bytes. But for zstd, what is packed at a time is a member of the file, so
    that threads can pack.
    """

    compression: str | None
    coder: Transcoder | None

    @classmethod
    def of(cls, source: Input) -> Packing:
        """Return how an input is written."""
        return cls(source.compression, coder_of(source))

    def pack(self, content: bytes) -> bytes:
        """Return some content, UTF-8, as it is written."""
        if not content:
            return b""
        return self._member(content if self.coder is None else self.coder.encode(content))

    @contextlib.contextmanager
    def create(self, path: Path) -> Iterator[Any]:
        """Create a file that takes what is packed."""
        with open(path, "xb") as file:
            mark = b"" if self.coder is None else self.coder.mark
            if self.compression == "zstd":
                # One frame: some readers stop after the first.
                with pa.PythonFile(file, "w") as sink, pa.CompressedOutputStream(sink, "zstd") as stream:
                    stream.write(mark)
                    yield stream
                return
            file.write(self._member(mark) if mark else b"")
            yield file
            if file.tell() == 0:
                file.write(self._member(b""))

    def _member(self, content: bytes) -> bytes:
        """Return a member of a file, without name and time; a file may have any number of them."""
        if self.compression == "gzip":
            return gzip.compress(content, _GZIP_LEVEL, mtime=0)
        if self.compression == "bz2":
            return bz2.compress(content)
        if self.compression == "xz":
            return lzma.compress(content)
        return content


def split_blocks(
    share: Share,
    blocks: Iterator[tuple[bytes, Spans]],
    splice: Splice,
    heads: tuple[bytes, bytes],
    threads: int | None,
    advance: Callable[[int], None],
) -> int:
    """Write the records of one input to their places, each file after its head; return how many there were."""
    packed = Packing.of(share.source)
    done = 0
    with contextlib.ExitStack() as stack:
        files = []
        for path, head in zip((share.copies, share.annotated), heads, strict=True):
            files.append(None if path is None else stack.enter_context(packed.create(path)))
            if files[-1] is not None:
                files[-1].write(packed.pack(head))
        # Columns are asked for in order and by one thread.
        portions = ((each, share.columns(each.start, each.place)) for each in cut_portions(share, blocks))
        for count, contents in ordered_map(partial(_split, splice=splice, pack=packed.pack), portions, threads):
            done += count
            advance(count)
            for file, content in zip(files, contents, strict=True):
                if file is not None:
                    file.write(content)
    return done


def cut_portions(share: Share, blocks: Iterator[tuple[bytes, Spans]]) -> Iterator[Portion]:
    """Yield the blocks of one input with what becomes of their records."""
    done = 0
    for block, spans in blocks:
        count = len(spans.starts)
        yield Portion(block, spans, share.places(done, count), done)
        done += count


def _split(
    item: tuple[Portion, Any], splice: Splice, pack: Callable[[bytes], bytes]
) -> tuple[int, tuple[bytes, bytes]]:
    """Return how many records there are, and the bytes to write as copies and as annotated."""
    portion, added = item
    annotated = splice(portion.cut(ANNOTATED), added) if added.num_rows else b""
    return len(portion.place), (pack(_copy(portion.cut(COPIED))), pack(annotated))


def _copy(cut: RecordCut) -> bytes:
    """Join records, newlines included; neighbours are copied as one run."""
    starts, ends = cut.starts, cut.ends + 1
    if not len(starts):
        return b""
    first = np.ones(len(starts), bool)
    first[1:] = starts[1:] != ends[:-1]
    last = np.roll(first, -1)
    view = memoryview(cut.block)
    return b"".join([view[start:end] for start, end in zip(starts[first].tolist(), ends[last].tolist(), strict=True)])
