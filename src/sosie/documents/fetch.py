"""The texts of a few documents, read again from the inputs when a person wants to see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.batch import Records
from sosie.documents.blocks import find_lines
from sosie.documents.columns import Columns
from sosie.documents.inputs import Input
from sosie.documents.reading import Piece, Reading, decode_content, decode_piece, read_pieces
from sosie.documents.text_files import TextBlock
from sosie.documents.warc_blocks import WarcBlock
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
    columns = replace(reading.columns, id=None, id_type=None, order=None)
    texts: dict[int, str] = {}
    first = 0
    for place, count in zip(reading.inputs, reading.counts.tolist(), strict=True):
        here = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + count)]
        for row, text in _of_input(place, reading.table, here - first, columns, threads):
            texts[first + row] = text[:limit]
        first += count
    return texts


def _of_input(
    place: Input, table: Any, wanted: I64, columns: Columns, threads: int | None
) -> Iterator[tuple[int, str]]:
    """Yield the wanted records of one input, numbered from 0 within it."""
    if not len(wanted):
        return
    done = 0
    for piece in read_pieces([place], table, columns.names, threads):
        count, chosen = _choose(piece, wanted[np.searchsorted(wanted, done) :] - done, columns)
        for position, text in chosen:
            yield done + position, text
        done += count
        if done > wanted[-1]:
            break
    if table is None:
        place.check_unchanged()
    if done <= wanted[-1]:
        raise place.changed()


def _choose(piece: Piece, wanted: I64, columns: Columns) -> tuple[int, list[tuple[int, str]]]:
    """Return how many records a piece has, and the texts of those at the wanted positions that lie in it."""
    content = piece.content
    if isinstance(content, bytes):
        lines = find_lines(content)
        inside = wanted[wanted < len(lines)]
        block = b"\n".join([content[lines.starts[line] : lines.ends[line]] for line in inside.tolist()])
        return len(lines), _texts(decode_content(block, columns), inside) if block else []
    if isinstance(content, pa.RecordBatch):
        # One slice each: not every type of column can be gathered.
        rows = wanted[wanted < content.num_rows].tolist()
        decoded = [_texts(decode_content(content.slice(row, 1), columns), np.array([row])) for row in rows]
        return content.num_rows, [text for texts in decoded for text in texts]
    if isinstance(content, TextBlock | WarcBlock):
        inside = wanted[wanted < len(content)]
        return len(content), _texts(decode_content(content.take(inside), columns), inside)
    records = decode_piece(piece, columns)[1]
    if isinstance(records, SosieError):
        raise records
    chosen = np.isin(records.accepted, wanted)
    records = replace(records, texts=records.texts.filter(pa.array(chosen)), accepted=records.accepted[chosen])
    return records.count, _texts(records, np.arange(records.count))


def _texts(records: Records, positions: I64) -> list[tuple[int, str]]:
    """Return the texts of decoded records, each with its position in the piece."""
    return list(zip(positions[records.accepted].tolist(), records.texts.to_pylist(), strict=True))
