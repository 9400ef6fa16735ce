"""Files on a cluster: each is read by the task that takes it, in the formats that one machine reads, into blocks.

What a reading knows of its documents, their ids among it, comes back to the driver, which then knows what it would know
if it had read all files itself.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.documents.batch import Batch, Reject
from sosie.documents.columns import OTHER_IDS, Columns
from sosie.documents.formats import format_of
from sosie.documents.input import DocumentFiles, Input, Inputs
from sosie.documents.joined import joined_state
from sosie.documents.order import join_orders
from sosie.documents.places.remote import is_url
from sosie.documents.reading import Reading
from sosie.documents.rejects import Rejects, RejectSpill
from sosie.documents.seen import SeenIds
from sosie.errors import DataError, UsageError
from sosie.parallel import thread_count
from sosie.spark.blocks import SCHEMA, SUMS, Blocks, Extraction, handed_on, written_blocks
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.storage.room import Room
from sosie.types import offsets_of

FILES = 1 << 10  # of one document each, that one task takes
_STATE = "names array<string>, arrays array<binary>"
_TASKS = 10_000  # at most
_REJECTS, _ORDER, _NULL = "rejects.", "order", "order_null"


class FilesRead(NamedTuple):
    """The blocks of all documents of files, numbered as the documents are; the rejects, and what decides who stays."""

    blocks: Blocks
    rejects: Rejects
    order: Any


def read_files(work: Work, reading: Reading, extraction: Extraction) -> FilesRead:
    """Read the inputs of a reading on the executors; it then knows its documents as if it had read them."""
    parts = list(_parts(reading.inputs, work.is_local))
    sources = [source for source, _ in parts]
    table = pa.table(
        {
            "part": pa.array(np.arange(len(parts), dtype=np.int32)),
            "input": pa.array([pickle.dumps(place) for _, place in parts], pa.binary()),
        }
    )
    tasks = work.table(table).repartition(max(1, min(len(parts), _TASKS)), "part")
    threads = max(1, work.cores // max(len(parts), 1))
    read = work.run(tasks, read_parts, f"{SCHEMA}, {_STATE}", extraction, reading.columns, reading.skips, threads)
    blocks = written_blocks(work, read, *SUMS)
    states = _states(work, blocks)
    _restore(reading, [states[part] for part in range(len(parts))], sources)
    return FilesRead(blocks, *_beside(states))


def repeated_ids(reading: Reading, rejects: Rejects) -> list[Reject]:
    """Return the documents whose id one of an earlier input has, as rejects, or raise at the first of them.

    Those of one input were looked at when it was read.
    """
    if reading.columns.id_type is None:
        return []
    seen, found = SeenIds(reading.ids.take), []
    firsts = offsets_of(reading.counts)
    for start, stop in pairwise(firsts.tolist()):
        rows = np.setdiff1d(np.arange(start, stop), rejects.rows[(rejects.rows >= start) & (rejects.rows < stop)])
        earlier = seen.admit(reading.ids.take(rows), rows)
        for place in np.flatnonzero(earlier >= 0).tolist():
            here, there = reading.ids.places(np.array([rows[place], earlier[place]]))
            said = f"duplicate id {reading.ids.take(rows[place : place + 1])[0].as_py()!r}, first in {there}"
            if not reading.skips:
                raise DataError(f"{here}: {said}. Make the ids distinct, or pass --on-error skip. {OTHER_IDS}")
            (source,), (line,) = reading.ids.located(rows[place : place + 1])
            file, at = reading.inputs[source].place(int(line))
            found.append(Reject(int(rows[place]), file, at, said))
    return found


def read_parts(batches: Batches, extraction: Extraction, columns: Columns, skip: bool, threads: int) -> Batches:
    """Read the inputs of a partition into blocks, and tell what is known of each when it is read."""
    for batch in batches:
        for part, data in zip(batch.column("part").to_pylist(), batch.column("input").to_pylist(), strict=True):
            yield from _read(part, pickle.loads(data), extraction, columns, skip, min(threads, thread_count(None)))


def _read(part: int, place: Input, extraction: Extraction, columns: Columns, skip: bool, threads: int) -> Iterator[Any]:
    format_of(place).load(place)
    reading = Reading(Inputs([place]), columns, skip, batch_size=1 << 14).start(threads)
    orders: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch, RejectSpill(Room(scratch)) as rejected:
        for batch in reading:
            rejected.append(batch.rejects)
            texts, first = _with_rejected(batch)
            blocks, starts = extraction.blocks(texts, part, first)
            none = pa.nulls(len(starts))
            blocks |= {"names": none.cast(pa.list_(pa.string())), "arrays": none.cast(pa.list_(pa.binary()))}
            yield from handed_on(blocks)
            if batch.order is not None:
                orders.append(_ordered(batch, first, len(texts)))
        state = {**reading.state(), **_named(rejected.rejects())}
    if columns.order is not None:
        order = join_orders(orders)
        state |= {_ORDER: order.fill_null(0).to_numpy(), _NULL: order.is_null().to_numpy(zero_copy_only=False)}
    blocks, _ = extraction.blocks(pa.array([], pa.large_string()), part, 0)
    names = [f"{name}:{array.dtype.str}" for name, array in state.items()]
    closing: dict[str, Any] = {name: _one(column.type) for name, column in blocks.items()}
    closing["part"] = pa.array([part], pa.int32())
    closing["names"] = pa.array([names], pa.list_(pa.string()))
    closing["arrays"] = pa.array([[array.tobytes() for array in state.values()]], pa.list_(pa.binary()))
    yield from handed_on(closing)


def _with_rejected(batch: Batch) -> tuple[Any, int]:
    """Return the texts of all records of a batch, null where one was rejected, and the number of the first."""
    rows = np.concatenate([batch.rows, np.array([reject.row for reject in batch.rejects], np.int64)])
    first = int(rows.min())
    if not batch.rejects:
        return batch.texts, first
    place = np.zeros(len(rows), np.int64)
    place[batch.rows - first] = np.arange(len(batch.rows))
    none = np.ones(len(rows), np.bool_)
    none[batch.rows - first] = False
    return batch.texts.take(pa.array(place, mask=none)), first


def _ordered(batch: Batch, first: int, count: int) -> Any:
    """Return what decides who stays for all records of a batch, null for those that were rejected."""
    place, none = np.zeros(count, np.int64), np.ones(count, np.bool_)
    place[batch.rows - first], none[batch.rows - first] = np.arange(len(batch.rows)), False
    return batch.order.take(pa.array(place, mask=none))


def _parts(inputs: Inputs, local: bool) -> Iterator[tuple[int, Input]]:
    """Yield what tasks read, with the number of the input that it is of: many files of one document each in several."""
    for source, place in enumerate(inputs):
        if not local and (place.spool is not None or place.table is not None):
            raise UsageError(f"{place.label}: is on this machine alone. Write it to a file that all executors reach.")
        if not local and not is_url(place.path):
            place = replace(place, path=os.path.abspath(place.path))
        if place.files is None:
            yield source, place
            continue
        files = place.files
        for start in range(0, len(files.entries), FILES):
            here = slice(start, start + FILES)
            yield source, replace(place, files=DocumentFiles(files.entries[here], files.names[here]))


def _states(work: Work, blocks: Blocks) -> dict[int, dict[str, NDArray[Any]]]:
    """Return what was told of each part."""
    table = work.collect(blocks.frame.where("names is not null").select("part", "names", "arrays"))
    states = {}
    for part, names, arrays in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
        kinds = [name.rpartition(":") for name in names]
        states[part] = {name: np.frombuffer(data, kind) for (name, _, kind), data in zip(kinds, arrays, strict=True)}
    return states


def _restore(reading: Reading, states: list[dict[str, NDArray[Any]]], sources: list[int]) -> None:
    """Let a reading know what the parts of its inputs know."""
    if not states:
        reading.finished = True
        return
    state = joined_state(states)
    counts = np.bincount(sources, state["counts"], len(reading.inputs)).astype(np.int64)
    reading.restore({**state, "counts": counts, "firsts": offsets_of(counts)})


def _beside(states: dict[int, dict[str, NDArray[Any]]]) -> tuple[Rejects, Any]:
    """Return the rejects of all parts, by the numbers of documents, and what decides who stays."""
    rows, ends, lines, orders = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.uint8)], []
    first = size = 0
    for _, state in sorted(states.items()):
        rows.append(state[_REJECTS + "rows"] + first)
        ends.append(state[_REJECTS + "ends"] + size)
        lines.append(state[_REJECTS + "lines"])
        first, size = first + int(state["counts"].sum()), size + len(lines[-1])
        if _ORDER in state:
            orders.append(pa.array(state[_ORDER], mask=state[_NULL]))
    rejects = Rejects(np.concatenate(rows), np.concatenate(ends), np.concatenate(lines))
    return rejects, join_orders(orders) if orders else None


def _named(rejects: Rejects) -> dict[str, NDArray[Any]]:
    return {_REJECTS + name: np.asarray(array) for name, array in vars(rejects).items()}


def _one(kind: Any) -> Any:
    """Return one value of a type that says nothing."""
    return pa.array([b"" if pa.types.is_binary(kind) else 0], kind)
