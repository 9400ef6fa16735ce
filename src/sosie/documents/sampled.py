"""Some documents from places spread over all inputs, and how many there are in all, without reading everything.

A file that is not packed is read from some places: whole lines, records or rows from there on. One that is packed can
only be read from its beginning, which need not be like the rest; `Sampled.notes` say so. How many documents there are
is told by the file, where it says that, and else by how many bytes of a file a document takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.bounded import room_for_text
from sosie.documents.formats import format_of
from sosie.documents.input import Input
from sosie.documents.reading import InputPiece, Reading, decode_piece
from sosie.errors import SosieError
from sosie.parallel import ordered_map
from sosie.shown import counted

BUDGET = 12 << 20  # bytes of text
PLACES = 48
BEGINNINGS = 3  # files that are read from their beginning: a piece of one is some megabytes
COUNTED = 256  # inputs that are asked how many records they have


@dataclass(frozen=True, eq=False)
class Sampled:
    """Texts (large_string) of some of about `documents` usable documents; `is_counted` says that there are so many.

    `file_bytes` is what a document takes in its file. `kind` is the format and the compression that most inputs have.
    """

    texts: Any
    documents: int
    is_counted: bool
    file_bytes: float
    kind: tuple[str, str | None]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_whole(self) -> bool:
        """Whether all documents are here."""
        return self.is_counted and len(self) == self.documents


@dataclass
class _Seen:
    """What was seen of an input: records, those of them that are documents, and bytes of its file.

    `places` are where it is looked at; without any, it is read whole.
    """

    places: list[float] = field(default_factory=list)
    records: int = 0
    accepted: int = 0
    extent: int = 0


def sample_documents(reading: Reading, budget: int = BUDGET, threads: int | None = None) -> Sampled:
    """Read about `budget` bytes from places all over the inputs of a reading, which is left as it is.

    >>> from sosie.documents.source import Source
    >>> sampled = sample_documents(Source(pa.table({"text": ["a rose", "is a rose"]})).batches())
    >>> sampled.texts.to_pylist(), sampled.documents, sampled.is_whole
    (['a rose', 'is a rose'], 2, True)
    """
    looks = _Looks(reading, budget)
    columns = replace(reading.columns, id=None, id_type=None, order=None, order_type=None)
    decode = partial(decode_piece, columns=columns, room=room_for_text(None), turn=Lock())
    texts: list[Any] = [pa.array([], pa.large_string())]
    for number, records in ordered_map(decode, looks.pieces(), threads):
        if isinstance(records, SosieError):
            raise records
        looks.seen[number].records += records.count
        looks.seen[number].accepted += len(records.texts)
        texts.append(records.texts)
    documents, is_counted = looks.count()
    kinds = [(place.format, place.compression) for place in reading.inputs]
    size = sum(map(_size, reading.inputs))
    kind = max(sorted(set(kinds), key=str), key=kinds.count) if kinds else ("jsonl", None)
    return Sampled(pa.concat_arrays(texts), documents, is_counted, size / max(documents, 1), kind, looks.notes())


class _Looks:
    """Where inputs are looked at, and what is seen there."""

    def __init__(self, reading: Reading, budget: int) -> None:
        self.inputs, self.names, self.size = reading.inputs, reading.columns.names, max(budget // PLACES, 1)
        sizes = np.array([_size(place) for place in self.inputs], np.float64)
        self.whole = bool(sizes.sum() <= budget and all(place.compression is None for place in self.inputs))
        self.seen = {number: _Seen() for number in range(len(self.inputs))} if self.whole else _spread(sizes)
        self.packed: set[str] = set()

    def pieces(self) -> Iterator[InputPiece]:
        """Yield pieces of all inputs that are looked at."""
        waiting = list(self.seen.items())
        packed = [number for number, seen in waiting if seen.places and not self._is_scattered(number)]
        dropped = set(packed) - set(packed[:: -(-len(packed) // BEGINNINGS) or 1])
        for number, seen in waiting:
            if number in dropped:
                del self.seen[number]
                continue
            try:
                found = self._whole(number) if not seen.places else self._some(number, seen)
                for content in found:
                    yield InputPiece(number, format_of(self.inputs[number]), content)
            except SosieError as error:
                yield InputPiece(number, format_of(self.inputs[number]), error)
                return

    def count(self) -> tuple[int, bool]:
        """Return how many usable documents there are, and whether that is counted."""
        records = accepted = 0
        by_kind: dict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0])
        for number, seen in self.seen.items():
            records, accepted = records + seen.records, accepted + seen.accepted
            here = by_kind[self._kind(number)]
            here[0], here[1] = here[0] + seen.records, here[1] + seen.extent
        if self.whole:
            return accepted, True
        every, is_counted = 0.0, accepted == records
        overall = [sum(values) for values in zip(*by_kind.values(), strict=True)] or [0, 1]
        for number, place in enumerate(self.inputs):
            told = format_of(place).count(place) if len(self.inputs) <= COUNTED or place.files is not None else None
            if told is None:
                is_counted, own = False, self.seen.get(number, _Seen())
                some = [own.records, own.extent] if own.extent else by_kind.get(self._kind(number), overall)
                every += place.size * some[0] / max(some[1], 1)
            else:
                every += told
        return max(round(every * accepted / max(records, 1)), accepted), is_counted

    def notes(self) -> tuple[str, ...]:
        """Say what the sample is not."""
        notes = []
        if self.packed:
            names = " and ".join(sorted(self.packed))
            notes.append(f"{names} can only be read from the beginning: the sample is of the beginnings of files")
        if rejected := sum(each.records - each.accepted for each in self.seen.values()):
            notes.append(f"{counted(rejected, 'record')} of the sample cannot be used")
        return tuple(notes)

    def _kind(self, number: int) -> tuple[str, str | None]:
        return self.inputs[number].format, self.inputs[number].compression

    def _is_scattered(self, number: int) -> bool:
        place = self.inputs[number]
        return format_of(place).scattered(place, self.names, (), self.size) is not None

    def _whole(self, number: int) -> Iterator[Any]:
        place, seen = self.inputs[number], self.seen[number]
        seen.extent = place.size
        return format_of(place).read(place, self.names, 1, lambda position: None)

    def _some(self, number: int, seen: _Seen) -> Iterator[Any]:
        """Yield pieces from the places of an input, or from its beginning as much as that."""
        place = self.inputs[number]
        form = format_of(place)
        found = form.scattered(place, self.names, seen.places, self.size)
        for content, extent in found or ():
            seen.extent += extent
            yield content
        if found is not None and seen.extent:
            return
        position, held = [0], 0
        self.packed.add(place.compression or form.name)
        for content in form.read(place, self.names, 1, lambda there: position.__setitem__(0, there)):
            yield content
            seen.extent, held = position[0], held + max(form.held(content), 1)
            if held >= self.size * len(seen.places):
                return


def _spread(sizes: Any) -> dict[int, _Seen]:
    """Return at which places of which inputs to look, evenly over all bytes."""
    seen: dict[int, _Seen] = {}
    ends = np.cumsum(sizes)
    for target in ((np.arange(PLACES) + 0.5) * (float(ends[-1]) / PLACES)).tolist():
        number = int(np.searchsorted(ends, target, side="right"))
        place = (target - (float(ends[number]) - float(sizes[number]))) / float(sizes[number])
        seen.setdefault(number, _Seen()).places.append(min(max(place, 0.0), 1.0))
    return seen


def _size(place: Input) -> int:
    """Return how many bytes an input has: of files of one document each, all together; of a table, those in memory."""
    if place.table is not None:
        return int(place.table.nbytes)
    return place.size if place.files is None else sum(entry.size for entry in place.files.entries)
