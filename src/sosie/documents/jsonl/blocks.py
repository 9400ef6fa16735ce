"""Bytes of a file of lines in blocks that end at line ends; and where the lines of a block are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.documents import blocks
from sosie.documents.blocks import BOM, read_chunks
from sosie.documents.input import Input
from sosie.errors import DataError
from sosie.types import I64

# Beyond this a line is taken for something else than one object, so that memory stays bounded.
LINE_BYTES = 256 << 20
BLANK = b" \t\r\n"
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
    for chunk, position in read_chunks(source, size or blocks.BLOCK_BYTES):
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
