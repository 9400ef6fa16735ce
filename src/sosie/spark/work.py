"""Where a job on a cluster works: a session, a folder that the driver and every executor reach, and how work is cut.

Stages are written to the folder and read back, so that nothing is computed twice and nothing is lost unnoticed.
"""

from __future__ import annotations

import pickle
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sosie import __version__
from sosie.errors import StorageError, UsageError
from sosie.parallel import thread_count
from sosie.spark import travelling
from sosie.spark.engine import named
from sosie.spark.scratch import Scratch

LEAST = 1 << 12  # entries that are worth a task of their own
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
    """The session and the folder of a job, and how many partitions there are after a shuffle (0: as the session says).

    `working` makes it, and removes the folder when the job ends or fails.
    """

    session: SparkSession
    scratch: Scratch
    parts: int = 0

    @classmethod
    def of(cls, session: SparkSession, scratch: str | None = None, parts: int | None = None) -> Work:
        """Return where a job works: a folder of its own below `scratch`, which whoever asked is to remove."""
        if parts is not None and parts < 1:
            raise UsageError(f"partitions must be at least 1, got {parts}")
        if scratch is None and not _is_local(session):
            raise UsageError(
                "name a folder that the driver and all executors reach, for what the stages write: scratch='s3://...', "
                "'hdfs://...' or a path of a file system that they share (on the command line --scratch)"
            )
        place = Scratch.create(tempfile.gettempdir(), 0o700) if scratch is None else Scratch.create(scratch)
        return cls(session, place, parts or 0)

    @property
    def partitions(self) -> int:
        """How many partitions there are after a shuffle."""
        return self.parts or int(said(self.session, "spark.sql.shuffle.partitions") or 200)

    def buckets(self, entries: int, most: int) -> int:
        """Return into how many buckets entries go: at most so many in one, and as many buckets as are worth a task."""
        return max(1, -(-entries // most), min(self.partitions, entries // LEAST))

    @property
    def cores(self) -> int:
        """How many tasks run side by side, as far as the session says."""
        inside = re.search(r"\[(\d+|\*)", said(self.session, "spark.master"))
        if inside is not None:
            return thread_count(None) if inside[1] == "*" else int(inside[1])
        return int(said(self.session, "spark.cores.max") or 0) or self.partitions

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one process of this machine."""
        return _is_local(self.session)

    @property
    def broadcasts(self) -> bool:
        """Whether small tables may go to all executors."""
        return not said(self.session, "spark.sql.autoBroadcastJoinThreshold").startswith("-")

    def described(self) -> dict[str, Any]:
        """Return what the report says of it."""
        return {"name": "spark", "version": self.session.version, "master": said(self.session, "spark.master") or None}

    def run(self, frame: DataFrame, function: Callable[..., Any], schema: str, *arguments: Any) -> DataFrame:
        """Return what a function makes of the Arrow batches of each partition of a table; it is called by its name."""
        return run(frame, function, schema, *arguments)

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
        with named(self.scratch.url):
            frame.observe(seen, *columns).write.parquet(path)
        observed = dict(seen.get)
        rows = int(observed.pop(_ROWS))
        with named(self.scratch.url):
            back = self.session.read.schema(frame.schema).parquet(path)
            found = back.count()
        if found != rows:
            raise StorageError(
                f"{path}: {found:,} rows are there of {rows:,} that were written: is it a folder that the driver and "
                "all executors reach, and does nobody else write to it?"
            )
        return Stage(back, rows, path, observed)

    def collect(self, frame: DataFrame) -> Any:
        """Return a table as one Arrow table, on the driver."""
        with named(self.scratch.url):
            return frame.toArrow()

    def table(self, table: Any) -> DataFrame:
        """Return an Arrow table as one of Spark."""
        with named(self.scratch.url):
            return self.session.createDataFrame(table)

    def drop(self, stage: Stage) -> None:
        """Remove what was written, as nothing will read it again."""
        self.scratch.remove(stage.path)

    def remove(self) -> None:
        """Remove the folder with all that was written."""
        self.scratch.remove(self.scratch.url)


@contextmanager
def working(session: SparkSession, scratch: str | None = None) -> Iterator[Work]:
    """Yield where a job works: a folder of its own below `scratch`, a path or URI that the driver and executors reach.

    Where all runs on this machine, the system's folder for temporary files is taken. What is there is removed at the
    end, also after a failure.
    """
    work = Work.of(session, scratch)
    try:
        yield work
    finally:
        work.remove()


def run(frame: DataFrame, function: Callable[..., Any], schema: str, *arguments: Any) -> DataFrame:
    """Return what a function makes of the Arrow batches of each partition of a table; it is called by its name."""
    cloudpickle.register_pickle_by_value(travelling)  # type: ignore[no-untyped-call]
    called = function.__module__, function.__name__, __version__, pickle.dumps(arguments)
    return frame.mapInArrow(travelling.travelling(*called), schema)


def said(session: SparkSession, name: str) -> str:
    """Return what a session says of one of its settings; nothing where it knows none, or nobody may ask."""
    try:
        return str(session.conf.get(name) or "")
    except PySparkException:
        return ""


def _is_local(session: SparkSession) -> bool:
    return said(session, "spark.master").partition("[")[0] == "local"
