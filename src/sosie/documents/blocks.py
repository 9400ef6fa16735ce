"""Bytes of a text file, decompressed, in blocks that end at line ends; and where the lines of a block are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.inputs import Input
from sosie.errors import DataError
from sosie.types import I64

BLOCK_BYTES = 4 << 20
# Beyond this a line is taken for something else than one object, so that memory stays bounded.
LINE_BYTES = 256 << 20
BLANK = b" \t\r\n"
BOM = b"\xef\xbb\xbf"
# In this order: the mark of UTF-32 begins like one of UTF-16.
_FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_OPEN, _CLOSE, _NEWLINE, _RETURN = b"{}\n\r"


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a block that are not blank: record i is `block[starts[i]:ends[i]]`, without its newline.

    `numbers` are their physical lines in the block, None if no line is blank. `objects` says whether each of them
    begins with `{` and ends with `}`.
    """

    starts: I64
    ends: I64
    numbers: I64 | None
    total: int
    objects: bool

    def __len__(self) -> int:
        return len(self.starts)


def read_blocks(
    source: Input, size: int | None = None, watch: Callable[[int], None] = lambda position: None
) -> Iterator[bytes]:
    """Yield the bytes of a file, cut after newlines; a line longer than `size` comes in one larger block.

    `watch` is told how far in the file, as it lies on disk, reading has come.
    """
    source.check_unchanged()
    first, pending, begun, held = True, [b""], 0, 0
    for chunk, position in read_chunks(source, size or BLOCK_BYTES):
        watch(position)
        cut = chunk.rfind(b"\n") + 1
        held += len(chunk)
        if not cut:
            pending.append(chunk)
            if held > LINE_BYTES:
                raise DataError(
                    f"{source.path}: the line that begins at byte {begun + 1:,} is longer than {LINE_BYTES >> 20} MiB. "
                    "Is this one object per line? Split the line or leave the file out."
                )
            continue
        begun += held - (len(chunk) - cut)
        held = len(chunk) - cut
        block = b"".join([*pending, chunk[:cut]])
        pending = [chunk[cut:]]
        yield block.removeprefix(BOM) if first else block
        first = False
    rest = b"".join(pending)
    rest = rest.removeprefix(BOM) if first else rest
    if rest:
        yield rest
    source.check_unchanged()


def read_chunks(source: Input, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the decompressed bytes of a file, at most `size` at a time, and how far in the file reading has come."""
    try:
        with contextlib.ExitStack() as stack:
            raw: Any = stack.enter_context(open(source.path, "rb", buffering=0))
            stream = raw
            if source.compression:
                file = stack.enter_context(pa.PythonFile(raw, "r"))
                stream = stack.enter_context(pa.CompressedInputStream(file, source.compression))
            expanded = 0
            while chunk := stream.read(size):
                if not expanded and (encoding := foreign_encoding(chunk)):
                    raise DataError(
                        f"{source.path}: is {encoding} by its byte order mark, and Sosie reads UTF-8. Convert it: "
                        f"iconv -f {encoding} -t UTF-8."
                    )
                expanded += len(chunk)
                position = raw.tell()
                if position > source.size:
                    raise source.changed()
                if source.compression:
                    source.check_expansion(expanded)
                yield chunk, position
    except (OSError, pa.ArrowException) as error:
        source.check_unchanged()
        damaged = f"damaged or cut short {source.compression}: " if source.compression else ""
        raise DataError(
            f"{source.path}: cannot be read ({damaged}{error}). Restore the file or leave it out."
        ) from error


def foreign_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a file say it has, None if they do not or say UTF-8."""
    return next((encoding for mark, encoding in _FOREIGN.items() if head.startswith(mark)), None)


def find_lines(block: bytes) -> Lines:
    r"""Find the lines that are not blank; only \\n ends a line.

    >>> lines = find_lines(b'{"a": 1}\n\n {"b": 2}')
    >>> lines.starts.tolist(), lines.ends.tolist(), lines.numbers.tolist(), lines.total, lines.objects
    ([0, 10], [8, 19], [0, 2], 3, True)
    """
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    if len(data) and data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    total = len(ends)
    starts = np.zeros(total, np.int64)
    starts[1:] = ends[:-1] + 1
    unusual = np.flatnonzero(data[starts] != _OPEN)
    blank = [line for line in unusual if not block[starts[line] : ends[line]].strip(BLANK)]
    objects = all(block[starts[line] : ends[line]].lstrip(BLANK)[:1] in (b"{", b"") for line in unusual)
    numbers = None
    if blank:
        numbers = np.delete(np.arange(total), blank)
        starts, ends = starts[numbers], ends[numbers]
    return Lines(starts, ends, numbers, total, objects and _all_close(block, data, starts, ends))


def _all_close(block: bytes, data: Any, starts: I64, ends: I64) -> bool:
    last = data[ends - 1]
    returns = np.flatnonzero(last == _RETURN)
    last[returns] = data[ends[returns] - 2]
    unusual = np.flatnonzero(last != _CLOSE)
    return all(block[starts[line] : ends[line]].rstrip(BLANK).endswith(b"}") for line in unusual)


def is_utf8(block: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    offsets = np.array([0, len(block)], np.int64)
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(block)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
