"""Passages as rows of an index: documents are cut into windows of words, and row ids say document and number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.batch import Batch, Batches
from sosie.errors import MismatchError, StorageError, UsageError
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.text.passages import passages
from sosie.types import I64

KIND = "passages"
_LONGEST = 1 << 30  # words of a passage


@dataclass(frozen=True)
class Windows:
    """How texts are cut: windows of `words` words, of which neighbours share `overlap`."""

    words: int = 100
    overlap: int = 50

    def __post_init__(self) -> None:
        whole = all(type(number) is int for number in (self.words, self.overlap))
        if not whole or not 1 <= self.words <= _LONGEST or not 0 <= self.overlap < self.words:
            raise UsageError(
                "passages have at least 1 word and share fewer than all, "
                f"got {self.words} words of which {self.overlap} are shared"
            )


@dataclass(frozen=True, eq=False)
class Places:
    """Rows that are passages: row i is `text[starts[i]:ends[i]]` of its document, cut by `windows`."""

    windows: Windows
    starts: I64
    ends: I64

    def __len__(self) -> int:
        return len(self.starts)

    def followed_by(self, other: Places) -> Places:
        """Return these rows and then others."""
        starts, ends = (np.concatenate([getattr(each, name) for each in (self, other)]) for name in ("starts", "ends"))
        return Places(self.windows, starts, ends)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the places to a directory without an artefact."""
        meta = {"words": self.windows.words, "overlap": self.windows.overlap, "rows": len(self)}
        write_artefact(directory, KIND, {"starts": self.starts, "ends": self.ends}, meta=meta)

    @staticmethod
    def load(directory: str | os.PathLike[str], rows: int) -> Places:
        """Read the places of so many rows, checked."""
        meta, arrays = read_artefact(directory, KIND)
        try:
            places = Places(Windows(meta["words"], meta["overlap"]), arrays["starts"], arrays["ends"])
            fits = all(array.dtype == np.int64 and array.shape == (rows,) for array in (places.starts, places.ends))
            if not fits or np.any(places.starts < 0) or np.any(places.ends < places.starts):
                raise StorageError("the places are not those of the rows")
        except (KeyError, TypeError, ValueError, StorageError) as error:
            raise StorageError(f"{directory}: does not fit the index ({error}). Build the index again.") from error
        return places


def documents_of(ids: Any) -> Any:
    """Return the document of each passage id.

    >>> documents_of(pa.array(["a.txt#0", "C#12"])).to_pylist()
    ['a.txt', 'C']
    """
    return pc.replace_substring_regex(ids, "#[0-9]+$", "")


def passages_of(ids: Any, documents: list[Any]) -> list[Any]:
    """Return those of these passage ids that are of some documents; a document without any raises."""
    others = [each for each in documents if not isinstance(each, str)]
    if others:
        raise MismatchError(f"no document has the id {others[0]!r}: the ids of documents that are cut are strings")
    held = documents_of(ids)
    chosen = held.filter(pc.is_in(held, pa.array(documents, held.type)))
    unknown = sorted(set(documents) - set(chosen.to_pylist()))
    if unknown:
        raise MismatchError(f"no document has the id {unknown[0]!r} ({len(unknown)} of {len(documents)} are unknown)")
    passages: list[Any] = ids.filter(pc.is_in(held, chosen)).to_pylist()
    return passages


def most_passages(ids: Any, asked: Any) -> int:
    """Return how many of these passage ids are of one document of the passages that are asked, at most.

    >>> most_passages(pa.array(["a#0", "a#1", "b#0"]), pa.array(["b#7", "c#0"]))
    1
    """
    held = documents_of(ids)
    counts = held.filter(pc.is_in(held, documents_of(asked).cast(held.type))).value_counts().field("counts")
    return int(pc.max(counts).as_py() or 0)


class PassageReading:
    """The passages of documents, read as if they were documents: passage n of the document d has the id `d#n`.

    `places` are those of all passages so far, `documents` counts the documents, `empty` those without words.
    """

    def __init__(self, reading: Batches, windows: Windows, threads: int | None = None) -> None:
        self._reading = reading
        self._windows = windows
        self._threads = threads
        self._columns: list[tuple[I64, I64, I64, I64]] = [(np.empty(0, np.int64),) * 4]
        self.empty = 0

    def __iter__(self) -> Iterator[Batch]:
        """Cut one batch of documents after the other."""
        first = 0
        for batch in self._reading:
            cut = passages(batch.texts, self._windows.words, self._windows.overlap, self._threads)
            document, number, start, end = (cut[name].to_numpy() for name in ("document", "passage", "start", "end"))
            self.empty += len(batch) - len(np.unique(document))
            self._columns.append((batch.rows[document], number, start, end))
            rows = first + np.arange(len(cut))
            first += len(cut)
            yield Batch(cut["text"].combine_chunks(), None, rows, batch.rejects)

    @property
    def ids(self) -> PassageReading:
        """What knows the ids: this reading."""
        return self

    def take(self, rows: I64) -> Any:
        """Return the ids of some passages."""
        document, number = self._joined(0)[rows], self._joined(1)[rows]
        ids = self._reading.ids.take(document).cast(pa.large_string())
        return pc.binary_join_element_wise(ids, pa.array(number).cast(pa.large_string()), pa.scalar("#", ids.type))

    def places(self, unsigned: I64) -> Places:
        """Return the places of the passages that were read, but for those that were not signed."""
        starts, ends = (np.delete(self._joined(column), unsigned) for column in (2, 3))
        return Places(self._windows, starts, ends)

    def _joined(self, column: int) -> I64:
        if len(self._columns) > 1:
            first, second, third, fourth = (np.concatenate(parts) for parts in zip(*self._columns, strict=True))
            self._columns = [(first, second, third, fourth)]
        return self._columns[0][column]
