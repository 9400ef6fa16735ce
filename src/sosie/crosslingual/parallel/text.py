"""Parallel text: files of texts and their translations, of several kinds, read as one list of segments."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sosie.crosslingual.parallel import mo, po, tmx, tsv
from sosie.crosslingual.parallel.aligned import read_aligned
from sosie.crosslingual.parallel.documents import are_documents, read_columns, read_joined
from sosie.crosslingual.parallel.file import find_file, suffix_of
from sosie.crosslingual.parallel.segment import Gathered
from sosie.crosslingual.parallel.segment import Segment as Segment
from sosie.documents.formats import kind_of
from sosie.documents.input import Input
from sosie.errors import DataError, UsageError

KINDS = (
    "*.tsv (a text, a tab, its translation), *.po and *.mo (gettext), *.tmx, documents with two columns (*.jsonl, "
    "*.csv, *.parquet and others), or exactly two files: of documents with the same ids, or of "
    "text whose lines are aligned"
)
_DOCUMENTS, _TEXT, _TMX = "documents", "text", "tmx"
_SUFFIXES = {
    suffix: kind
    for kind, suffixes in {"tsv": tsv.SUFFIXES, "po": po.SUFFIXES, "mo": mo.SUFFIXES, _TMX: tmx.SUFFIXES}.items()
    for suffix in suffixes
}


@dataclass(frozen=True)
class ParallelText:
    """What was read: the segments, how many pairs were found in the files, and why some of them are no segments.

    Nothing is lost: `read` is as many as there are segments and reasons, `left_out` says how often there was which.
    """

    segments: list[Segment]
    read: int
    left_out: dict[str, int]
    files: tuple[str, ...]


def read_parallel(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    source_column: str | None = None,
    target_column: str | None = None,
    id_column: str | None = None,
    text_column: str = "text",
    languages: tuple[str, str] | None = None,
    swap: bool = False,
) -> ParallelText:
    """Read parallel text, whose kind the suffixes of the files say; each may be compressed, as in `.tmx.gz`.

    Any number of files of these kinds: `.tsv`, a text, a tab and its translation; `.po` and `.mo` of gettext, whose
    messages are the sources; `.tmx`, in two `languages`, as in ("de", "en"); documents with a `source_column` and a
    `target_column`, which are `source` and `target` unless they are named. Or exactly two files: of documents that have
    the same ids (`id_column`, `text_column`), unless a column of pairs is named; or of text, whatever their suffix, in
    which line i of one is the translation of line i of the other. `swap` exchanges the sides of all.
    """
    places = _find(paths)
    kinds = [_kind(place) for place in places]
    pairs = source_column is not None or target_column is not None
    joined = kinds == [_DOCUMENTS, _DOCUMENTS] and not pairs
    _check_heeded("source_column or target_column", pairs, _DOCUMENTS in kinds, "documents")
    _check_heeded("id_column", id_column is not None, joined, "two files of documents that are joined")
    _check_heeded("languages", languages is not None, _TMX in kinds, "*.tmx")
    readers: dict[str, Callable[[Input, Gathered], None]] = {
        "tsv": tsv.read_tsv,
        "po": po.read_po,
        "mo": mo.read_mo,
        _TMX: partial(tmx.read_tmx, languages=_checked(languages)),
        _DOCUMENTS: partial(read_columns, source=source_column or "source", target=target_column or "target"),
    }
    gathered = Gathered()
    if joined:
        read_joined(places[0], places[1], gathered, id_column, text_column)
    elif kinds == [_TEXT, _TEXT]:
        read_aligned(places[0], places[1], gathered)
    else:
        if _TEXT in kinds:
            raise _alone(places[kinds.index(_TEXT)])
        for place, kind in zip(places, kinds, strict=True):
            readers[kind](place, gathered)
    return _finished(gathered, places, swap)


def _find(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Input]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise UsageError(f"no parallel text: give at least one file. Sosie reads {KINDS}.")
    places = [find_file(path) for path in given]
    seen: dict[str, str] = {}
    for place in places:
        if (earlier := seen.setdefault(os.path.realpath(place.path), place.path)) is not place.path:
            raise UsageError(f"{place.path}: the same file is given twice (also as {earlier}). Name it once.")
    return places


def _kind(place: Input) -> str:
    if kind := _SUFFIXES.get(suffix_of(place.path)):
        return kind
    if are_documents(place.path):
        return _DOCUMENTS
    form, compression = kind_of(place.path)
    if form not in (None, "text") or (form is None and compression and are_documents("x" + suffix_of(place.path))):
        raise UsageError(f"{place.path}: cannot be read as parallel text. Sosie reads {KINDS}.")
    return _TEXT


def _alone(place: Input) -> UsageError:
    return UsageError(
        f"{place.path}: is taken for text whose lines are those of another file: give exactly these two files and no "
        f"others. Else give it a suffix that says what it is: Sosie reads {KINDS}."
    )


def _check_heeded(name: str, given: bool, heeded: bool, by: str) -> None:
    if given and not heeded:
        raise UsageError(f"{name} is for {by}, and there is none among the files. Leave it out.")


def _checked(languages: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return two languages as translation memories are asked for them."""
    if languages is None:
        return None
    if (
        isinstance(languages, str)
        or len(languages) != 2
        or not all(isinstance(each, str) and each for each in languages)
    ):
        raise UsageError(f"languages are two, as in ('de', 'en'), got {languages!r}")
    source, target = map(tmx.language, languages)
    if source == target:
        raise UsageError(f"languages are two different ones, got {languages!r}")
    return source, target


def _finished(gathered: Gathered, places: list[Input], swap: bool) -> ParallelText:
    for place in places:
        place.check_unchanged()
    files = tuple(place.path for place in places)
    if not gathered.segments:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in gathered.left_out.items()) or "no pair at all"
        raise DataError(f"{', '.join(files)}: no pair of texts and translations ({why}). Give files that have some.")
    segments = [Segment(target, source) for source, target in gathered.segments] if swap else gathered.segments
    return ParallelText(segments, gathered.read, dict(gathered.left_out), files)
