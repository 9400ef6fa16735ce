"""A file that is one JSON array, in blocks of whole elements; and what a .json file is, told by its beginning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.documents import blocks
from sosie.documents.blocks import BOM, MOST_RECORDS, read_chunks
from sosie.documents.format import NoDocumentsError
from sosie.documents.input import Input
from sosie.documents.jsonl.blocks import BLANK, strip_ends, strip_starts
from sosie.documents.jsonl.record import Members, members_of
from sosie.errors import DataError
from sosie.types import I64

_NEWLINE, _RETURN = b"\n\r"
_HEAD_BYTES = 1 << 20
# What no element is, and so stands for one that is not there: nothing between two commas.
_NOTHING = b","


@dataclass(frozen=True, eq=False)
class ArrayBlock:
    """Whole elements: element i is `data[starts[i]:ends[i]]`, without blanks around it; a byte follows each.

    With a `problem`, this stands for one that there was no memory for.
    """

    data: bytes
    starts: I64
    ends: I64
    problem: str | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def lines(self) -> bytes:
        r"""Return the elements as JSON lines.

        Newlines become returns: outside of strings both are blanks, and inside both are errors.

        >>> ArrayBlock(b'{"a":\n1}, 2]', np.array([0, 10]), np.array([8, 11])).lines()
        b'{"a":\r1}\n2\n'
        """
        found = [self.data[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]
        return b"".join([(element.replace(b"\n", b"\r") or _NOTHING) + b"\n" for element in found])

    def take(self, positions: I64) -> ArrayBlock:
        """Return a block of these elements alone."""
        return replace(self, starts=self.starts[positions], ends=self.ends[positions])


@dataclass(frozen=True)
class ArrayStyle:
    """The blanks of an array: before its first element and before the others."""

    lead: bytes
    gap: bytes


def settle_json(source: Input, texts: Sequence[str]) -> Input:
    """Return a .json file as what it is: an array, or JSON lines; raise if it seems to hold no documents."""
    head = _head(source, _HEAD_BYTES)
    if head.startswith(b"["):
        inside = head[1:].lstrip(BLANK)
        if not inside or inside.startswith(b"]"):
            return source
        first = _first_value(inside)
        if first is not None and not isinstance(first, Members):
            raise NoDocumentsError("is an array whose first element is no object; documents are objects", source)
        _check_texts(first, texts, source)
        return source
    lines = replace(source, format="jsonl")
    line, newline, _ = head.partition(b"\n")
    first = members_of(line)
    if first is None and newline and head.startswith(b"{"):
        whole = _first_value(head)
        if isinstance(whole, Members) or line.strip(BLANK) == b"{":
            arrays = [name for name, value in whole or [] if isinstance(value, list)]
            more = f"; take out the array in {arrays[0]!r}, if that holds the documents" if arrays else ""
            raise NoDocumentsError(f"is one JSON object over several lines, not an array or one object per line{more}")
    _check_texts(first, texts, lines)
    return lines


def read_array(
    source: Input, size: int | None = None, watch: Callable[[int], None] = lambda position: None
) -> Iterator[ArrayBlock]:
    """Yield the elements of an array; one that is longer than `size` comes in a larger block."""
    source.check_unchanged()
    cutter = ArrayCutter(source)
    for chunk, position in read_chunks(source, size or blocks.BLOCK_BYTES):
        watch(position)
        yield from cutter.add(chunk)
    cutter.finish()
    source.check_unchanged()


def read_style(source: Input) -> ArrayStyle:
    """Return how an array is written, judged by its first elements."""
    inside = _head(source, _HEAD_BYTES)[1:]
    lead = inside[: len(inside) - len(inside.lstrip(BLANK))]
    cutter = ArrayCutter(source)
    cutter.is_open = True
    elements = next(cutter.cut(inside), None)
    if elements is None or len(elements) < 2:
        return ArrayStyle(lead, lead or b" ")
    between = inside[int(elements.ends[0]) : int(elements.starts[1])]
    return ArrayStyle(lead, between.partition(b",")[2])


class ArrayCutter:
    """Cuts chunks of any size into blocks of whole elements; each chunk is looked at once."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._held: list[bytes] = []
        self._length = self._count = 0
        self._scan = _Scan()
        self._begun = self._is_long = self.is_open = self._is_closed = False

    def add(self, chunk: bytes) -> Iterator[ArrayBlock]:
        """Take a chunk."""
        if self._is_closed:
            self._check_rest(chunk)
        elif self.is_open:
            yield from self.cut(chunk)
        else:
            yield from self._open(b"".join([*self._held, chunk]))

    def _open(self, data: bytes) -> Iterator[ArrayBlock]:
        """Look for the bracket that begins the array."""
        data = data.removeprefix(BOM) if not self._begun else data
        self._begun = self._begun or len(data) > len(BOM)
        data = data.lstrip(BLANK)
        self._hold(data)
        if not data or (not self._begun and BOM.startswith(data)):
            return
        if not data.startswith(b"["):
            raise DataError(f"{self._source.path}: is not a JSON array. Name its format with --format.")
        self.is_open = True
        self._hold(b"")
        yield from self.cut(data[1:])

    def cut(self, chunk: bytes) -> Iterator[ArrayBlock]:
        """Yield the elements that a chunk completes, and hold the rest of it."""
        stops, is_closed = self._scan.separators(chunk)
        if is_closed:
            self._is_closed = True
            self._check_rest(chunk[int(stops[-1]) + 1 :])
        if self._length + (int(stops[0]) if len(stops) else len(chunk)) > self._source.max_record:
            self._is_long = True
        if self._is_long:
            self._hold(b"")
            if not len(stops):
                return
            self._count, self._is_long = self._count + 1, False
            yield _long_element(self._source)
            chunk, stops = chunk[int(stops[0]) + 1 :], stops[1:] - stops[0] - 1
        if not len(stops):
            self._held.append(chunk)
            self._length += len(chunk)
            return
        data, stops = b"".join([*self._held, chunk]), stops + self._length
        starts = np.concatenate((np.zeros(1, np.int64), stops[:-1] + 1))
        block = _stripped(data, starts, stops)
        if is_closed and not self._count and len(block) == 1 and block.starts[0] == block.ends[0]:
            block = block.take(np.empty(0, np.int64))  # an empty array
        self._count += len(block)
        self._hold(b"" if is_closed else data[int(stops[-1]) + 1 :])
        for first in range(0, len(block), MOST_RECORDS):
            yield block.take(np.arange(first, min(first + MOST_RECORDS, len(block))))

    def finish(self) -> None:
        """Raise if the array is not closed."""
        if self._length and not self.is_open:
            raise DataError(f"{self._source.path}: is not a JSON array. Name its format with --format.")
        if self.is_open and not self._is_closed:
            raise DataError(
                f"{self._source.path}: the array is not closed: the file is cut short, or object {self._count + 1:,} "
                "or one before it has a quote or a bracket too many. Restore the file or leave it out."
            )

    def _hold(self, data: bytes) -> None:
        self._held, self._length = [data], len(data)

    def _check_rest(self, rest: bytes) -> None:
        if rest.strip(BLANK):
            raise DataError(
                f"{self._source.path}: there is more after the end of the array, which is after object "
                f"{self._count:,} or one before it. Is a bracket misplaced? Repair the file or leave it out."
            )


