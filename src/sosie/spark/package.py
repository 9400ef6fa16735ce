"""The package sent to executors that do not have it: its files, in an archive that travels with a session."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import sosie
from sosie.spark.engine import named
from sosie.spark.travelling import SHIPPED


def ship(session: Any) -> None:
    """Send this very package to the executors of a session, for as long as it lives.

    They need the packages that it depends on, NumPy and Numba among them. One that is installed there is taken first.
    """
    with tempfile.TemporaryDirectory(prefix="sosie-") as folder:
        archive = write_archive(Path(folder))
        with named():
            session.addArtifacts(os.fspath(archive), file=True)


def write_archive(folder: Path) -> Path:
    """Write the files of the package to an archive in a folder.

    >>> with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(write_archive(Path(folder))) as archive:
    ...     "sosie/jobs/needs.json" in archive.namelist(), "sosie/spark/package.py" in archive.namelist()
    (True, True)
    """
    package, archive = Path(sosie.__file__).parent, folder / SHIPPED
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                file.write(path, Path("sosie") / path.relative_to(package))
    return archive
