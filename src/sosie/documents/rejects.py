"""The records that could not be used: collected as they are found, and written to `rejected.jsonl`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, overload

import numpy as np
from numpy.typing import NDArray

from sosie.documents.batch import Reject
from sosie.shown import as_json
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import I64

IN_MEMORY = 1 << 24  # bytes of rejected records beyond which they are kept on disk


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
        for reject in rejects:
            if self._file is None:
                self._file = open(self._path, "w", encoding="utf-8", newline="\n")
            fields = {"file": reject.file, "line": reject.line, "reason": reject.reason, "raw": reject.raw}
            self._file.write(as_json(fields) + "\n")
            self.count += 1


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
        line = self.lines[self.ends[at - 1] if at else 0 : self.ends[at]].tobytes()
        return Reject(int(self.rows[at]), *json.loads(line))


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
        self._rows: list[int] = []
        self._ends: list[int] = []

    def __enter__(self) -> RejectSpill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def append(self, rejects: Iterable[Reject]) -> None:
        """Append rejects."""
        found = list(rejects)
        lines = [json.dumps(dataclasses.astuple(reject)[1:]).encode() + b"\n" for reject in found]
        self._ends += (len(self._lines) + np.cumsum([len(line) for line in lines], dtype=np.int64)).tolist()
        self._rows += [reject.row for reject in found]
        self._lines.append(np.frombuffer(b"".join(lines), np.uint8))

    def rejects(self) -> Rejects:
        """Return all of them; they outlive the spill."""
        return Rejects(np.array(self._rows, np.int64), np.array(self._ends, np.int64), self._lines.array())
