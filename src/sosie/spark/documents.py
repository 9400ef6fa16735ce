"""The documents of a DataFrame: its columns checked, and its texts turned into numbered blocks of features.

A DataFrame has no order. Documents come in the order of their ids, or of another column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.columns import joined_columns
from sosie.documents.order import Order, decode_order
from sosie.errors import DataError, UsageError
from sosie.shown import counted
from sosie.spark.attributes import attributes_of
from sosie.spark.blocks import SCHEMA, SUMS, Blocks, Extraction, binary, handed_on, written_blocks
from sosie.spark.copies import Copies
from sosie.spark.engine import check_frame
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.storage.ids import hash_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT, ID, ORDER, KEEP = "text", "id", "order", "keep"
_NAME_ANOTHER = "Name another: text_column=, id_column=, order_column=, keep=."


@dataclass(frozen=True)
class Chosen:
    """Which columns of a DataFrame are read: the texts, the ids, what orders the documents, and who stays."""

    text: tuple[str, ...]
    id: str
    order: str | None = None
    keep: Order | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Return these columns of a DataFrame by other names: `text0`, ..., `id`, and `order` and `keep` if wanted."""
        from pyspark.sql.functions import col

        named = {f"{TEXT}{place}": name for place, name in enumerate(self.text)} | {ID: self.id}
        if self.order is not None:
            named[ORDER] = self.order
        if self.keep is not None:
            named[KEEP] = self.keep.column
        return frame.select(*(col(name).alias(alias) for alias, name in named.items()))


def choose(
    frame: DataFrame,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    order_column: str | None = None,
    keep: Order | None = None,
) -> Chosen:
    """Check that a DataFrame has the columns that are wanted, of types that can be read."""
    check_frame(frame)
    texts = (text_column,) if isinstance(text_column, str) else tuple(text_column)
    if not texts or not all(isinstance(name, str) for name in texts):
        raise UsageError(f"text_column is the name of a column, or several names; got {text_column!r}")
    if id_column is None and "id" not in frame.columns:
        raise UsageError(
            "documents of a DataFrame need ids, and there is no column 'id': name another with id_column=. Rows have no"
            " numbers that stay the same when they are computed again."
        )
    chosen = Chosen(texts, id_column or "id", order_column, keep)
    kinds = {name: _kind(frame, name) for name in (*texts, chosen.id, order_column, keep and keep.column) if name}
    for name in texts:
        if kinds[name] not in ("string", "varchar", "char"):
            raise UsageError(f"the column {name!r} is {kinds[name]}, not text. Name another with text_column=.")
    if kinds[chosen.id] not in ("string", "byte", "short", "integer", "long"):
        raise UsageError(f"the column {chosen.id!r} is {kinds[chosen.id]}; ids are integers or text. {_NAME_ANOTHER}")
    if keep is not None:
        kind = kinds[keep.column]
        times = ("date", "timestamp", "timestamp_ntz") if keep.kind == "newest" else ("boolean",)
        if kind not in ("byte", "short", "integer", "long", "float", "double", "decimal", *times):
            wanted = "times or numbers" if keep.kind == "newest" else "numbers"
            raise UsageError(f"the column {keep.column!r} is {kind}, not {wanted}. See keep=.")
    return chosen


def read_documents(work: Work, frame: DataFrame, chosen: Chosen, extraction: Extraction) -> Blocks:
    """Write the blocks of all documents to the scratch folder, numbered, with ids, order and what decides who stays."""
    selected = chosen.of(frame)
    kinds = {field.name: field.dataType.simpleString() for field in selected.schema.fields}
    id_kind = "string" if kinds[ID] == "string" else "bigint"
    schema = f"{SCHEMA}, null_ids int, id_hashes binary, ids array<{id_kind}>"
    if chosen.order is not None:
        schema += f", orders array<{kinds[ORDER]}>"
    if chosen.keep is not None:
        schema += f", keeps array<{_keep_kind(kinds[KEEP])}>"
    read = work.run(selected, read_texts, schema, extraction, len(chosen.text), chosen.keep)
    return written_blocks(work, read, "null_ids", *SUMS)


