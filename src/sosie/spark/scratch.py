"""A folder on a file system that a cluster shares: made, and removed with all that is in it."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs

from sosie.documents.places.remote import is_url, local_path
from sosie.errors import StorageError, UsageError

_ALIKE = {"s3a": "s3", "s3n": "s3", "abfss": "abfs"}  # what Spark calls a file system, and what Arrow calls it


@dataclass(frozen=True)
class Scratch:
    """A folder by the URL that Spark has for it. This process can write to it: what it cannot, it could not remove."""

    url: str

    @classmethod
    def create(cls, parent: str, mode: int = 0o777) -> Scratch:
        """Make a folder of its own below another; a path is one of this machine, whatever Spark takes paths for."""
        local = local_path(parent)
        if not is_url(local):
            parent = f"file://{Path(local).absolute()}"
        made = cls(f"{parent.rstrip('/')}/sosie-{secrets.token_hex(8)}")
        try:
            if is_url(local):
                system, path = _system(made.url)
                system.create_dir(path)
                with system.open_output_stream(f"{path}/_sosie") as stream:  # a store of objects has no empty folders
                    stream.write(b"")
            else:
                Path(local_path(made.url)).mkdir(mode)
        except (OSError, pa.ArrowException) as error:
            raise UsageError(f"{parent}: cannot be written to ({error}): name another folder as scratch") from error
        return made

    def remove(self, uri: str) -> None:
        """Remove a folder, this one or one below it, with all that is in it."""
        try:
            if is_url(path := local_path(uri)):
                system, inner = _system(uri)
                system.delete_dir(inner)
            else:
                shutil.rmtree(path)
        except FileNotFoundError:
            return
        except (OSError, pa.ArrowException) as error:
            raise StorageError(f"{uri}: temporary files could not be removed ({error}): remove them") from error


def _system(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI, and the path there."""
    scheme, _, rest = uri.partition("://")
    try:
        system, path = pyarrow.fs.FileSystem.from_uri(f"{_ALIKE.get(scheme, scheme)}://{rest}")
    except (OSError, ValueError, NotImplementedError, pa.ArrowException) as error:
        raise UsageError(
            f"{uri}: is no folder that this process reaches ({error}): name a path of a file system that driver and "
            "executors share, or a URI as s3://, gs://, abfs:// or hdfs://"
        ) from error
    return system, path
