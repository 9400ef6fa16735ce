"""Two collections that are read to be linked: their words, their ids, and their texts again where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.crosslingual.terms import Terms, count_words
from sosie.documents.batch import Reject
from sosie.documents.fetch import fetch_texts
from sosie.documents.reading import Reading
from sosie.errors import DataError
from sosie.storage.room import Room
from sosie.types import I64

Translate = Callable[[list[str]], list[str]]


@dataclass(frozen=True, eq=False)
class Read:
    """One side: row r of `terms` is document number `documents[r]` of the reading; `rejects` could not be read.

    `translated` holds the words of the translations, where a function makes them.
    """

    reading: Reading
    terms: Terms
    documents: I64
    rejects: list[Reject]
    translated: Terms | None = None

    def ids(self, rows: I64) -> Any:
        """Return the ids of some rows."""
        return self.reading.ids.take(self.documents[rows])

    def texts(self, rows: I64, threads: int | None = None, limit: int | None = None) -> dict[int, str]:
        """Return the texts of some rows, by row, read again from the inputs."""
        numbers = self.documents[rows]
        found = fetch_texts(self.reading, numbers, threads, limit=limit)
        return {row: found[number] for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)}


def read_side(
    reading: Reading, room: Room, translate: Translate | None = None, advance: Callable[[int], None] = lambda done: None
) -> Read:
    """Read the documents of one side and count their words, and those of their translations."""
    documents: list[I64] = [np.empty(0, np.int64)]
    rejects: list[Reject] = []
    translated: list[list[str]] = []

    def batches() -> Iterator[Any]:
        for batch in reading:
            documents.append(batch.rows)
            rejects.extend(batch.rejects)
            if translate is not None:
                translated.append(_translated(translate, batch.texts.to_pylist()))
            yield batch.texts

    terms = count_words(batches(), room, advance)
    if not len(terms):
        raise DataError(f"{reading.inputs[0].path if reading.inputs else 'the documents'}: there is no document.")
    others = None if translate is None else count_words(iter(translated), room)
    return Read(reading, terms, np.concatenate(documents), rejects, others)


def _translated(translate: Translate, texts: list[str]) -> list[str]:
    """Return what a user's function makes of texts; one translation for each, or it is refused."""
    made = translate(texts)
    if not isinstance(made, list) or len(made) != len(texts) or not all(isinstance(text, str) for text in made):
        raise DataError(f"translate must return a list of {len(texts)} texts, one for each that it is given")
    return made
