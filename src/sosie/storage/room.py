"""What a job may use while it works: a folder, memory and threads."""

from __future__ import annotations

import os
from dataclasses import dataclass

IN_MEMORY = 1 << 28  # bytes of an array beyond which it is kept on disk


@dataclass(frozen=True)
class Room:
    """A folder for temporary files, how many bytes of one array stay in memory before it goes there, and threads.

    With `keep`, files of arrays that were finished stay in the folder, for a checkpoint to take them over.
    """

    scratch: str | os.PathLike[str]
    memory: int = IN_MEMORY
    threads: int | None = None
    keep: bool = False
