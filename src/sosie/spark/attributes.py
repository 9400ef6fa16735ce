"""What is known of some documents: their ids, lengths and places in order, from the blocks when they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sosie.spark.blocks import Blocks, Told, among, rows_of, states_of
from sosie.spark.packed import values_of
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64

COLUMNS = {"ids": "id", "orders": "order", "keeps": "keep"}


def attributes_of(work: Work, blocks: Blocks, rows: I64) -> Any:
    """Return a table with a row for each of these rows, which ascend: row, length, size, state, id, ...."""
    fields = {field.name: field.dataType for field in blocks.frame.schema.fields}
    lists = [name for name in COLUMNS if name in fields]
    kinds = [f"{COLUMNS[name]} {fields[name].elementType.simpleString()}" for name in lists]  # type: ignore[attr-defined]
    schema = ", ".join(["row long, length long, size int, state tinyint", *kinds])
    columns = ["part", "first", "count", "sizes", "lengths", "states", *lists]
    tables = [
        work.collect(work.run(frame.select(*columns), take_attributes, schema, blocks.firsts, told))
        for frame, told in blocks.telling(rows)
        if len(told.rows()[0])
    ]
    if not tables:
        return work.session.createDataFrame([], schema).toArrow()
    return pa.concat_tables(tables).combine_chunks().sort_by("row")


def take_attributes(batches: Batches, firsts: I64, wanted: Told) -> Batches:
    """Return what is known of the rows that are wanted."""
    ascending = wanted.rows()[0]
    for batch in batches:
        rows = rows_of(batch, firsts)
        places = np.flatnonzero(among(rows.numbers, ascending))
        if not len(places):
            continue
        lengths = values_of(batch.column("lengths"), np.int64)
        states = states_of(batch).view(np.int8)
        arrays = [pa.array(column[places]) for column in (rows.numbers, lengths, rows.sizes, states)]
        names = ["row", "length", "size", "state"]
        for name in (name for name in COLUMNS if name in batch.schema.names):
            arrays.append(batch.column(name).flatten().take(pa.array(places)))
            names.append(COLUMNS[name])
        yield pa.RecordBatch.from_arrays(arrays, names)
