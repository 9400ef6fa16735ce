"""The records that could not be used: collected as they are found, and written to `rejected.jsonl`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring, encode_basestring_ascii
from types import TracebackType
from typing import IO, overload

import numpy as np
from numpy.typing import NDArray

from sosie.documents.batch import Reject
from sosie.shown import printable_json
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import I64

IN_MEMORY = 1 << 24  # bytes of rejected records beyond which they are kept on disk
AT_ONCE = 1 << 10  # of them, that are read or written at a time
# A reject in `rejected.jsonl`, and as it is held. Strings are quoted one by one: json.dumps takes ten times as long.
_LINE = '{"file": %s, "line": %d, "reason": %s, "raw": %s}\n'
_FIELDS = "[%s, %d, %s, %s]\n"


class RejectLog:
    """Writes rejects to `rejected.jsonl` in a directory; the file appears with the first of them."""

    name = "rejected.jsonl"

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._path = os.path.join(directory, self.name)
        self._file: IO[str] | None = None
        self.count = 0

    def __enter__(self) -> RejectLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, rejects: Iterable[Reject]) -> None:
        """Append rejects: file, line, reason and, if it has lines, the record as it was."""
        waiting = iter(rejects)
        while some := list(islice(waiting, AT_ONCE)):
            if self._file is None:
                self._file = open(self._path, "w", encoding="utf-8", newline="\n")
            self._file.write(printable_json("".join([_LINE % _quoted(reject, encode_basestring) for reject in some])))
            self.count += len(some)


@dataclass(frozen=True, eq=False)
class Rejects(Sequence[Reject]):
    """The rejects of a collection, held as JSON lines: of many, only the places are in memory.

    `rows` are their document numbers; line i of `lines` ends at `ends[i]`.
    """

    rows: I64
    ends: I64
    lines: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Reject: ...
    @overload
    def __getitem__(self, place: slice) -> list[Reject]: ...
    def __getitem__(self, place: int | slice) -> Reject | list[Reject]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        return self._some(at, at + 1)[0]

    def __iter__(self) -> Iterator[Reject]:
        for start in range(0, len(self), AT_ONCE):
            yield from self._some(start, min(start + AT_ONCE, len(self)))

    def _some(self, start: int, stop: int) -> list[Reject]:
        lines = self.lines[self.ends[start - 1] if start else 0 : self.ends[stop - 1]].tobytes()
        fields = json.loads(b"[%b]" % lines[:-1].replace(b"\n", b","))  # in strings, newlines are escapes
        return [Reject(row, *each) for row, each in zip(self.rows[start:stop].tolist(), fields, strict=True)]


class RejectSpill:
    """Collects rejects: in memory while they are small, on disk beyond.

    >>> import tempfile
    >>> with RejectSpill(Room(tempfile.mkdtemp())) as spill:
    ...     spill.append([Reject(3, "a.jsonl", 4, "blank")])
    ...     list(spill.rejects())
    [Reject(row=3, file='a.jsonl', line=4, reason='blank', raw=None)]
    """

    def __init__(self, room: Room) -> None:
        self._lines = Spill(room.scratch, np.uint8, memory=min(room.memory, IN_MEMORY), keep=room.keep)
        memory = min(room.memory, IN_MEMORY)
        self._rows, self._ends = (Spill(room.scratch, np.int64, memory=memory, keep=room.keep) for _ in range(2))

    def __enter__(self) -> RejectSpill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for spill in (self._lines, self._rows, self._ends):
            spill.close()

    def append(self, rejects: Iterable[Reject]) -> None:
        """Append rejects."""
        waiting = iter(rejects)
        while some := list(islice(waiting, AT_ONCE)):
            lines = [_FIELDS % _quoted(reject, encode_basestring_ascii) for reject in some]
            self._ends.append(len(self._lines) + np.cumsum([len(line) for line in lines], dtype=np.int64))
            self._rows.append(np.array([reject.row for reject in some], np.int64))
            self._lines.append(np.frombuffer("".join(lines).encode("ascii"), np.uint8))

    def rejects(self) -> Rejects:
        """Return all of them; they outlive the spill."""
        return Rejects(self._rows.array(), self._ends.array(), self._lines.array())


def _quoted(reject: Reject, quote: Callable[[str], str]) -> tuple[str, int, str, str]:
    """Return what is written of a reject, its texts as JSON."""
    _, file, line, reason, raw = reject
    return quote(file), line, quote(reason), "null" if raw is None else quote(raw)
