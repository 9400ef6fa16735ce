"""The texts of a few documents, read again from the inputs when a person wants to see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sosie.documents.columns import Columns
from sosie.documents.input import Input
from sosie.documents.reading import Reading, extracted, read_pieces
from sosie.errors import MismatchError, SosieError
from sosie.types import I64


def fetch_texts(reading: Reading, rows: I64, threads: int | None = None, *, limit: int | None = None) -> dict[int, str]:
    """Return the texts of these document numbers, each cut after `limit` characters.

    Only inputs that hold one of them are read, up to the last of them; in between nothing is decoded. A record that
    was rejected because of its text has none and is left out.

    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> reading = Source(pa.table({"text": ["a rose", "is a rose", "is a rose"]})).batches()
    >>> sum(len(batch) for batch in reading)
    3
    >>> fetch_texts(reading, np.array([1]))
    {1: 'is a rose'}
    """
    wanted = np.unique(np.asarray(rows, np.int64))
    if not reading.finished or (len(wanted) and not 0 <= wanted[0] <= wanted[-1] < reading.documents):
        raise MismatchError(f"documents {wanted[:3].tolist()}... are not among the {reading.documents} that were read")
    columns = replace(reading.columns, id=None, id_type=None, order=None, order_type=None)
    texts: dict[int, str] = {}
    first = 0
    for place, count in zip(reading.inputs, reading.counts.tolist(), strict=True):
        here = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + count)]
        for row, text in _of_input(place, here - first, columns, threads):
            texts[first + row] = text[:limit]
        first += count
    return texts


def _of_input(place: Input, wanted: I64, columns: Columns, threads: int | None) -> Iterator[tuple[int, str]]:
    """Yield the wanted records of one input, numbered from 0 within it."""
    if not len(wanted):
        return
    done = 0
    for piece in read_pieces([place], columns.names, threads):
        if isinstance(piece.content, SosieError):
            raise piece.content
        count, chosen = piece.form.fetch(piece.content, wanted[np.searchsorted(wanted, done) :] - done, columns)
        for positions, records in chosen:
            found = extracted(records, piece.form, columns)
            for position, text in zip(positions[found.accepted].tolist(), found.texts.to_pylist(), strict=True):
                yield done + position, text
        done += count
        if done > wanted[-1]:
            break
    place.check_unchanged()
    if done <= wanted[-1]:
        raise place.changed()
