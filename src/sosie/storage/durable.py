"""Writes that are still there after a power failure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sosie.errors import StorageError


def sync(path: str | os.PathLike[str]) -> None:
    """Flush a file or a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(directory: str | os.PathLike[str]) -> None:
    """Flush every file below a directory, then the directories, the deepest first."""
    for folder, _, files in os.walk(directory, topdown=False):
        for name in files:
            sync(os.path.join(folder, name))
        sync(folder)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an `OSError` into a `StorageError` that names the path."""
    try:
        yield
    except OSError as error:
        raise StorageError(describe(error, Path(path))) from error


def describe(error: OSError, path: Path) -> str:
    """Say which path failed, why, and what to do."""
    return (
        f"{error.filename or path}: cannot be written or read ({error.strerror or error}). Check space and permissions."
    )
