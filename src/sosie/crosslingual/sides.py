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
from sosie.shown import counted
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
    _check_side(reading, terms, rejects)
    others = None if translate is None else count_words(iter(translated), room)
    return Read(reading, terms, np.concatenate(documents), rejects, others)


def _check_side(reading: Reading, terms: Terms, rejects: list[Reject]) -> None:
    """Refuse a side of which nothing can be linked."""
    name = reading.inputs[0].label
    if not len(terms) and rejects:
        why = f"{rejects[0].file}, line {rejects[0].line}: {rejects[0].reason}"
        raise DataError(f"{name}: none of its {counted(len(rejects), 'record')} can be used ({why}). Mend them.")
    if not len(terms):
        raise DataError(f"{name}: there is no document. Give at least one on each side.")
    if not terms.words:
        raise DataError(
            f"{name}: there is no word in {counted(len(terms), 'document')}. Is the text in another column?"
            " Name it: --text-column."
        )


def _translated(translate: Translate, texts: list[str]) -> list[str]:
    """Return what a user's function makes of texts; one translation for each, or it is refused."""
    made = translate(texts)
    if not isinstance(made, list) or len(made) != len(texts) or not all(isinstance(text, str) for text in made):
        raise DataError(f"translate must return a list of {counted(len(texts), 'text')}, one for each that it is given")
    return made