class _Scan:
    """What is known of the bytes of an array so far: how deep they are, and whether they end inside a string."""

    def __init__(self) -> None:
        self._depth, self._is_inside, self._is_escaped = 0, False, False

    def separators(self, chunk: bytes) -> tuple[I64, bool]:
        r"""Return where in a chunk the elements end, at a comma or at the end of the array, and whether that is there.

        >>> _Scan().separators(b'{"a": [1, 2], "b": "],{\\""}, 3 ]')
        (array([27, 31]), True)
        """
        before = int(self._is_escaped)
        data = b"\\" * before + chunk
        array = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero(_IS_MARK[array])
        kinds = array[marks]
        quotes = marks[kinds == ord('"')]
        if b"\\" in data:
            quotes = quotes[~_escaped(array, quotes)]
        outside = marks[kinds != ord('"')]
        outside = outside[(np.searchsorted(quotes, outside) + self._is_inside) % 2 == 0]
        kinds = array[outside]
        depth = np.cumsum(_STEP[kinds]) + self._depth
        closed = np.flatnonzero(depth < 0)
        last = int(closed[0]) if len(closed) else len(outside)
        stops = outside[:last][(kinds[:last] == ord(",")) & (depth[:last] == 0)]
        self._depth = int(depth[-1]) if len(depth) else self._depth
        self._is_inside = bool((len(quotes) + self._is_inside) % 2)
        self._is_escaped = (len(data) - len(data.rstrip(b"\\"))) % 2 == 1
        return np.append(stops, outside[last : last + 1]) - before, bool(len(closed))


_IS_MARK = np.isin(np.arange(256), list(b'"{}[],'))
_STEP = np.isin(np.arange(256), list(b"{[")).astype(np.int64) - np.isin(np.arange(256), list(b"}]"))


def _long_element(source: Input) -> ArrayBlock:
    return ArrayBlock(b"-,", np.array([0]), np.array([1]), f"an object {source.too_long}")


def _escaped(array: NDArray[np.uint8], quotes: I64) -> NDArray[np.bool_]:
    """Whether an odd number of backslashes stands before each quote."""
    slashes = np.flatnonzero(array == ord("\\"))
    begins = np.ones(len(slashes), bool)
    begins[1:] = slashes[1:] != slashes[:-1] + 1
    first = slashes[begins]  # of each run
    run = np.searchsorted(first, quotes) - 1
    last = np.append(slashes[:-1][begins[1:]], slashes[-1:])
    behind = (run >= 0) & (last[run] == quotes - 1)
    return np.asarray(behind & ((quotes - first[run]) % 2 == 1))


def _stripped(data: bytes, starts: I64, ends: I64) -> ArrayBlock:
    """Return elements without the blanks around them."""
    starts = strip_starts(data, starts, ends)
    return ArrayBlock(data, starts, strip_ends(data, starts, ends))


def _head(source: Input, size: int) -> bytes:
    """Return the beginning of a file from its first character that is not blank on, `size` bytes if it has them."""
    head = b""
    for chunk, _ in read_chunks(source, 1 << 16):
        head = (head + chunk).removeprefix(BOM).lstrip(BLANK)
        if len(head) >= size:
            break
    return head


def _first_value(text: bytes) -> Any:
    """Return the value that a text begins with, None if it is broken or not whole."""
    decoder = json.JSONDecoder(object_pairs_hook=Members)
    try:
        return decoder.raw_decode(text.decode("utf-8", "replace"))[0]
    except (ValueError, RecursionError):
        return None


def _check_texts(first: Any, texts: Sequence[str], source: Input) -> None:
    """Raise if the first document is an object that has none of the columns."""
    if isinstance(first, Members) and not any(first.find(name) for name in texts):
        there = ", ".join(first.names()[:10]) or "none"
        wanted = " or ".join(map(repr, texts))
        raise NoDocumentsError(f"its first object has no column {wanted}; the columns are: {there}", source)
