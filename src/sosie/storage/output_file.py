"""An output file that appears whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sosie.errors import UsageError
from sosie.storage.durable import naming, sync
from sosie.storage.working import lock_path


@contextmanager
def output_file(final: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """Yield the path of a hidden file to write; when the block ends well it is flushed and renamed, else removed.

    Hidden files that processes left behind when they died are removed at the start.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "found.txt"
    >>> with output_file(final) as path:
    ...     _ = path.write_text("a rose")
    >>> final.read_text(), len(os.listdir(final.parent))
    ('a rose', 1)
    """
    target = Path(final)
    check_file(target, overwrite)
    with naming(target):
        _remove_abandoned(target)
        hidden, lock = _create(target)
    try:
        with naming(target):
            yield hidden
            sync(hidden)
            check_file(target, overwrite)
            os.replace(hidden, target)
            sync(target.parent)
    finally:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def check_file(final: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Refuse a path that a file cannot be written to, or that is taken."""
    target = Path(final)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: is not a directory. Choose another output file.")
    if target.is_dir():
        raise UsageError(f"{target}: is a directory. Choose another output file.")
    if os.path.lexists(target) and not overwrite:
        raise UsageError(f"{target}: exists. Choose another output file or pass --overwrite.")


def _create(target: Path) -> tuple[Path, int | None]:
    """Make a hidden file, and return the descriptor of its lock if the file system has locks."""
    while True:
        hidden = target.parent / f".{target.name}.sosie-{os.getpid()}-{secrets.token_hex(4)}"
        hidden.touch(exist_ok=False)
        try:
            return hidden, lock_path(hidden)
        except (BlockingIOError, FileNotFoundError):
            continue  # in the moment before the lock, another process has taken it for a leftover


def _remove_abandoned(target: Path) -> None:
    """Remove the hidden files for a target that no process holds the lock of."""
    pattern = re.compile(re.escape(f".{target.name}.sosie-") + r"\d+-\w+")
    for name in filter(pattern.fullmatch, os.listdir(target.parent)):
        path = target.parent / name
        try:
            lock = lock_path(path) if path.is_file() else None
        except (BlockingIOError, FileNotFoundError):
            continue
        if lock is not None:
            path.unlink(missing_ok=True)
            os.close(lock)
