"""A directory that is open: whatever takes its place meanwhile, its files are read from one and the same directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from sosie.errors import SosieError, StorageError
from sosie.storage.working import set_aside

TRIES = 20  # directories that are opened one after the other, each replaced before it was read
_LOOKS = 3
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Folder(os.PathLike[str]):
    """An open directory: `path` is what it is called, `place` where it was found, all files are below `descriptor`.

    An output is never changed: another one takes its place (see `storage.replace`), and then it is removed. So what is
    read through one descriptor is all of one output, or something is missing.
    """

    path: Path
    place: Path
    descriptor: int

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)

    @property
    def is_replaced(self) -> bool:
        """Whether the path leads to another directory by now, or nowhere."""
        try:
            return not os.path.samestat(os.fstat(self.descriptor), os.stat(self.place))
        except OSError:
            return True

    def holds(self, name: str) -> bool:
        """Whether there is a file or a folder of this name."""
        try:
            os.stat(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        return True

    def open(self, name: str) -> BinaryIO:
        """Open a file to read its bytes."""

        def opener(_: str, flags: int) -> int:
            return os.open(name, flags | os.O_NONBLOCK, dir_fd=self.descriptor)  # a fifo must not hold up the reader

        path = self.path / name
        try:
            file = open(path, "rb", opener=opener)
        except FileNotFoundError as error:
            raise StorageError(f"{path}: there is no such file. Is this a directory that Sosie wrote?") from error
        except IsADirectoryError as error:
            raise StorageError(f"{path}: is not a file.") from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise StorageError(f"{path}: is not a file.")
        return file

    @contextmanager
    def inside(self, name: str) -> Iterator[Folder]:
        """Open a folder of this one."""
        path = self.path / name
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.descriptor)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StorageError(f"{path}: is missing. Build the artefact again.") from error
        try:
            yield Folder(path, self.place / name, descriptor)
        finally:
            os.close(descriptor)


def read_folder(directory: str | os.PathLike[str], read: Callable[[Folder], T]) -> T:
    """Return what `read` makes of a directory; it is read again from the new one if it was replaced meanwhile.

    A folder that is open already is read as it is: whoever opened it begins again.

    >>> import tempfile
    >>> made = Path(tempfile.mkdtemp())
    >>> _ = (made / "a").write_bytes(b"a rose")
    >>> read_folder(made, lambda folder: folder.holds("a"))
    True
    """
    if isinstance(directory, Folder):
        return read(directory)
    path = Path(directory)
    for _ in range(TRIES):
        with _opened(path) as folder:
            try:
                return read(folder)
            except (SosieError, OSError):
                if not folder.is_replaced:
                    raise
    raise StorageError(f"{path}: was replaced {TRIES} times while it was read. Try again when nothing writes to it.")


@contextmanager
def _opened(path: Path) -> Iterator[Folder]:
    descriptor, place = _descriptor(path)
    try:
        yield Folder(path, place, descriptor)
    finally:
        os.close(descriptor)


def _descriptor(path: Path) -> tuple[int, Path]:
    """Open a directory; where there is none, the one that a writer has set aside and not yet replaced."""
    try:
        for _ in range(_LOOKS):  # where a writer was between two renames at the first look, it is done by the second
            for place in (path, *_set_aside_for(path)):
                try:
                    return os.open(place, os.O_RDONLY | os.O_DIRECTORY), place
                except FileNotFoundError:
                    continue
    except NotADirectoryError:
        problem = "is a file" if path.is_file() else "there is no such directory"
    except OSError as error:
        raise StorageError(f"{path}: cannot be opened ({error.strerror}). Check its permissions.") from error
    else:
        problem = "there is no such directory"
    raise StorageError(f"{path}: {problem}. Name a directory that `sosie index` or `sosie sign` wrote.")


def _set_aside_for(path: Path) -> Iterator[Path]:
    if not os.path.lexists(path):
        yield from set_aside(Path(os.path.realpath(path)))