def check_read(blocks: Blocks, chosen: Chosen, skip: bool) -> None:
    """Raise if some of the documents cannot be used."""
    counts = blocks.counts
    if counts["null_ids"]:
        raise DataError(
            f"{counted(counts['null_ids'], 'document')} without an id: the column {chosen.id!r} is null. Fill it, or"
            " leave these rows out."
        )
    if counts["rejected"] and not skip:
        raise DataError(
            f"{counted(counts['rejected'], 'document')} without a text: {' and '.join(map(repr, chosen.text))} is null."
            " Fill it, leave these rows out, or pass on_error='skip'."
        )


def check_ids(work: Work, blocks: Blocks, chosen: Chosen, copies: Copies) -> None:
    """Refuse ids that are there twice; hashes of ids only tell where to look."""
    if not len(copies.repeated):
        return
    rows = np.unique(np.concatenate([copies.repeated, copies.repeated_of]))
    known = attributes_of(work, blocks, rows)
    again = known.group_by("id").aggregate([("row", "count")]).filter(pc.field("row_count") > 1).sort_by("id")
    if again.num_rows:
        first, count = again["id"][0].as_py(), again["row_count"][0].as_py()
        others = f", and {counted(again.num_rows - 1, 'other id')} as well" if again.num_rows > 1 else ""
        raise DataError(
            f"{counted(count, 'document')} have the id {first!r} (column {chosen.id!r}){others}. Make the ids"
            " distinct, or name another id_column=."
        )


def read_texts(batches: Batches, extraction: Extraction, texts: int, keep: Order | None) -> Batches:
    """Turn the documents of a partition into blocks."""
    from pyspark import TaskContext

    part, first = TaskContext.get().partitionId(), 0  # type: ignore[union-attr]
    for batch in batches:
        if not batch.num_rows:
            continue
        column = joined_columns([batch.column(f"{TEXT}{place}") for place in range(texts)])
        blocks, starts = extraction.blocks(column, part, first)
        ids = batch.column(ID)
        ids = ids.cast(pa.int64()) if pa.types.is_integer(ids.type) else ids
        nulls = ids.is_null().to_numpy(zero_copy_only=False)
        blocks["null_ids"] = pa.array(np.add.reduceat(nulls, starts, dtype=np.int32))
        lists = {"ids": ids}
        if ORDER in batch.schema.names:
            lists["orders"] = batch.column(ORDER)
        if keep is not None:
            lists["keeps"], _ = decode_order(batch.column(KEEP), keep)
        edges = np.append(starts, batch.num_rows)
        blocks["id_hashes"] = binary(
            hash_ids(ids.fill_null(0 if pa.types.is_integer(ids.type) else "")), starts, edges[1:]
        )
        blocks |= {
            name: pa.ListArray.from_arrays(pa.array(edges.astype(np.int32)), each) for name, each in lists.items()
        }
        yield from handed_on(blocks)
        first += batch.num_rows


def _kind(frame: DataFrame, name: str) -> str:
    """Return the type of a column, which may be inside another; say what there is where it is not there."""
    schema: Any = frame.schema
    try:
        for part in [name] if name in schema.names else name.split("."):
            (schema,) = (field.dataType for field in schema.fields if field.name == part)
    except (AttributeError, ValueError):
        count = frame.columns.count(name)
        problem = f"are {count} columns {name!r}" if count else f"is no column {name!r}"
        there = f"The columns are: {', '.join(frame.columns) or 'none'}."
        near = get_close_matches(name, frame.columns, 1)
        meant = f" Did you mean {near[0]!r}?" if near and not count else ""
        raise UsageError(f"the DataFrame: there {problem}. {there}{meant} {_NAME_ANOTHER}") from None
    return str(schema.typeName())


def _keep_kind(kind: str) -> str:
    """Return the type of the values that decide who stays, as `decode_order` makes them of a column."""
    return "double" if kind in ("float", "double") or kind.startswith("decimal") else "bigint"
