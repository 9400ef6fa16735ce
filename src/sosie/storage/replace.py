"""A directory gets its final name: where there was another, a path leads to the old one or to the new one.

Directories are exchanged by one call to the system. Where that is not to be had (other systems than Linux, some network
file systems), two renames are made. A kill between them leaves the old directory in the working folder, where readers
find it (`storage.folder`), and the next writer puts it back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sosie.storage import exchange
from sosie.storage.claim import Claim, claimed
from sosie.storage.durable import sync
from sosie.storage.working import REPLACED, abandoned

_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def put_in_place(new: Path, final: Path, check: Callable[[Path], None], claim: Claim | None = None) -> None:
    """Give a directory its final name; what was there is left in the folder of `new`.

    `check` raises if a directory may not be replaced. It is asked before, and once more when nobody can put anything
    there any longer: then, and if the change cannot be flushed, all is as it was. `claim` is the caller's own.
    """
    if claim is not None:
        claim.check()
        check(final)
        _replace(new, final, check)
        return
    while not _filled(new, final):
        check(final)
        with ExitStack() as stack:
            try:
                stack.enter_context(claimed(final))
            except FileNotFoundError:
                continue  # whoever was there has gone
            check(final)
            _replace(new, final, check)
            return


def restore(final: Path) -> None:
    """Put back what a process was replacing by two renames when it died, if there is nothing in its place."""
    if not os.path.lexists(final):
        for left in abandoned(final, REPLACED):
            if not os.path.lexists(final):
                os.rename(left.path / REPLACED, final)
            left.release()


def _filled(new: Path, final: Path) -> bool:
    """Rename a directory if nothing is in the way but an empty one."""
    if os.path.lexists(final) and not (os.path.isdir(final) and not os.listdir(final)):
        return False
    try:
        os.rename(new, final)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    with _undone_by(lambda: os.rename(final, new)):
        _flush(new, final)
    return True


def _replace(new: Path, final: Path, check: Callable[[Path], None]) -> None:
    if exchange.exchange(new, final):
        with _undone_by(lambda: exchange.exchange(new, final)):
            check(new)
            _flush(new, final)
        return
    replaced = new.parent / REPLACED
    os.rename(final, replaced)
    with _undone_by(lambda: os.rename(replaced, final)):
        os.rename(new, final)
        with _undone_by(lambda: os.rename(final, new)):
            check(replaced)
            _flush(new, final)


def _flush(new: Path, final: Path) -> None:
    sync(new.parent)
    sync(final.parent)


@contextmanager
def _undone_by(undo: Callable[[], object]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        undo()
        raise
