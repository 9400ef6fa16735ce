"""Is there room for an index? Asked before anything is built."""

from __future__ import annotations

from sosie.errors import UsageError
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size


def check_room(what: str, needed: int, remedy: str) -> None:
    """Refuse what takes more memory than the machine has, with the figure and what to do instead."""
    there = physical_memory()
    if needed > there:
        raise UsageError(
            f"{what} need about {show_size(needed)} of memory, and this machine has {show_size(there)}: {remedy}"
        )
