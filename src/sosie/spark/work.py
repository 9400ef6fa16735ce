"""What a job on Spark works with: the session, a folder for tables between stages, and how it is cut."""

from __future__ import annotations

import itertools
import os
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sosie import __version__
from sosie.errors import UsageError
from sosie.parallel import thread_count
from sosie.spark.engine import load, named
from sosie.spark.scratch import Scratch
from sosie.spark.travelling import travelling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EDGES = 5_000_000  # pairs that the driver looks at alone, and documents in them


@dataclass(frozen=True, eq=False)
class Work:
    """A Spark session and a scratch folder; `partitions` after a shuffle; `edges` for the driver alone."""

    session: SparkSession
    scratch: Scratch
    partitions: int
    edges: int = EDGES
    _names: Any = field(default_factory=itertools.count, repr=False)

    @classmethod
    def of(
        cls,
        session: SparkSession,
        scratch: str | os.PathLike[str] | None = None,
        *,
        partitions: int | None = None,
        edges: int = EDGES,
    ) -> Work:
        """Return what a session works with; on a cluster, a scratch folder has to be named."""
        if partitions is not None and partitions < 1:
            raise UsageError(f"partitions must be at least 1, got {partitions}")
        with named():
            master, shuffled = said(session, "spark.master"), int(said(session, "spark.sql.shuffle.partitions") or 200)
        if scratch is None and not master.startswith("local"):
            raise UsageError(
                f"on a cluster ({master or 'of an unknown master'}) name a folder that the driver and all executors"
                " see, for tables between the stages: scratch= (--scratch)"
            )
        return cls(session, Scratch(scratch), partitions or shuffled, edges)

    @property
    def cores(self) -> int:
        """How many tasks run side by side, as far as the session says: at least so many partitions are worth it."""
        inside = re.search(r"\[(\d+|\*)", said(self.session, "spark.master"))
        if inside is not None:
            return thread_count(None) if inside[1] == "*" else int(inside[1])
        return int(said(self.session, "spark.cores.max") or 0) or self.partitions

    @property
    def broadcasts(self) -> bool:
        """Whether small tables may go to all executors."""
        return not said(self.session, "spark.sql.autoBroadcastJoinThreshold").startswith("-")

    @property
    def is_local(self) -> bool:
        """Whether the executors are in this process, on this machine."""
        return said(self.session, "spark.master").startswith("local")

    def run(self, frame: DataFrame, function: Callable[..., Any], schema: str, *arguments: Any) -> DataFrame:
        """Return what a function makes of the Arrow batches of each partition of a table; it is called by its name."""
        load()
        from pyspark import cloudpickle

        from sosie.spark import travelling as module

        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        task = travelling(function.__module__, function.__name__, __version__, pickle.dumps(arguments))
        return frame.mapInArrow(task, schema)

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a table to the scratch folder, and return it as it is there: it is not computed again."""
        path = f"{self.scratch.url}/{next(self._names)}-{name}"
        with named():
            frame.write.parquet(path)
            return self.session.read.schema(frame.schema).parquet(path)

    def collect(self, frame: DataFrame) -> Any:
        """Return a table as one Arrow table, on the driver."""
        with named():
            return frame.toArrow()

    def table(self, table: Any) -> DataFrame:
        """Return an Arrow table as one of Spark."""
        with named():
            return self.session.createDataFrame(table)


def said(session: SparkSession, name: str) -> str:
    """Return what a session says of one of its settings; nothing where it knows none."""
    try:
        return str(session.conf.get(name) or "")
    except Exception:  # a setting that has no default raises one of several errors
        return ""
