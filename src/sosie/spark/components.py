"""Connected components on a cluster: a graph is contracted until the driver can take what is left of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sosie.clusters.components import Components
from sosie.errors import StorageError
from sosie.planner.machine import Machine
from sosie.spark.work import Stage, Work

_SEED = 20200420  # of the orders by which rows are contracted; whichever it is, the components are the same


def connected(pairs: DataFrame, work: Work, driver_pairs: int | None = None) -> DataFrame:
    """Return `row` and `component` of all rows that occur in pairs (`a`, `b`): the first row that chains lead to.

    Up to `driver_pairs` pairs are connected on the driver (by default as many as that is faster for). More are
    contracted on the cluster first: in each round every row joins the one that comes first among its neighbours and
    itself, in an order that is another in each round. At most three quarters of the rows are to be expected to be left
    after a round, whatever the graph (Bögeholz, Brand and Todor 2020).
    """
    limit = Machine().ns("driver_pairs") if driver_pairs is None else driver_pairs
    edges, rounds = work.stage(pairs.select("a", "b"), "edges"), list[Stage]()
    while edges.rows > limit:
        rounds.append(work.stage(_leaders(edges.frame, _SEED + len(rounds)), "leaders"))
        fewer = work.stage(_contracted(edges.frame, rounds[-1].frame), "edges")
        work.drop(edges)
        edges = fewer
    labels = work.stage(_on_driver(edges.frame, work), "labels")
    work.drop(edges)
    if not rounds:
        return labels.frame.withColumnRenamed("leader", "component")
    for leaders in reversed(rounds):
        labels = _followed(leaders, labels, work)
    first = labels.frame.groupBy("leader").agg(F.min("row").alias("component"))
    found = work.stage(labels.frame.join(first, "leader").select("row", "component"), "components")
    _check(found, labels)
    work.drop(labels)
    return found.frame


def _leaders(edges: DataFrame, seed: int) -> DataFrame:
    """Return for each row which of its neighbours and itself comes first in the order of a seed."""
    both = edges.select("a", "b").union(edges.select("b", "a")).toDF("row", "other")
    first = both.groupBy("row").agg(F.min(F.struct(F.xxhash64("other", F.lit(seed)).alias("place"), "other")))
    near, own = F.col(first.columns[1]), F.xxhash64("row", F.lit(seed))
    itself = (own < near["place"]) | ((own == near["place"]) & (F.col("row") < near["other"]))
    return first.select("row", F.when(itself, F.col("row")).otherwise(near["other"]).alias("leader"))


def _contracted(edges: DataFrame, leaders: DataFrame) -> DataFrame:
    """Return the edges between those that rows have joined, each once."""
    a = leaders.toDF("a", "of_a")
    b = leaders.toDF("b", "of_b")
    joined = edges.join(a, "a").join(b, "b").where("of_a != of_b")
    return joined.select(F.least("of_a", "of_b").alias("a"), F.greatest("of_a", "of_b").alias("b")).distinct()


def _followed(leaders: Stage, labels: Stage, work: Work) -> Stage:
    """Return whom each row of a round follows in the end: those that are left have joined others meanwhile."""
    later = labels.frame.toDF("leader", "last")
    joined = leaders.frame.join(later, "leader", "left").select("row", F.coalesce("last", "leader").alias("leader"))
    found = work.stage(joined, "labels")
    _check(found, leaders)
    work.drop(leaders)
    work.drop(labels)
    return found


def _on_driver(edges: DataFrame, work: Work) -> DataFrame:
    """Return the first row of each row's component, as one machine finds it."""
    table = edges.toArrow()
    a, b = (table[name].to_numpy() for name in ("a", "b"))
    rows, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    components = Components(len(rows))
    components.add(places[: len(a)], places[len(a) :])
    found = pa.table({"row": rows, "leader": rows[components.first()]})
    return work.session.createDataFrame(found)


def _check(found: Stage, expected: Stage) -> None:
    """Refuse to go on when rows were lost, as when a file of an earlier stage has gone: clusters would be wrong."""
    if found.rows != expected.rows:
        raise StorageError(
            f"{found.path}: {found.rows:,} rows are left of {expected.rows:,}: what an earlier stage wrote is not all "
            "there any more. Start again."
        )
