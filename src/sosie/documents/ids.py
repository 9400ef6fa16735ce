"""The ids of all documents, columnar: read from a column, or made from file and line on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sosie.arrays import check_column, check_offsets
from sosie.documents.formats import describe
from sosie.documents.input import Input
from sosie.types import I64


class DocumentIds:
    """Ids by document number; also knows the file and line of each document.

    Made ids ("name.jsonl:17") are not stored: of a file only its first document number is kept, and where blank
    lines shift the line numbers. A text file has its name. Documents of an Arrow table without ids have their
    document number.

    >>> ids = DocumentIds([Input("a.jsonl", "a.jsonl", "jsonl"), Input("b.jsonl", "b.jsonl", "jsonl")], None)
    >>> ids.extend(0, 2, None, np.array([0, 2])), ids.extend(1, 1, None, None)
    (None, None)
    >>> ids.take([2, 1, 0]).to_pylist()
    ['b.jsonl:1', 'a.jsonl:3', 'a.jsonl:1']
    """

    def __init__(self, inputs: list[Input], id_type: Any) -> None:
        self._inputs = inputs
        self._labels = pa.array([source.label for source in inputs], pa.large_string())
        texts = [pa.array([], pa.large_string()), *(source.files.labels for source in inputs if source.files)]
        self._files = pa.concat_arrays(texts)
        sizes = [len(source.files.names) if source.files else 0 for source in inputs]
        # Where the files of each input are in `_files`, -1 if it holds no text files.
        self._first_files = np.where(np.array(sizes, bool), np.cumsum([0, *sizes])[:-1], -1)
        self._type = id_type
        self._firsts = np.zeros(len(inputs) + 1, np.int64)
        self._current = 0
        self._lines = 0
        self._shift_rows: list[I64] = []
        self._shifts: list[I64] = []
        self._last_shift = 0
        self._chunks: list[Any] = []
        self._chunk_rows: list[int] = [0]

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def extend(
        self, source: int, count: int, ids: Any, lines: I64 | None, line_count: int = 0, known: I64 | None = None
    ) -> None:
        """Append `count` records of an input; inputs come in order.

        `ids[i]` belongs to record `known[i]` (all of them without `known`); `lines` are the lines of the records
        within this piece of `line_count` lines, None if record i is on line i.
        """
        row = len(self)
        if source != self._current:
            self._current, self._lines = source, 0
        start = row - int(self._firsts[source]) - self._lines
        shifts = (lines - np.arange(count) if lines is not None else np.zeros(count, np.int64)) - start
        changed = np.flatnonzero(np.diff(shifts, prepend=self._last_shift))
        if len(changed):
            self._shift_rows.append(changed + row)
            self._shifts.append(shifts[changed])
            self._last_shift = int(shifts[-1])
        self._lines += line_count or count
        self._firsts[source + 1 :] = row + count
        if ids is not None and count:
            if known is not None and len(known) < count:
                position = np.full(count, -1, np.int64)
                position[known] = np.arange(len(known))
                ids = ids.take(pa.array(position, mask=position < 0))
            self._chunks.append(ids)
            self._chunk_rows.append(row + count)

    def take(self, rows: Any) -> Any:
        """Return the ids of these documents; null for a rejected record without a usable id."""
        rows = np.asarray(rows, np.int64)
        if self._type is not None:
            return self._stored(rows)
        if self._inputs and self._inputs[0].table is not None:
            return pa.array(rows)
        source, lines = self.located(rows)
        named = self._first_files[source] >= 0
        files = self._files.take(pa.array(self._first_files[source] + lines - 1, mask=~named)) if named.any() else None
        if files is not None and named.all():
            return files
        number = pa.array(lines).cast(pa.large_string())
        labels = self._labels.take(pa.array(source))
        made = pc.binary_join_element_wise(labels, number, pa.scalar(":", pa.large_string()))
        return made if files is None else pc.if_else(pa.array(named), files, made)

    def places(self, rows: I64) -> list[str]:
        """Say where documents are: file and line or row, from 1."""
        sources, lines = self.located(rows)
        places = zip(sources.tolist(), lines.tolist(), strict=True)
        return [describe(self._inputs[source], line) for source, line in places]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is known, as arrays."""
        none = np.empty(0, np.int64)
        state = {
            "firsts": self._firsts,
            "shift_rows": np.concatenate([none, *self._shift_rows]),
            "shifts": np.concatenate([none, *self._shifts]),
        }
        if self._type is not None:
            state |= _buffers(pa.concat_arrays([pa.array([], self._type), *self._chunks]))
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Know what `state` returned, for the same inputs; the ids themselves may be a map of a file."""
        firsts, rows, shifts = (np.array(state[name]) for name in ("firsts", "shift_rows", "shifts"))
        check_column("the first documents of inputs", firsts, np.int64, len(self._inputs) + 1)
        check_offsets("the first documents of inputs", firsts, 2**62)
        check_column("shifts of lines", rows, np.int64)
        check_column("shifts of lines", shifts, np.int64, len(rows))
        count = int(firsts[-1])
        if self._type is not None:
            self._chunks, self._chunk_rows = [_from_buffers(state, self._type, count)], [0, count]
        self._firsts, self._shift_rows, self._shifts = firsts, [rows], [shifts]

    def located(self, rows: I64) -> tuple[I64, I64]:
        """Return the number of the input that each document is in, and its line there, from 1."""
        source = (
            np.searchsorted(self._firsts[1:-1], rows, side="right") if len(self._inputs) > 1 else np.zeros_like(rows)
        )
        if len(self._shift_rows) > 1:
            self._shift_rows, self._shifts = [np.concatenate(self._shift_rows)], [np.concatenate(self._shifts)]
        lines = rows - self._firsts[source] + 1
        if self._shift_rows:
            span = np.searchsorted(self._shift_rows[0], rows, side="right")
            lines = lines + np.concatenate([[0], self._shifts[0]])[span]
        return source, lines

    def _stored(self, rows: I64) -> Any:
        """Gather from the chunks that are touched, without joining all of them."""
        chunk = np.searchsorted(self._chunk_rows, rows, side="right") - 1
        order = np.argsort(chunk, kind="stable")
        touched, counts = np.unique(chunk, return_counts=True)
        parts, done = [pa.array([], self._type)], 0
        for index, count in zip(touched.tolist(), counts.tolist(), strict=True):
            local = rows[order[done : done + count]] - self._chunk_rows[index]
            parts.append(self._chunks[index].take(pa.array(local)))
            done += count
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        return pa.concat_arrays(parts).take(pa.array(inverse))


def _buffers(ids: Any) -> dict[str, NDArray[Any]]:
    """Return the buffers of an array of ids, and which of them are known."""
    known = ids.is_valid().to_numpy(zero_copy_only=False)
    if ids.type == pa.int64():
        return {"ids_known": known, "ids": ids.fill_null(0).to_numpy()}
    texts = ids.fill_null("")
    _, offset_buffer, data = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if len(texts) and data else np.empty(0, np.uint8)
    return {"ids_known": known, "id_offsets": offsets - offsets[0], "id_bytes": content}


def _from_buffers(state: Mapping[str, NDArray[Any]], kind: Any, count: int) -> Any:
    """Return ids that come from a file; what does not fit raises."""
    names = ["ids"] if kind == pa.int64() else ["id_offsets", "id_bytes"]
    check_column("ids that are known", state["ids_known"], np.bool_, count)
    check_column("ids", state[names[0]], np.int64, count + len(names) - 1)
    check_column("ids", state[names[-1]], np.int64 if len(names) == 1 else np.uint8)
    known = np.packbits(state["ids_known"], bitorder="little")
    ids = pa.Array.from_buffers(kind, count, [pa.py_buffer(known), *(pa.py_buffer(state[name]) for name in names)])
    ids.validate(full=True)
    return ids
