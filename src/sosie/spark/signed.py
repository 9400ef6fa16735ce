"""Signatures or keys of a DataFrame as blocks: numbered in the order of their ids, those of two collections through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sosie.errors import DataError, MismatchError, UsageError
from sosie.shown import counted
from sosie.spark.blocks import Blocks, binary, handed_on, written_blocks
from sosie.spark.signing import KEYS, SAID, WORDS
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMA = (
    "part int, first long, count int, features long, sizes binary, signed binary,"
    " null_ids int, narrowest int, widest int"
)
_BLOB = 1 << 14  # bytes of a block, about
_WIDE = 1 << 30


@dataclass(frozen=True, eq=False)
class Signed:
    """Blocks of signatures or keys, each of `width` words; rows from `split` on are the second collection (0: none).

    `bits` are those of a signature, None for keys.
    """

    blocks: Blocks
    width: int
    bits: int | None
    split: int


def column_of(frame: DataFrame) -> str | None:
    """Return which column of a DataFrame holds signatures or keys, None if none does."""
    kinds = dict(frame.dtypes)
    return next((name for name in (WORDS, KEYS) if kinds.get(name) == "array<bigint>"), None)


def read_signed(work: Work, frames: Sequence[DataFrame], bits: int | None) -> Signed:
    """Write the signatures or keys of one DataFrame, or of two, to the scratch folder, in the order of their ids."""
    names = {column_of(frame) for frame in frames}
    if len(names) > 1 or None in names:
        raise MismatchError("signatures are joined with signatures and keys with keys: sign both in one way")
    (name,) = names
    said = [_said(frame, str(name)) for frame in frames]
    spaces = {each["space"] for each in said if "space" in each}
    if len(spaces) > 1:
        raise MismatchError(f"{name} of {' and '.join(sorted(spaces))} cannot be joined: sign both with one signer")
    read = [_read(work, frame, str(name)) for frame in frames]
    widths = {each.counts["widest"] for each in read if each.counts["widest"]}
    if len(widths) > 1 or any(each.counts["widest"] != each.counts["narrowest"] for each in read if each.rows):
        raise DataError(f"the column {name!r} holds arrays of several lengths: sign all documents with one signer")
    width = widths.pop() if widths else 1
    known = {each["bits"] for each in said if "bits" in each} or {bits or 64 * width}
    if len(known) > 1:
        raise MismatchError(f"signatures of {' and '.join(map(str, sorted(known)))} bits cannot be joined")
    blocks = read[0] if len(read) == 1 else beside(*read)
    return Signed(blocks, width, known.pop() if name == WORDS else None, read[0].rows if len(read) > 1 else 0)


def read_rows(batches: Batches, name: str) -> Batches:
    """Turn the signatures of a partition into blocks."""
    from pyspark import TaskContext

    part, first = TaskContext.get().partitionId(), 0  # type: ignore[union-attr]
    for batch in batches:
        if not batch.num_rows:
            continue
        ids, signed = batch.column("id"), batch.column(name)
        sizes = signed.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        values = signed.flatten().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        step = max(1, _BLOB // (8 * int(sizes.max(initial=1)) + 16))
        starts = np.arange(0, batch.num_rows, step)
        ends = np.append(starts[1:], batch.num_rows)
        offsets, some = offsets_of(sizes), sizes[sizes > 0]
        edges = pa.array(np.append(starts, batch.num_rows).astype(np.int32))
        yield from handed_on(
            {
                "part": pa.array(np.full(len(starts), part, np.int32)),
                "first": pa.array(starts + first),
                "count": pa.array((ends - starts).astype(np.int32)),
                "features": pa.array(ends - starts),
                "sizes": binary((sizes > 0).astype(np.int32), starts, ends),
                "signed": binary(values.view(np.uint64), offsets[starts], offsets[ends]),
                "null_ids": pa.array(np.full(len(starts), ids.null_count, np.int32)),
                "narrowest": pa.array(np.full(len(starts), some.min(initial=_WIDE)).astype(np.int32)),
                "widest": pa.array(np.full(len(starts), some.max(initial=0)).astype(np.int32)),
                "ids": pa.ListArray.from_arrays(edges, ids),
            }
        )
        first += batch.num_rows


def _read(work: Work, frame: DataFrame, name: str) -> Blocks:
    """Read one collection; its ids order it."""
    from pyspark.sql import functions as F

    if "id" not in frame.columns:
        raise UsageError("signatures of a DataFrame need ids, in a column 'id', as sosie.spark.sign makes them")
    kinds = dict(frame.dtypes)
    if kinds["id"] not in ("string", "tinyint", "smallint", "int", "bigint"):
        raise UsageError(f"the column 'id' is {kinds['id']}; ids are integers or text")
    kind = "string" if kinds["id"] == "string" else "bigint"
    ordered = frame.select(F.col("id").cast(kind).alias("id"), F.col(name)).orderBy("id")
    made = work.run(ordered, read_rows, f"{_SCHEMA}, ids array<{kind}>", name)
    sums = {each: F.max(each) for each in ("null_ids", "widest")} | {"narrowest": F.min("narrowest")}
    blocks = written_blocks(work, made, "features", **sums)
    if blocks.counts["null_ids"]:
        raise DataError(f"{counted(blocks.counts['null_ids'], 'row')} or more without an id: fill the column 'id'")
    return blocks


def beside(first: Blocks, second: Blocks) -> Blocks:
    """Return two tables of blocks as one; rows of the second are numbered after those of the first."""
    from pyspark.sql.functions import col

    moved = second.frame.withColumn("part", (col("part") + len(first.firsts)).cast("int"))
    firsts = np.concatenate([first.firsts, second.firsts + first.rows])
    return Blocks(first.frame.unionByName(moved), firsts, first.rows + second.rows, first.counts)


def _said(frame: DataFrame, name: str) -> dict[str, Any]:
    """Return what a column says of the signer that made it."""
    return dict(frame.schema[name].metadata.get(SAID, {}))
