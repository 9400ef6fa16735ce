"""Anchored clusters on a cluster: who stays is decided in keep order, as on one machine, for any number of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sosie.clusters.grouping import anchored as grouped
from sosie.planner.machine import Machine
from sosie.spark.components import connected
from sosie.spark.work import Stage, Work
from sosie.types import F64, I64, VerifiedPairs

_ANCHORS = "row long, anchor long, similarity double"


def anchored(pairs: DataFrame, work: Work, driver_pairs: int | None = None) -> DataFrame:
    """Return `row`, `anchor` and `similarity` of all rows that occur in verified pairs (`a` < `b`, `similarity`).

    Rows are numbered in keep order. A row similar to no kept one before it is kept, and its own anchor; any other has
    its most similar kept one, the first of those. Up to `driver_pairs` pairs are looked at on the driver (by default as
    many as that is faster for).

    On the cluster it goes by rounds: a row that has no undecided one before it stays, what is similar to it and comes
    later goes, and pairs of what goes are left out. Where chains make that slow, whole components are decided at a
    time, each in one task.
    """
    limit = Machine().ns("driver_pairs") if driver_pairs is None else driver_pairs
    held = work.stage(pairs.select("a", "b", "similarity"), "pairs")
    if held.rows <= limit:
        found = _on_driver(held.frame, work)
    else:
        gone = _gone(held, work, limit)
        found = _nearest(held.frame, gone)
    done = work.stage(found, "anchors")
    work.drop(held)
    return done.frame


def _gone(held: Stage, work: Work, limit: float) -> DataFrame:
    """Return the rows that go, each once: those similar to one before them that stays."""
    worth = 1 - Machine().ns("round_share")
    gone, rest = list[DataFrame](), work.stage(held.frame.select("a", "b"), "undecided")
    while rest.rows > limit:
        going = work.stage(_going(rest.frame), "gone")
        gone.append(going.frame)
        fewer = work.stage(_without(rest.frame, going.frame), "undecided")
        slow = fewer.rows > worth * rest.rows
        work.drop(rest)
        rest = fewer
        if slow and rest.rows > limit:
            gone.append(work.stage(_by_component(rest, work), "gone").frame)
            break
    else:
        gone.append(work.stage(_left_over(rest.frame, work), "gone").frame)
    work.drop(rest)
    return reduce(DataFrame.union, gone)


def _going(pairs: DataFrame) -> DataFrame:
    """Return the rows that are similar to one that no undecided row comes before."""
    staying = pairs.select("a").distinct().join(pairs.select(F.col("b").alias("a")), "a", "left_anti")
    return pairs.join(staying, "a", "left_semi").select(F.col("b").alias("row")).distinct()


def _without(pairs: DataFrame, going: DataFrame) -> DataFrame:
    """Return the pairs of which no row goes."""
    kept = pairs.join(going.toDF("a"), "a", "left_anti")
    return kept.join(going.toDF("b"), "b", "left_anti").select("a", "b")


def _by_component(rest: Stage, work: Work) -> DataFrame:
    """Return the rows that go, of which each task decides those of some components."""
    components = connected(rest.frame, work).toDF("a", "component")
    tasks = int(rest.rows // Machine().ns("task_pairs")) + 1
    placed = rest.frame.join(components, "a").repartition(tasks, "component").select("a", "b")
    return placed.mapInArrow(_decided, "row long")


def _decided(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows that go of all the pairs of a task, which are those of whole components."""
    table = pa.Table.from_batches(list(batches), pa.schema({"a": pa.int64(), "b": pa.int64()}))
    rows, anchor, _ = _anchors(table["a"].to_numpy(), table["b"].to_numpy(), np.ones(len(table)))
    yield from pa.table({"row": rows[anchor != rows]}).to_batches()


def _left_over(pairs: DataFrame, work: Work) -> DataFrame:
    """Return the rows that go of few pairs."""
    table = pa.Table.from_batches(_decided(pairs.toArrow().to_batches()), pa.schema({"row": pa.int64()}))
    return work.session.createDataFrame(table)


def _nearest(pairs: DataFrame, gone: DataFrame) -> DataFrame:
    """Return the most similar kept row of each that goes, and those that stay as their own."""
    deciding = pairs.join(gone.toDF("a"), "a", "left_anti")
    best = F.max_by(F.struct("a", "similarity"), F.struct("similarity", -F.col("a")))
    going = deciding.groupBy(F.col("b").alias("row")).agg(best.alias("best"))
    going = going.select("row", F.col("best.a").alias("anchor"), F.col("best.similarity").alias("similarity"))
    rows = pairs.select("a").union(pairs.select("b")).toDF("row").distinct()
    staying = rows.join(gone, "row", "left_anti").select("row", F.col("row").alias("anchor"), F.lit(1.0))
    return going.union(staying)


def _on_driver(pairs: DataFrame, work: Work) -> DataFrame:
    """Return the anchors of all rows, as one machine finds them."""
    table = pairs.toArrow()
    found = _anchors(*(table[name].to_numpy() for name in ("a", "b", "similarity")))
    return work.session.createDataFrame(pa.table(dict(zip(("row", "anchor", "similarity"), found, strict=True))))


def _anchors(a: I64, b: I64, similarity: F64) -> tuple[I64, I64, F64]:
    """Return the rows of some pairs in keep order, the anchor of each, and how similar it is to that."""
    rows, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = places[: len(a)].astype(np.int64), places[len(a) :].astype(np.int64)
    order = np.lexsort((second, first))
    shared = np.zeros(len(a), np.int64)
    clusters = grouped(len(rows), VerifiedPairs(first[order], second[order], similarity[order], shared))
    return rows, rows[clusters.anchor], clusters.similarity
