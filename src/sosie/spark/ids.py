"""Rows become documents again: pairs of row numbers with their ids, by joins of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sosie.spark.blocks import Blocks
from sosie.spark.candidates import PAIRS
from sosie.spark.exchange import buckets_of, record_batch
from sosie.spark.packed import unpack
from sosie.spark.travelling import Batches
from sosie.spark.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def row_ids(work: Work, blocks: Blocks) -> DataFrame:
    """Return the number of every row with the id of its document: row, id."""
    from pyspark.sql import functions as F

    parts = np.arange(len(blocks.firsts), dtype=np.int32)
    begins = work.table(pa.table({"part": parts, "begin": blocks.firsts}))
    begins = F.broadcast(begins) if work.broadcasts else begins
    each = blocks.frame.select("part", "first", F.posexplode("ids").alias("place", "id"))
    return each.join(begins, "part").select((F.col("begin") + F.col("first") + F.col("place")).alias("row"), "id")


def with_ids(work: Work, blocks: Blocks, pairs: DataFrame, split: int = 0) -> DataFrame:
    """Return pairs of rows `a` and `b` as pairs of ids, with the other columns.

    Inside one collection a is the id that comes first; with a `split`, it is that of the first collection.
    """
    from pyspark.sql import functions as F

    ids = row_ids(work, blocks)
    others = [name for name in pairs.columns if name not in ("a", "b")]
    first = ids.select(F.col("row").alias("a"), F.col("id").alias("id_a"))
    second = ids.select(F.col("row").alias("b"), F.col("id").alias("id_b"))
    joined = pairs.join(first, "a").join(second, "b")
    if split:
        return joined.select(F.col("id_a").alias("a"), F.col("id_b").alias("b"), *others)
    lower, upper = F.least("id_a", "id_b"), F.greatest("id_a", "id_b")
    return joined.select(lower.alias("a"), upper.alias("b"), *others)


def row_pairs(work: Work, entries: DataFrame, columns: int) -> DataFrame:
    """Return packed pairs, which have so many columns beside their first rows, as rows of a table: a, b."""
    return work.run(entries, take_rows, "a long, b long", columns)


def take_rows(batches: Batches, columns: int) -> Batches:
    """Unpack pairs."""
    for _, blobs in buckets_of(batches):
        for data in blobs.get(PAIRS, []):
            a, (b, *_) = unpack(data, [np.int64] * columns)
            yield record_batch(a=a, b=b)
