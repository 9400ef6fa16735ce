"""What a job may use while it works: a folder, memory and threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

IN_MEMORY = 1 << 28  # bytes of an array beyond which it is kept on disk


def _to_nobody(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Room:
    """A folder for temporary files, how many bytes of one array stay in memory before it goes there, and threads.

    With `keep`, files of arrays that were finished stay in the folder, for a checkpoint to take them over. `limit` is
    how much memory the whole process may use, None where nobody said. Long work tells how far it is by `tell`: how many
    units were done since it was told last, and how many there are in all.
    """

    scratch: str | os.PathLike[str]
    memory: int = IN_MEMORY
    threads: int | None = None
    keep: bool = False
    limit: int | None = None
    tell: Callable[[int, int], None] = _to_nobody
