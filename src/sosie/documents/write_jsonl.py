"""JSON lines to kept and dropped: kept lines byte for byte, in runs; dropped ones with two more members."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.blocks import BLANK, Lines, find_lines, read_blocks
from sosie.documents.line import members_of
from sosie.documents.share import DROPPED, KEPT, MEMBERS, Share, free_names
from sosie.kernels.parallel import ordered_map
from sosie.types import Bools

_GZIP_LEVEL = 6


def split_lines(share: Share, threads: int | None) -> int:
    """Write the lines of one input where its decisions say; return how many records it had."""
    done = dropped = 0
    with contextlib.ExitStack() as stack:
        kept_file = stack.enter_context(_create(share.kept, share.source.compression))
        dropped_file = None
        if share.has_dropped:
            dropped_file = stack.enter_context(_create(share.dropped, share.source.compression))
        for block, lines in ordered_map(_with_lines, read_blocks(share.source), threads):
            state = share.state[done : done + len(lines)]
            done += len(lines)
            if len(state) < len(lines):
                return done
            kept_file.write(_copy(block, lines, state == KEPT))
            gone = np.flatnonzero(state == DROPPED)
            if dropped_file is not None and len(gone):
                span = slice(dropped, dropped + len(gone))
                values = zip(gone, share.duplicate_of[span].to_pylist(), share.similarity[span].tolist(), strict=True)
                spliced = [
                    splice(block[lines.starts[line] : lines.ends[line]], twin, similarity)
                    for line, twin, similarity in values
                ]
                dropped_file.write(b"".join(spliced))
                dropped += len(gone)
    return done


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


@contextlib.contextmanager
def _create(path: Path, compression: str | None) -> Iterator[Any]:
    """Create a file of JSON lines; the same lines always give the same bytes."""
    with open(path, "xb") as file:
        if compression == "gzip":
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as stream:
                yield stream
        elif compression == "zstd":
            with pa.PythonFile(file, "w") as sink, pa.CompressedOutputStream(sink, "zstd") as stream:
                yield stream
        else:
            yield file
