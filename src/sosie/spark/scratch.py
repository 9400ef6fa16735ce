"""Where tables are kept between the stages of a job: a folder that the driver and all executors reach."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sosie.documents.places.remote import is_url
from sosie.errors import StorageError, UsageError
from sosie.storage.durable import naming


class Scratch:
    """A folder of one job, with a name that nobody else has; it goes with the job, or with this process.

    `place` is a folder on this machine, which the executors see at the same path, or a URL that fsspec and Spark know.

    >>> scratch = Scratch(None)
    >>> scratch.url.startswith("file:///"), scratch.remove()
    (True, None)
    """

    def __init__(self, place: str | os.PathLike[str] | None) -> None:
        if place is not None and is_url(os.fspath(place)) and not os.fspath(place).startswith("file:"):
            system, inner = _remote(os.fspath(place))
            name = f"sosie-{secrets.token_hex(8)}"
            self.url = f"{os.fspath(place).rstrip('/')}/{name}"
            self._remove: weakref.finalize[..., Scratch] = weakref.finalize(
                self, _remove_remote, system, f"{inner.rstrip('/')}/{name}"
            )
            return
        parent = None if place is None else Path(os.fspath(place).removeprefix("file://"))
        if parent is not None and not parent.is_dir():
            raise UsageError(f"{place}: is no folder. Name one that the driver and all executors see.")
        with naming(parent or tempfile.gettempdir()):
            folder = tempfile.mkdtemp(prefix="sosie-", dir=parent)
        os.chmod(folder, 0o777 if parent is not None else 0o700)  # executors may be another user's
        self.url = Path(folder).absolute().as_uri()
        self._remove = weakref.finalize(self, _remove_folder, folder)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._remove()


def _remove_folder(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _remote(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    try:
        import fsspec

        system, inner = fsspec.core.url_to_fs(url.replace("s3a://", "s3://", 1))
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: temporary files could not be removed there ({error}). Name a folder.") from error
    return system, str(inner)


def _remove_remote(system: Any, path: str) -> None:
    remove: Callable[..., None] = system.rm
    try:
        remove(path, recursive=True)
    except FileNotFoundError:
        pass
    except Exception as error:  # each kind of server has exceptions of its own
        raise StorageError(f"{path}: temporary files could not be removed ({error}). Remove them.") from error
