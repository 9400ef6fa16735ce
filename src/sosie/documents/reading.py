"""One pass over a source: decode on threads, number in order, check the ids, cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.arrays import check_column
from sosie.documents.batch import Batch, Records, Reject
from sosie.documents.bounded import bounded, room_for_text
from sosie.documents.columns import OTHER_IDS, Columns
from sosie.documents.format import Format
from sosie.documents.formats import describe, format_of
from sosie.documents.html import extract_pages
from sosie.documents.ids import DocumentIds
from sosie.documents.input import Input, Inputs
from sosie.documents.order import join_orders
from sosie.documents.seen import SeenIds
from sosie.errors import DataError, MismatchError, SosieError
from sosie.parallel import ordered_map
from sosie.types import I64

BATCH_BYTES = 64 << 20
JOIN_BYTES = 4 << 20
LARGE_BYTES = 6 << 20  # of a piece, more than there are in a block that is read at once


@dataclass(frozen=True)
class InputPiece:
    """A piece of one input, as its format reads it, or the error that ended the input."""

    source: int
    form: Format[Any]
    content: Any


class Reading(Iterator[Batch]):
    """The batches of a source, in document order, and what is known of its documents so far.

    `counts[i]` is the number of records in `inputs[i]`.
    """

    def __init__(
        self, inputs: Inputs, columns: Columns, skip: bool, batch_size: int, memory: int | None = None
    ) -> None:
        self.inputs = inputs
        self.columns = columns
        self.ids = DocumentIds(inputs, columns.id_type)
        self.counts = np.zeros(len(inputs), np.int64)
        self.rejected = 0
        self.finished = False
        self._room = room_for_text(memory)
        self._skip = skip
        self._batch_size = batch_size
        self._lines = np.zeros(len(inputs), np.int64)
        self._seen = SeenIds(self.ids.take)
        self._batches: Iterator[Batch] = iter(())
        self._position = [0] * len(inputs)
        self._read = 0
        self._size = sum(place.size for place in inputs)

    @property
    def table(self) -> Any:
        """The Arrow table of a source in memory, None for files."""
        return self.inputs[0].table if self.inputs else None

    @property
    def skips(self) -> bool:
        """Whether bad records are rejected, and reading goes on."""
        return self._skip

    @property
    def has_pages(self) -> bool:
        """Whether texts are taken out of pages, so that what has no text need not be the same."""
        formats = {place.format for place in self.inputs}
        formats |= {entry.format for place in self.inputs if place.files is not None for entry in place.files.entries}
        return self.columns.html is not None or bool(formats & {"html", "warc"})

    @property
    def documents(self) -> int:
        """How many records were read so far, rejected ones included."""
        return int(self.counts.sum())

    @property
    def expected(self) -> int:
        """How many records there will be, judged by how far in the files reading has come."""
        if self.table is not None:
            return int(self.table.num_rows)
        return self.documents if self.finished else int(self.documents / max(self._read / max(self._size, 1), 1e-9))

    def _watch(self, source: int, position: int) -> None:
        self._read += position - self._position[source]
        self._position[source] = position

    def start(self, threads: int | None) -> Reading:
        """Make the batches ready; nothing is read before the first is asked for."""
        self._batches = _joined(self._stream(threads), self._batch_size)
        return self

    def __next__(self) -> Batch:
        return next(self._batches)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is known when all was read, as arrays."""
        return {"counts": self.counts, "rejected": np.array([self.rejected]), **self.ids.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Know what another reading of the same inputs has found, without reading them."""
        counts, rejected = np.array(state["counts"]), state["rejected"]
        check_column("the documents of inputs", counts, np.int64, len(self.inputs))
        check_column("rejected documents", rejected, np.int64, 1)
        if counts.sum() != state["firsts"][-1]:
            raise MismatchError("inputs that have other documents than were counted")
        self.ids.restore(state)
        self.counts, self.rejected = counts, int(rejected[0])
        self.finished = True

    def _stream(self, threads: int | None) -> Iterator[Batch]:
        pieces = read_pieces(self.inputs, self.columns.names, threads, self._watch)
        decode = partial(decode_piece, columns=self.columns, room=self._room, turn=Lock())
        for source, records in ordered_map(decode, pieces, threads, apart=True):
            if isinstance(records, SosieError):
                raise records
            yield from self._number(source, records)
        self.finished = True

    def _number(self, source: int, records: Records) -> Iterator[Batch]:
        first_row, first_line = self.documents, int(self._lines[source])
        self.ids.extend(source, records.count, records.ids, records.lines, records.line_count, known=records.accepted)
        self.counts[source] += records.count
        self._lines[source] += records.line_count
        records = records.without(self._repeated(records, first_row))
        rejects = self._rejects(source, records, first_row, first_line + 1) if records.problems else []
        self.rejected += len(rejects)
        yield from self._cut(records, first_row, rejects)

    def _rejects(self, source: int, records: Records, first_row: int, first_line: int) -> list[Reject]:
        """Return the records that cannot be used; raise at the first of them unless they are to be skipped."""
        place, problems = self.inputs[source], records.problems
        positions = sorted(problems)
        lines = (np.array(positions) if records.lines is None else records.lines[positions]) + first_line
        reasons = [problems[position] for position in positions]
        if place.encoding is not None:
            reasons = [reason.replace("invalid UTF-8", f"invalid {place.encoding}") for reason in reasons]
        if not self._skip:
            said = f"{describe(place, int(lines[0]))}: {reasons[0]}"
            raise DataError(f"{said}. {self._remedy(place, reasons[0])}")
        raws = [None] * len(positions) if records.raw is None else map(records.raw, positions)
        rows, numbers = (np.array(positions) + first_row).tolist(), lines.tolist()
        if place.files is None:
            return list(map(Reject, rows, repeat(place.label), numbers, reasons, raws))
        return list(map(Reject, rows, *zip(*map(place.place, numbers), strict=True), reasons, raws))

    def _remedy(self, place: Input, reason: str) -> str:
        if reason.startswith("duplicate id"):
            return f"Make the ids distinct, or pass --on-error skip. {OTHER_IDS}"
        if reason.startswith(("the id ", f"no column {self.columns.id!r}")):
            return f"Fix the {format_of(place).unit}, or pass --on-error skip. {OTHER_IDS}"
        if reason == "not an object but a list" and format_of(place).unit == "line":
            return "An array of objects is read from .json files, or with --format json. Else pass --on-error skip."
        remedy = f"Fix the {format_of(place).unit} or pass --on-error skip"
        if place.files is not None:
            remedy += ", or leave it out with --exclude"
        if reason.startswith("invalid UTF-8 (byte") and "encoding" in format_of(place).options:
            remedy += ", or name the --encoding, if it is another one, as in cp1252"
        return f"{remedy}."

    def _repeated(self, records: Records, first_row: int) -> dict[int, str]:
        """Find the records whose id an earlier one has."""
        if records.ids is None:
            return {}
        earlier = self._seen.admit(records.ids, records.accepted + first_row)
        repeated = np.flatnonzero(earlier >= 0)
        values = records.ids.take(pa.array(repeated)).to_pylist()
        places = self.ids.places(earlier[repeated])
        reasons = [f"duplicate id {value!r}, first in {place}" for value, place in zip(values, places, strict=True)]
        return dict(zip(records.accepted[repeated].tolist(), reasons, strict=True))

    def _cut(self, records: Records, first_row: int, rejects: list[Reject]) -> Iterator[Batch]:
        rows = records.accepted + first_row
        start = taken = 0
        while True:
            stop = _end(records.texts, start, self._batch_size)
            here = len(rejects) if stop >= len(rows) else taken
            while here < len(rejects) and stop < len(rows) and rejects[here].row < rows[stop]:
                here += 1
            ids = None if records.ids is None else records.ids[start:stop]
            order = None if records.order is None else records.order[start:stop]
            if stop > start or here > taken:
                yield Batch(records.texts[start:stop], ids, rows[start:stop], rejects[taken:here], order)
            start, taken = stop, here
            if start >= len(rows):
                return


def read_pieces(
    inputs: list[Input],
    names: list[str] | None,
    threads: int | None,
    watch: Callable[[int, int], None] = lambda source, position: None,
) -> Iterator[InputPiece]:
    """Yield the inputs in pieces; an error comes as the last piece, so that it is met in document order.

    `watch` is told how far in which file reading has come.
    """
    for source, place in enumerate(inputs):
        form = format_of(place)
        try:
            for content in form.read(place, names, threads, partial(watch, source)):
                yield InputPiece(source, form, content)
        except SosieError as error:
            yield InputPiece(source, form, error)
            return


def decode_piece(piece: InputPiece, columns: Columns, room: int, turn: Lock) -> tuple[int, Records | SosieError]:
    """Return the number of the input and the records of a piece, or the error that it brings.

    Those that may take much memory meanwhile wait for their turn.
    """
    if isinstance(piece.content, SosieError):
        return piece.source, piece.content
    with turn if piece.form.held(piece.content) > LARGE_BYTES else nullcontext():
        records = extracted(piece.form.decode(piece.content, columns), piece.form, columns)
        return piece.source, bounded(records, room)


def extracted(records: Records, form: Format[Any], columns: Columns) -> Records:
    """Return records whose texts, if the text column holds HTML, are the text in it."""
    return records if columns.html is None or form.naming is not None else extract_pages(records, columns.html)


def _end(texts: Any, start: int, batch_size: int) -> int:
    """Return where a batch ends that holds at most `batch_size` texts and, if more than one, `BATCH_BYTES`."""
    stop = min(start + batch_size, len(texts))
    if stop - start < 2:
        return stop
    offsets = _offsets(texts)[start : stop + 1]
    if offsets[-1] - offsets[0] <= BATCH_BYTES:
        return stop
    return start + max(1, int(np.searchsorted(offsets, offsets[0] + BATCH_BYTES, side="right")) - 1)


def _joined(batches: Iterator[Batch], batch_size: int) -> Iterator[Batch]:
    """Join small neighbours, so that many small files do not make many small batches."""
    waiting: list[Batch] = []
    count = size = 0
    for batch in batches:
        held = int(np.ptp(_offsets(batch.texts)[[0, -1]])) if len(batch) else 0
        held += sum(len(reject.raw or "") for reject in batch.rejects)
        records = len(batch) + len(batch.rejects)
        if waiting and (count + records > batch_size or size + held > min(JOIN_BYTES, BATCH_BYTES)):
            yield _join(waiting)
            waiting, count, size = [], 0, 0
        waiting.append(batch)
        count, size = count + records, size + held
    if waiting:
        yield _join(waiting)


def _join(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    ids = None if batches[0].ids is None else pa.concat_arrays([batch.ids for batch in batches])
    rejects = [reject for batch in batches for reject in batch.rejects]
    order = None if batches[0].order is None else join_orders([batch.order for batch in batches])
    texts = pa.concat_arrays([batch.texts for batch in batches])
    return Batch(texts, ids, np.concatenate([batch.rows for batch in batches]), rejects, order)


def _offsets(texts: Any) -> I64:
    return np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
