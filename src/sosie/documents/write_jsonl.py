"""JSON lines to kept and dropped: kept lines byte for byte, in runs; dropped ones with two more members."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.blocks import BLANK, Lines, find_lines, read_blocks
from sosie.documents.line import members_of
from sosie.documents.share import DROPPED, KEPT, MEMBERS, Share, free_names
from sosie.kernels.parallel import ordered_map
from sosie.types import F64, Bools

_GZIP_LEVEL = 6


@dataclass(frozen=True, eq=False)
class Portion:
    """A block of lines and what becomes of each; ids and similarities of its dropped lines."""

    block: bytes
    lines: Lines
    state: NDArray[np.uint8]
    duplicate_of: Any
    similarity: F64


def split_lines(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the lines of one input where its decisions say; return how many records it had."""
    compression = share.source.compression
    done = 0
    with contextlib.ExitStack() as stack:
        kept_file = stack.enter_context(_create(share.kept, compression))
        dropped_file = stack.enter_context(_create(share.dropped, compression)) if share.has_dropped else None
        split = partial(_split, pack=compression == "gzip")
        for count, kept, dropped in ordered_map(split, _portions(share), threads):
            done += count
            advance(count)
            kept_file.write(kept)
            if dropped_file is not None:
                dropped_file.write(dropped)
    return done


def _portions(share: Share) -> Iterator[Portion]:
    done = dropped = 0
    for block in read_blocks(share.source):
        lines = find_lines(block)
        state = share.state[done : done + len(lines)]
        if len(state) < len(lines):
            raise share.source.changed()
        gone = slice(dropped, dropped + int(np.count_nonzero(state == DROPPED)))
        yield Portion(block, lines, state, share.duplicate_of[gone], share.similarity[gone])
        done, dropped = done + len(lines), gone.stop


def _split(portion: Portion, pack: bool) -> tuple[int, bytes, bytes]:
    """Return how many records there are, and the bytes to write as kept and as dropped."""
    block, lines = portion.block, portion.lines
    kept = _copy(block, lines, portion.state == KEPT)
    gone = np.flatnonzero(portion.state == DROPPED).tolist()
    values = zip(gone, portion.duplicate_of.to_pylist(), portion.similarity.tolist(), strict=True)
    dropped = b"".join(
        [splice(block[lines.starts[line] : lines.ends[line]], twin, similarity) for line, twin, similarity in values]
    )
    return len(lines), _member(kept) if pack else kept, _member(dropped) if pack else dropped


def splice(line: bytes, duplicate_of: str | int, similarity: float) -> bytes:
    r"""Append two members to the object in a line, leaving the rest of it as it is.

    >>> splice(b'{"text": "a rose" }\r\n', "b.jsonl:4", 0.875)
    b'{"text": "a rose", "duplicate_of": "b.jsonl:4", "similarity": 0.875}\n'
    """
    names = list(MEMBERS)
    # A name may also be spelt with escapes of ASCII characters.
    if any(mark in line for mark in (b'"duplicate_of', b'"similarity', b"\\u00")):
        members = members_of(line)
        names = free_names(MEMBERS if members is None else members.names())
    body = line.rstrip(BLANK)[:-1].rstrip(BLANK)
    added = json.dumps(dict(zip(names, (duplicate_of, similarity), strict=True)), ensure_ascii=False)
    separator = b"" if body.lstrip(BLANK) == b"{" else b", "
    return body + separator + added[1:].encode("utf-8") + b"\n"


def _with_lines(block: bytes) -> tuple[bytes, Lines]:
    return block, find_lines(block)


def _copy(block: bytes, lines: Lines, chosen: Bools) -> bytes:
    """Join the chosen lines, newlines included; neighbours are copied as one run."""
    starts, ends = lines.starts[chosen], lines.ends[chosen] + 1
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
    """Create a file of JSON lines; the same lines always give the same bytes. Gzip comes as members."""
    with open(path, "xb") as file:
        if compression == "zstd":
            # One frame: some readers stop after the first.
            with pa.PythonFile(file, "w") as sink, pa.CompressedOutputStream(sink, "zstd") as stream:
                yield stream
            return
        yield file
        if compression == "gzip" and file.tell() == 0:
            file.write(gzip.compress(b"", _GZIP_LEVEL, mtime=0))
