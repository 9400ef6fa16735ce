"""Bytes of a file of lines in blocks that end at line ends; and where the lines of a block are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sosie.documents import blocks
from sosie.documents.blocks import BOM, MOST_RECORDS, read_chunks
from sosie.documents.input import Input
from sosie.types import I64

BLANK = b" \t\r\n"
_OPEN, _CLOSE, _NEWLINE = b"{}\n"
_IS_BLANK = np.isin(np.arange(256), list(BLANK))
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_STEPS = 8  # blanks that all spans lose side by side, before those that have more lose theirs one span at a time


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


class LongLine(bytes):
    """What stands for a line that there is no memory for: a block of its own, and a bad record for this reason."""

    reason: str

    @classmethod
    def of(cls, source: Input) -> LongLine:
        """Return what stands for a line of an input."""
        line = cls(b"-")
        line.reason = f"a line {source.too_long}"
        return line


def read_blocks(
    source: Input, size: int | None = None, watch: Callable[[int], None] = lambda position: None
) -> Iterator[bytes]:
    """Yield the bytes of a file, cut after newlines; a line longer than `size` comes in one larger block.

    Of a line that is longer than the input's `max_record`, a `LongLine` comes. `watch` is told how far in the file, as
    it lies on disk, reading has come.
    """
    source.check_unchanged()
    first, pending, held, is_long = True, [b""], 0, False
    for chunk, position in read_chunks(source, size or blocks.BLOCK_BYTES):
        watch(position)
        end = chunk.find(b"\n")
        stop = len(chunk) if end < 0 else end
        if not is_long and held + stop > source.max_record:
            parts = [*pending, chunk[:stop]]
            parts[0] = parts[0].removeprefix(BOM) if first else parts[0]
            is_long = any(part.strip(BLANK) for part in parts)
            pending, held, first = [b""], 0, False
            chunk = chunk if is_long else chunk[stop:]  # blanks before a line mean nothing
        if is_long:
            if end < 0:
                continue
            yield LongLine.of(source)
            chunk, is_long = chunk[end + 1 :], False
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            pending.append(chunk)
            held += len(chunk)
            continue
        block = b"".join([*pending, chunk[:cut]])
        pending, held = [chunk[cut:]], len(chunk) - cut
        yield from _of_few_lines(block.removeprefix(BOM) if first else block)
        first = False
    rest = b"".join(pending)
    rest = rest.removeprefix(BOM) if first else rest
    if is_long:
        yield LongLine.of(source)
    elif rest:
        yield from _of_few_lines(rest)
    source.check_unchanged()


def _of_few_lines(block: bytes) -> Iterator[bytes]:
    """Cut a block of very many lines, each of which may become an object of its own."""
    if block.count(b"\n") <= MOST_RECORDS:
        yield block
        return
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)[MOST_RECORDS - 1 :: MOST_RECORDS] + 1
    for start, end in pairwise([0, *ends.tolist(), len(block)]):
        if start < end:
            yield block[start:end]


def lines_at(source: Input, places: Sequence[float], size: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines of about `size` bytes from some places of a file that is not packed, each with its length.

    The line at a place is left out, and so is the one that the size cuts: both are longer than lines are on average.
    """
    source.check_unchanged()
    with source.open() as file:
        done = 0
        for place in places:
            start = max(int(place * source.size), done)
            file.seek(max(start - 1, 0))
            data, first, last = file.read(size), 0, 0
            while True:
                first = data.find(b"\n") + 1 if start else 0
                last = data.rfind(b"\n") + 1
                if (last > first and (first or not start)) or len(data) > source.max_record:
                    break
                more = file.read(size)
                if not more:  # the end of the file ends its last line
                    last = len(data) if first or not start else 0
                    break
                data += more
            done = max(start - 1, 0) + max(last, 1)
            if last > first:
                yield data[first:last].removeprefix(BOM), last - first
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
    first = strip_starts(block, starts[unusual], ends[unusual])
    is_blank = first == ends[unusual]
    objects = bool(np.all(data[first[~is_blank]] == _OPEN))
    numbers = None
    if is_blank.any():
        numbers = np.delete(np.arange(total), unusual[is_blank])
        starts, ends = starts[numbers], ends[numbers]
    return Lines(starts, ends, numbers, total, objects and _all_close(block, data, starts, ends))


def strip_starts(block: bytes, starts: I64, ends: I64) -> I64:
    r"""Return where spans begin without the blanks before them, their ends if they are blank.

    >>> strip_starts(b"  a\n \n", np.array([0, 4]), np.array([3, 5])).tolist()
    [2, 5]
    """
    data, starts = np.frombuffer(block, np.uint8), starts.copy()
    moving = np.arange(len(starts))
    for _ in range(_STEPS):
        moving = moving[starts[moving] < ends[moving]]
        moving = moving[_IS_BLANK[data[starts[moving]]]]
        if not len(moving):
            return starts
        starts[moving] += 1
    for span in moving.tolist():  # few spans begin with many blanks
        found = _BLANKS.match(block, starts[span], ends[span])
        starts[span] = found.end() if found else starts[span]
    return starts


def strip_ends(block: bytes, starts: I64, ends: I64) -> I64:
    r"""Return where spans end without the blanks after them, their starts if they are blank.

    >>> strip_ends(b"a \n\n", np.array([0, 3]), np.array([2, 3])).tolist()
    [1, 3]
    """
    data, ends = np.frombuffer(block, np.uint8), ends.copy()
    moving = np.arange(len(starts))
    for _ in range(_STEPS):
        moving = moving[starts[moving] < ends[moving]]
        moving = moving[_IS_BLANK[data[ends[moving] - 1]]]
        if not len(moving):
            return ends
        ends[moving] -= 1
    for span in moving.tolist():
        ends[span] = starts[span] + len(block[starts[span] : ends[span]].rstrip(BLANK))
    return ends


def _all_close(block: bytes, data: Any, starts: I64, ends: I64) -> bool:
    unusual = np.flatnonzero(data[ends - 1] != _CLOSE)
    last = strip_ends(block, starts[unusual], ends[unusual])
    return bool(np.all(data[last - 1] == _CLOSE))
