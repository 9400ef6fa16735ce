"""`rejected.jsonl`: the records that could not be used, written as they are found."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sosie.documents.batch import Reject


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
            self._file.write(json.dumps(fields, ensure_ascii=False) + "\n")
            self.count += 1


def pack_rejects(rejects: list[Reject]) -> NDArray[np.uint8]:
    """Return rejects as the bytes of a JSON array.

    >>> unpack_rejects(pack_rejects([Reject(3, "a.jsonl", 4, "blank")]))
    [Reject(row=3, file='a.jsonl', line=4, reason='blank', raw=None)]
    """
    return np.frombuffer(json.dumps([dataclasses.astuple(reject) for reject in rejects]).encode(), np.uint8)


def unpack_rejects(packed: NDArray[np.uint8]) -> list[Reject]:
    """Return the rejects that were packed."""
    return [Reject(*fields) for fields in json.loads(packed.tobytes())]
