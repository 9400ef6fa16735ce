"""The texts of the rows of an index, kept beside it so that matches can be shown."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from sosie.errors import DataError, StorageError
from sosie.kernels.text.word_spans import copy_spans
from sosie.parallel import spans
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.spill import Spill
from sosie.text.column import TextColumn
from sosie.types import I64, offsets_of

KIND = "texts"
_PIECE = 1 << 26  # bytes that are copied at a time


class Texts:
    """Texts by row: columns one after the other, which never change.

    Rows that were removed lose theirs when the texts are saved.

    >>> from sosie.text.column import as_column
    >>> texts = Texts([as_column(["one", "two"])]).followed_by(as_column(["three"]))
    >>> len(texts), texts.text(2)
    (3, 'three')
    """

    def __init__(self, columns: Sequence[TextColumn], removed: I64 | None = None) -> None:
        self._columns = tuple(columns)
        self._removed = np.empty(0, np.int64) if removed is None else removed

    def __len__(self) -> int:
        return sum(map(len, self._columns))

    def followed_by(self, column: TextColumn) -> Texts:
        """Return these and the texts of new rows."""
        return Texts([*self._columns, column], self._removed)

    def without(self, rows: I64) -> Texts:
        """Return these without the texts of some rows."""
        return Texts(self._columns, np.concatenate([self._removed, rows]))

    def text(self, row: int) -> str:
        """Return the text of a row."""
        for column in self._columns:
            if row < len(column):
                return column.text(row)
            row -= len(column)
        raise IndexError(row)

    def save(self, directory: str | os.PathLike[str], scratch: str | os.PathLike[str]) -> None:
        """Write the texts to a directory without an artefact; `scratch` takes them meanwhile if they are large."""
        gone = np.zeros(len(self), np.bool_)
        gone[self._removed] = True
        sizes, first = [np.empty(0, np.int64)], 0
        with Spill(scratch, np.uint8) as content:
            for column in self._columns:
                starts, stops = np.array(column.offsets[:-1]), np.array(column.offsets[1:])
                here = gone[first : first + len(column)]
                stops[here] = starts[here]
                for start, stop in spans(column.offsets, _PIECE):
                    content.append(copy_spans(column.data, starts[start:stop], stops[start:stop])[0])
                sizes.append(stops - starts)
                first += len(column)
            arrays = {"text_bytes": content.array(), "text_offsets": offsets_of(np.concatenate(sizes))}
            write_artefact(directory, KIND, arrays, meta={"rows": len(self)})

    @staticmethod
    def load(directory: str | os.PathLike[str], rows: int) -> Texts:
        """Read the texts of so many rows, checked and mapped."""
        _, arrays = read_artefact(directory, KIND)
        try:
            data, offsets = arrays["text_bytes"], arrays["text_offsets"]
            fits = data.dtype == np.uint8 and data.ndim == 1 and offsets.dtype == np.int64
            if not fits or offsets.shape != (rows + 1,) or offsets[0] != 0 or offsets[-1] != len(data):
                raise StorageError("the texts are not those of the rows")
            return Texts([TextColumn(data, offsets)])
        except (KeyError, DataError, StorageError) as error:
            raise StorageError(f"{directory}: does not fit the index ({error}). Build the index again.") from error
