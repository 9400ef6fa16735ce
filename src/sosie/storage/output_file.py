"""An output file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sosie.errors import UsageError
from sosie.storage.durable import naming, sync


@contextmanager
def output_file(final: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """Yield the path of a hidden file to write; when the block ends well it is flushed and renamed, else removed.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "found.txt"
    >>> with output_file(final) as path:
    ...     _ = path.write_text("a rose")
    >>> final.read_text(), len(os.listdir(final.parent))
    ('a rose', 1)
    """
    target = Path(final)
    check_file(target, overwrite)
    hidden = target.parent / f".{target.name}.sosie-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with naming(target):
            hidden.touch(exist_ok=False)
            yield hidden
            sync(hidden)
            check_file(target, overwrite)
            os.replace(hidden, target)
            sync(target.parent)
    finally:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)


def check_file(final: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Refuse a path that a file cannot be written to, or that is taken."""
    target = Path(final)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: is not a directory. Choose another output file.")
    if target.is_dir():
        raise UsageError(f"{target}: is a directory. Choose another output file.")
    if os.path.lexists(target) and not overwrite:
        raise UsageError(f"{target}: exists. Choose another output file or pass --overwrite.")
