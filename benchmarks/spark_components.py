"""Connected components on a cluster: randomised contraction beside large-star/small-star, and beside the driver alone.

`python -m benchmarks.spark_components [--edges 100000 1000000] [--seconds 300]` prints for each graph and number of
edges what each took on `local[2]`, in how many rounds, and whether all found the same. Stars end after so many seconds.
Contraction leaves a tenth of the edges to the driver, or none. Graphs: clusters of near-duplicates as they are found
(cliques of 2 to 20, one of 1,000), chains of 100, a random graph whose greatest component has most rows, and one path
through all rows in random order, which is the hardest.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sosie.spark.components import connected
from sosie.spark.work import Stage, Work, working


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=list(GRAPHS))
    options = parser.parse_args()
    with session(2) as spark:
        spark.range(10).selectExpr("sum(id)").collect()  # the first query starts more than a query
        heads = f"{'driver':>10s}{'contracted':>12s}{'to the end':>12s}{'stars':>10s}{'rounds':>16s}"
        print(f"{'graph':10s}{'edges':>10s}{heads}  same")
        for name in options.graphs:
            for edges in options.edges:
                _compare(spark, name, edges, options.seconds)


@contextmanager
def session(cores: int, **conf: str) -> Iterator[SparkSession]:
    """Yield a session on so many cores of this machine."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.shuffle.partitions", 2 * cores).config("spark.driver.memory", "4g")
    spark = builder.config(map=conf).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def _compare(spark: SparkSession, name: str, edges: int, seconds: float) -> None:
    a, b = GRAPHS[name](edges, np.random.default_rng(7))
    pairs = spark.createDataFrame(pa.table({"a": np.minimum(a, b), "b": np.maximum(a, b)}))
    cases: list[Callable[[DataFrame, Work], DataFrame]] = [
        lambda pairs, work: connected(pairs, work, 10**12),
        lambda pairs, work: connected(pairs, work, edges // 10),
        lambda pairs, work: connected(pairs, work, 0),
        lambda pairs, work: stars(pairs, work, time.perf_counter() + seconds),
    ]
    took, found, rounds = [], [], []
    for case in cases:
        with working(spark) as work:
            counted, start = Counted(work.session, work.scratch), time.perf_counter()
            try:
                table = case(pairs, counted).toArrow().sort_by("row")
            except TimeoutError:
                took.append(f"> {seconds:.0f} s")
                continue
            took.append(f"{time.perf_counter() - start:.1f} s")
            found.append(table)
            rounds.append(counted.names.count("leaders") + counted.names.count("stars"))
    same = all(table.equals(found[0]) for table in found)
    said = ", ".join(f"{count}" for count in rounds[1:])
    print(
        f"{name:10s}{len(a):>10,}{took[0]:>10s}{took[1]:>12s}{took[2]:>12s}{took[3]:>10s}{said:>16s}  {same}",
        flush=True,
    )


@dataclass(frozen=True)
class Counted(Work):
    """A folder that knows what was written to it."""

    names: list[str] = field(default_factory=list)

    def stage(self, frame: DataFrame, name: str, **asked: Any) -> Stage:
        """Write rows, and remember what they are called."""
        self.names.append(name)
        return super().stage(frame, name, **asked)


def stars(pairs: DataFrame, work: Work, until: float) -> DataFrame:
    """Return rows and their components by large-star and small-star in turns (Kiveris et al. 2014, Algorithm 3)."""
    edges, before = work.stage(pairs.select("a", "b"), "edges"), None
    while True:
        done = work.stage(_small(_large(edges.frame)), "stars", mark=F.bit_xor(F.xxhash64("a", "b")))
        work.drop(edges)
        edges, now = done, (done.rows, done.observed["mark"])
        if now == before:
            break
        if time.perf_counter() > until:
            raise TimeoutError
        before = now
    found = edges.frame.select(F.col("b").alias("row"), F.col("a").alias("component"))
    roots = edges.frame.select("a").distinct().select(F.col("a").alias("row"), F.col("a").alias("component"))
    return work.stage(found.union(roots), "components").frame


def _large(edges: DataFrame) -> DataFrame:
    """Link the neighbours of each row that come after it with the first of all, itself included."""
    both = edges.union(edges.select("b", "a")).toDF("row", "other")
    least = both.groupBy("row").agg(F.least(F.min("other"), "row").alias("least"))
    return _oriented(both.where("other > row").join(least, "row"))


def _small(edges: DataFrame) -> DataFrame:
    """Link each row, and its neighbours that come before it, with the first of these."""
    earlier = edges.select(F.col("b").alias("row"), F.col("a").alias("other"))
    least = earlier.groupBy("row").agg(F.min("other").alias("least"))
    own = least.select("row", "least", F.col("row").alias("other"))
    return _oriented(earlier.join(least, "row").select("row", "least", "other").union(own))


def _oriented(links: DataFrame) -> DataFrame:
    ends = links.where("other != least").select(F.least("other", "least"), F.greatest("other", "least"))
    return ends.toDF("a", "b").distinct()


def _cliques(edges: int, rng: Any) -> tuple[Any, Any]:
    """Clusters of near-duplicates: most are small, one has a thousand members where there are edges for it."""
    a, b, start, left = [], [], 0, edges
    sizes = iter([1000] if edges > 10**6 // 2 else [])
    while left > 0:
        size = next(sizes, int(rng.integers(2, 21)))
        first, second = np.triu_indices(size, 1)
        a.append(first + start)
        b.append(second + start)
        start, left = start + size, left - len(first)
    names = rng.permutation(start)
    return names[np.concatenate(a)], names[np.concatenate(b)]


def _chains(edges: int, rng: Any) -> tuple[Any, Any]:
    rows = np.arange(edges // 99 * 100)
    names = rng.permutation(len(rows))
    first = rows[rows % 100 < 99]
    return names[first], names[first + 1]


def _random(edges: int, rng: Any) -> tuple[Any, Any]:
    a, b = rng.integers(0, edges, (2, edges))
    return a[a != b], b[a != b]


def _path(edges: int, rng: Any) -> tuple[Any, Any]:
    names = rng.permutation(edges + 1)
    return names[:-1], names[1:]


GRAPHS: dict[str, Callable[[int, Any], tuple[Any, Any]]] = {
    "cliques": _cliques,
    "chains": _chains,
    "random": _random,
    "path": _path,
}

if __name__ == "__main__":
    main()
