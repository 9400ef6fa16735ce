"""Passages: overlapping windows of words, to compare parts of texts instead of whole ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import UsageError
from sosie.kernels.text.word_spans import copy_spans, word_spans
from sosie.parallel import ordered_map, spans
from sosie.text.column import TextColumn, as_column
from sosie.text.tables import unicode_tables
from sosie.types import I64

_SPAN = 1 << 18  # bytes of text in one piece of work
_SCHEMA = pa.schema(
    [(name, pa.int64()) for name in ("document", "passage", "start", "end")] + [("text", pa.large_string())]
)


def passages(texts: Any, words: int = 100, overlap: int = 50, threads: int | None = None) -> Any:
    """Return the passages of texts as an Arrow table: windows of `words` words, of which neighbours share `overlap`.

    A passage is `text[start:end]` of its document's text, from the first character of its first word to the last of
    its last word, and `passage` counts those of one document. The last one ends with the text and may share more with
    the one before; a text of fewer words is one passage, a text without words has none.

    >>> table = passages(["One, two, three; four... five!", "?", "six"], words=3, overlap=1)
    >>> table.select(["document", "passage", "start", "text"]).to_pylist()[1]
    {'document': 0, 'passage': 1, 'start': 10, 'text': 'three; four... five'}
    >>> table["text"].to_pylist()
    ['One, two, three', 'three; four... five', 'six']
    """
    if words < 1 or not 0 <= overlap < words:
        raise UsageError(f"passages have at least 1 word and share fewer than all, got {words=} and {overlap=}")
    column = _valid(as_column(texts))

    def piece(span: tuple[int, int]) -> Any:
        bounds, offsets = word_spans(unicode_tables(), column.data, column.offsets, *span)
        row, number, first, last = _windows(offsets, words, words - overlap)
        data, ends = copy_spans(column.data, bounds[first, 2], bounds[last, 3])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
        text = pa.Array.from_buffers(pa.large_string(), len(row), buffers)
        arrays = [span[0] + row, number, bounds[first, 0], bounds[last, 1], text]
        return pa.record_batch(arrays, schema=_SCHEMA)

    return pa.Table.from_batches(list(ordered_map(piece, spans(column.offsets, _SPAN), threads)), _SCHEMA)


def _windows(offsets: I64, words: int, step: int) -> tuple[I64, I64, I64, I64]:
    """Return for every window its row, its number there, and its first and last word.

    >>> [column.tolist() for column in _windows(np.array([0, 5, 5, 7]), 3, 2)]
    [[0, 0, 2], [0, 1, 0], [0, 2, 5], [2, 4, 6]]
    """
    sizes = np.diff(offsets)
    beyond = np.maximum(sizes - words, 0)  # the words that the first window does not hold
    counts = np.where(sizes > 0, -(-beyond // step) + 1, 0)
    row = np.repeat(np.arange(len(sizes)), counts)
    number = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = offsets[row] + np.minimum(number * step, beyond[row])
    return row, number, first, np.minimum(first + words, offsets[row + 1]) - 1


def _valid(column: TextColumn) -> TextColumn:
    """Return texts of valid UTF-8 alone, with U+FFFD for what is not: characters are counted in them."""
    buffers = [None, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    array = pa.Array.from_buffers(pa.large_string(), len(column), buffers)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return as_column([column.text(row) for row in range(len(column))])
    return column
