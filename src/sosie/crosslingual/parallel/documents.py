"""Documents as parallel text: two columns of one file, or two files whose documents have the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sosie.crosslingual.parallel.segment import ONE_EMPTY, ONE_SIDE, Gathered
from sosie.documents.batch import Reject
from sosie.documents.formats import FORMATS, kind_of
from sosie.documents.input import Input
from sosie.documents.reading import Reading
from sosie.documents.source import NUMBERED, Source
from sosie.errors import DataError, UsageError


def are_documents(path: str) -> bool:
    """Whether a file holds documents with columns, by its suffix.

    >>> are_documents("news.jsonl.gz"), are_documents("news.parquet"), are_documents("news.de")
    (True, True, False)
    """
    kind = kind_of(path)[0]
    return kind is not None and FORMATS[kind].naming is None


def read_columns(place: Input, gathered: Gathered, source: str, target: str) -> None:
    """Gather two columns of a file; a document that lacks one of them, or has null there, has no text on that side."""
    if source == target:
        raise UsageError(f"the column {source!r} cannot hold both the texts and their translations: name another")
    readings = [_reading(place, name, NUMBERED, "source_column= and target_column=") for name in (source, target)]
    for ours, theirs in zip(*map(_texts, readings, (place, place), (source, target)), strict=True):
        gathered.add(ours or "", theirs or "")


def read_joined(source: Input, target: Input, gathered: Gathered, id_column: str | None, text_column: str) -> None:
    """Gather the documents of two files that have the same ids, in the order of the first.

    Ids that are numbers in one file and texts in the other are compared as texts.
    """
    advice = (
        "text_column= and id_column=. Two files of documents are joined by their ids; to read pairs from each of them, "
        "give source_column= and target_column="
    )
    readings = [_reading(place, text_column, id_column, advice) for place in (source, target)]
    for reading, place in zip(readings, (source, target), strict=True):
        if reading.columns.id is None:
            raise UsageError(
                f"{place.path}: its documents have no column 'id'. Name the one that has the ids: {advice}."
            )
    as_text = readings[0].columns.id_type != readings[1].columns.id_type
    ours, theirs = (
        dict(_by_id(reading, place, text_column, as_text, gathered))
        for reading, place in zip(readings, (source, target), strict=True)
    )
    for name, text in ours.items():
        if name in theirs:
            gathered.add(text, theirs[name])
    gathered.leave(ONE_SIDE, len(ours.keys() ^ theirs.keys()))


def _reading(place: Input, text_column: str, id_column: str | None, names: str) -> Reading:
    """Begin to read a file; bad records come as rejects, so that those without a text are told from the others."""
    try:
        source = Source.from_paths([place.path], text_column=text_column, id_column=id_column, on_error="skip")
        return source.batches(threads=1)
    except UsageError as error:
        raise UsageError(f"{error} Columns of parallel text are named by {names}.") from error


def _texts(reading: Reading, place: Input, column: str) -> Iterator[str | None]:
    """Yield the texts of a column in the order of the documents, None where there is none."""
    for batch in reading:
        found: dict[int, str | None] = {}
        for reject in batch.rejects:
            _check_absent(reject, place, column)
            found[reject.row] = None
        found.update(zip(batch.rows.tolist(), batch.texts.to_pylist(), strict=True))
        for row in sorted(found):
            yield found[row]


def _by_id(reading: Reading, place: Input, column: str, as_text: bool, gathered: Gathered) -> Iterator[tuple[Any, str]]:
    for batch in reading:
        for reject in batch.rejects:
            _check_absent(reject, place, column)
            gathered.leave(ONE_EMPTY)
        ids = batch.ids.to_pylist()
        yield from zip(map(str, ids) if as_text else ids, batch.texts.to_pylist(), strict=True)


def _check_absent(reject: Reject, place: Input, column: str) -> None:
    """Raise for a record that cannot be used, unless it is right and has no text."""
    if reject.reason.startswith((f"{column!r} is null", f"no column {column!r}")):
        return
    kind = kind_of(place.path)[0]
    unit = FORMATS[kind].unit if kind else "record"
    raise DataError(f"{place.path}, {unit} {reject.line:,}: {reject.reason}. Mend the {unit}, or leave it out.")
