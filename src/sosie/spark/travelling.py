"""What travels to the executors: the name of a function and its arguments, run by the package that is there.

This module is sent by value, so that it runs where the package is missing, and says so. What it calls is not sent: the
executors have the package, of the same version, or get it as a file that was added to the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Batches = Iterator[Any]  # Arrow record batches
BEGIN, END = "<<sosie ", " sosie>>"  # around what an error of a function says, in the trace that comes back
SHIPPED = "sosie-package.zip"


def travelling(module: str, name: str, version: str, arguments: bytes) -> Callable[[Batches], Batches]:
    """Return a function of Arrow batches that calls another one, by name, with these pickled arguments."""

    def run(batches: Batches) -> Batches:
        import importlib
        import os
        import pickle
        import sys
        import tempfile
        import zipfile

        def refuse(kind: str, said: str) -> RuntimeError:
            return RuntimeError(f"{BEGIN}{kind}: {said}{END}")

        def unpacked() -> str | None:
            """Unpack the package, if it was sent as a file; others do the same side by side."""
            from pyspark import SparkFiles

            places = [each if each.endswith(SHIPPED) else os.path.join(each, SHIPPED) for each in sys.path]
            try:
                places.insert(0, os.path.join(SparkFiles.getRootDirectory(), SHIPPED))
            except Exception:  # not in a task of Spark
                pass
            archive = next((each for each in places if os.path.isfile(each)), None)
            if archive is None:
                return None
            status = os.stat(archive)
            folder = f"{archive}.{status.st_size}-{status.st_mtime_ns}"
            if not os.path.isdir(folder):
                made = tempfile.mkdtemp(dir=os.path.dirname(folder))
                with zipfile.ZipFile(archive) as file:
                    file.extractall(made)
                try:
                    os.rename(made, folder)
                except OSError:  # somebody was faster
                    pass
            return folder

        try:
            import sosie
        except ImportError:
            try:
                folder = unpacked()
            except OSError as error:
                raise refuse("StorageError", f"the package cannot be unpacked on an executor: {error}") from error
            if folder is None:
                raise refuse(
                    "UsageError",
                    f"the executors have no package sosie ({sys.executable}): install it there, of version {version},"
                    " or send it with the job: sosie.spark.ship(spark)",
                ) from None
            sys.path.insert(0, folder)
            importlib.invalidate_caches()
            import sosie
        if sosie.__version__ != version:
            raise refuse(
                "UsageError",
                f"the executors have sosie {sosie.__version__} and the driver {version}: install one of the two",
            )
        try:
            function = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise refuse("UsageError", f"the executors lack a package that sosie needs: {error}") from error
        try:
            yield from function(batches, *pickle.loads(arguments))
        except (sosie.SosieError, OSError) as error:
            kind = type(error).__name__ if isinstance(error, sosie.SosieError) else "StorageError"
            raise refuse(kind, str(error)) from error

    return run
