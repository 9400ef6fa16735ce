"""Where a job on a cluster works: a folder that the driver and every executor reach; stages are written to it and read
back, so that nothing is computed twice and nothing is lost unnoticed.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sosie.errors import StorageError, UsageError
from sosie.spark.scratch import Scratch

_ROWS = "rows written"


@dataclass(frozen=True)
class Stage:
    """Rows as they were written: how many there are, and what else was asked of them while they were."""

    frame: DataFrame
    rows: int
    path: str
    observed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """The session and the folder of a job. `working` makes it, and removes the folder when the job ends or fails."""

    session: SparkSession
    scratch: Scratch

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """Write rows as Parquet and return them as they are read back: they are not computed again."""
        return self.stage(frame, name).frame

    def stage(self, frame: DataFrame, name: str, **asked: Column) -> Stage:
        """Write rows as `write` does, and count them meanwhile; `asked` are aggregates of them.

        As many rows must be there as were written: executors that do not reach the folder write to their own disks.
        """
        path = f"{self.scratch.url}/{name}-{secrets.token_hex(4)}"
        seen = Observation()
        columns = [F.count(F.lit(1)).alias(_ROWS), *(column.alias(key) for key, column in asked.items())]
        with self._named():
            frame.observe(seen, *columns).write.parquet(path)
        observed = dict(seen.get)
        rows = int(observed.pop(_ROWS))
        with self._named():
            back = self.session.read.schema(frame.schema).parquet(path)
            found = back.count()
        if found != rows:
            raise StorageError(
                f"{path}: {found:,} rows are there of {rows:,} that were written: is it a folder that the driver and "
                "all executors reach, and does nobody else write to it?"
            )
        return Stage(back, rows, path, observed)

    def drop(self, stage: Stage) -> None:
        """Remove what was written, as nothing will read it again."""
        self.scratch.remove(stage.path)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name what a cluster says of a disk that is full or of a file that has gone, with a page of Java."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, PySparkException) and type(error).__module__.partition(".")[0] != "py4j":
                raise
            said = str(error)
            if "No space left on device" in said or "Disk quota exceeded" in said:
                raise StorageError(
                    f"a disk is full: {self.scratch.url} has no more room, or the local folder of an executor "
                    "(spark.local.dir) has none"
                ) from error
            if "FILE_NOT_EXIST" in said and self.scratch.url in said:
                raise StorageError(
                    f"{self.scratch.url}: a file that an earlier stage wrote is not there any more. Start again."
                ) from error
            raise


@contextmanager
def working(session: SparkSession, scratch: str | None = None) -> Iterator[Work]:
    """Yield where a job works: a folder of its own below `scratch`, a path or URI that the driver and executors reach.

    Where all runs on this machine, the system's folder for temporary files is taken. What is there is removed at the
    end, also after a failure.
    """
    if scratch is None and not _is_local(session):
        raise UsageError(
            "name a folder that the driver and all executors reach, for what the stages write: scratch='s3://...', "
            "'hdfs://...' or a path of a file system that they share (on the command line --scratch)"
        )
    place = Scratch.create(tempfile.gettempdir(), 0o700) if scratch is None else Scratch.create(scratch)
    try:
        yield Work(session, place)
    finally:
        place.remove(place.url)


def _is_local(session: SparkSession) -> bool:
    """Whether driver and executors are one process of this machine."""
    try:
        master = session.conf.get("spark.master", "")
    except PySparkException:  # where nobody may ask
        return False
    return (master or "").partition("[")[0] == "local"
