"""A Spark session for a command: started on the master that was named, and ended with the command."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sosie.errors import UsageError
from sosie.spark.engine import load, named
from sosie.spark.java import find_java
from sosie.spark.package import ship

_SECONDS = 10  # for a master to answer
_QUIET = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}


@dataclass(frozen=True)
class Engine:
    """Where a job runs: a `master` as Spark names it, or one that `sc://` reaches; further settings of the session.

    `scratch` is a folder that the driver and all executors reach, None for one beside the output. With `send`, the
    executors get the package from here; without, it has to be installed there.
    """

    master: str = "local[*]"
    scratch: str | None = None
    partitions: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    send: bool = True

    @contextmanager
    def session(self) -> Iterator[Any]:
        """Yield a session, which ends with the block."""
        sql = load()
        check_master(self.master)
        connect = self.master.startswith("sc://")
        if not connect:
            os.environ["JAVA_HOME"] = find_java()
            os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
            if self.master.startswith("local"):
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.appName("sosie").config(map={**_QUIET, **self.settings})
        with named():
            try:
                session = (builder.remote if connect else builder.master)(self.master).getOrCreate()
            except ImportError as error:
                raise UsageError(
                    f"{self.master}: needs more packages ({error}): pip install 'pyspark[connect]'"
                ) from error
        try:
            if self.send and not self.master.startswith("local"):
                ship(session)
            yield session
        finally:
            session.stop()


def check_master(master: str) -> None:
    """Refuse a master that nobody answers at, before Spark tries for minutes."""
    scheme = master.partition(":")[0]
    if scheme not in ("spark", "sc"):
        return
    first = master.removeprefix("spark://").partition(",")[0] if scheme == "spark" else urlsplit(master).netloc
    host, _, port = first.rpartition(":") if ":" in first else (first, "", "")
    try:
        address = host.strip("[]"), int(port or (15002 if scheme == "sc" else 7077))
        socket.create_connection(address, timeout=_SECONDS).close()
    except ValueError as error:
        raise UsageError(f"{master}: is no address of a master, as in spark://host:7077.") from error
    except OSError as error:
        raise UsageError(
            f"{master}: no master answers there ({error.strerror or error}). Check that it runs."
        ) from error
