"""Whether a list of strings holds paths or texts: paths if all are there, texts if none is, else the caller says.

What is there is a file, a folder, or a glob that matches; an address (`s3://...`) and `-` count as there where nothing
in the list speaks against it. Strings that are not there and look like paths are refused rather than compared as texts,
because a mistyped path would go unnoticed: one with a known suffix and without spaces always, others (a space in the
name, or a slash and no suffix, as in `n/a`) only where no string in the list is plainly a text. Of a long list, the
first HEAD strings tell what all are.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from sosie.documents.formats import kind_of
from sosie.errors import UsageError
from sosie.storage.manifest import artefact_kind

HEAD = 1 << 12
_LONGEST = 4096  # characters of a path
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")
_SPACE = re.compile(r"\s").search
_ROOTED = ("/", "./", "../", "~/")
_SAY = "Say which they are: sosie.Source.from_texts([...]) or sosie.Source.from_paths([...])."


_WRITTEN = {
    "index": "an index, which `sosie search` asks",
    "signatures": "signatures, which `sosie join` and `sosie index` take",
    "signer": "a signer, which `sosie sign --signer` takes",
}


class Paths(list[Any]):
    """Paths that are meant as such, whatever they look like."""

    def __init__(self, paths: Iterable[Any]) -> None:
        super().__init__(paths)
        for place, path in enumerate(self):
            if not isinstance(path, str | os.PathLike):
                raise UsageError(f"item {place} (counted from 0) is {type(path).__name__}, and the others are paths.")


def are_paths(items: Sequence[Any]) -> bool:
    """Whether strings are paths; a list of which some are paths and some are not is refused.

    >>> are_paths(["a rose is a rose", "n/a"]), are_paths(["."])
    (False, True)
    >>> are_paths(["data/missing.jsonl"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sosie.errors.UsageError: 'data/missing.jsonl': no such file. ...
    """
    if any(isinstance(item, os.PathLike) for item in items):
        return True
    strings = [(place, item) for place, item in enumerate(items) if isinstance(item, str)]
    there = [(place, item) for place, item in strings if is_there(item)]
    if len(there) == len(items):
        return True
    found = {place for place, _ in there}
    others = [(place, item) for place, item in strings if place not in found and not _is_elsewhere(item)]
    if not others and len(strings) == len(items):
        return True
    if all(looks_like_a_path(item) for _, item in others) and len(strings) == len(items):
        raise UsageError(
            f"{_shown(others[0][1])}: no such file. Check the path; if these are texts, give "
            "sosie.Source.from_texts([...])."
        )
    missing = [(place, item) for place, item in others if _is_surely_a_path(item)]
    for place, item in (there + missing)[:1]:
        what = "is there as a file or a folder" if there else "looks like a path that is not there"
        text = next((other for other in others if not looks_like_a_path(other[1])), None)
        beside = "" if text is None else f", and {_shown(text[1])} (item {text[0]}) is a text"
        raise UsageError(f"{_shown(item)} (item {place}, counted from 0) {what}{beside}. {_SAY}")
    return False


def check_paths(paths: Any) -> None:
    """Refuse what is given as paths and is none: a text, a file that is named twice, a folder that Sosie wrote.

    >>> check_paths("a rose is a rose")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sosie.errors.UsageError: 'a rose is a rose': no such file, and a single str is a path. ...
    """
    alone = isinstance(paths, str | os.PathLike)
    seen = set()
    for path in [os.fspath(paths)] if alone else map(os.fspath, paths):
        if not path:
            raise UsageError("'': an empty string is no path. Name a file, a glob or a folder.")
        if _is_plainly_a_text(path):
            remedy = "Texts are read from files, or piped in as -."
            if alone:
                remedy = "Give texts as a list: [text]."
            raise UsageError(f"{_shown(path)}: no such file{', and a single str is a path' if alone else ''}. {remedy}")
        if path in seen and path != "-":
            raise UsageError(f"{path}: the same file is given twice. Name it once.")
        seen.add(path)
        _refuse_artefact(path)


def _is_plainly_a_text(path: str) -> bool:
    return _has_space(path) and not (is_there(path) or looks_like_a_path(path) or _is_elsewhere(path))


def _refuse_artefact(folder: str) -> None:
    """Refuse a folder that Sosie wrote, and say where its documents are."""
    if not os.path.isdir(folder):
        return
    kind = artefact_kind(folder)
    if kind is not None:
        said = _WRITTEN.get(kind, f"what Sosie calls {kind!r}")
        raise UsageError(f"{folder}: holds {said}, and documents are expected. Give the files that it was made of.")
    kept = os.path.join(folder, "kept")
    if os.path.isdir(kept) and os.path.isfile(os.path.join(folder, "pairs.parquet")):
        raise UsageError(f"{folder}: is what `sosie dedup` wrote. Its documents that stay are in {kept}: give that.")


def is_there(text: str) -> bool:
    """Whether a string names a file or a folder, or is a glob that matches one."""
    if not text or len(text) > _LONGEST or "\n" in text or "\0" in text:
        return False
    if os.path.lexists(text):
        return True
    if not glob.has_magic(text) or (" " in text and not looks_like_a_path(text)):
        return False
    return next(glob.iglob(text, recursive=True), None) is not None


def looks_like_a_path(text: str) -> bool:
    """Whether a string that is not there may have been meant as a path.

    >>> [looks_like_a_path(text) for text in ("my notes.txt", "and/or", "a rose", "rose")]
    [True, True, False, False]
    """
    if not text or len(text) > _LONGEST or "\n" in text:
        return False
    return kind_of(text)[0] is not None or (("/" in text or os.sep in text) and not _has_space(text))


def _is_surely_a_path(text: str) -> bool:
    if _has_space(text) or not text or len(text) > _LONGEST:
        return False
    return kind_of(text)[0] is not None or text.startswith(_ROOTED)


def _is_elsewhere(text: str) -> bool:
    """Whether a string is an address, or stands for standard input."""
    return text == "-" or _ADDRESS.fullmatch(text) is not None


def _has_space(text: str) -> bool:
    return _SPACE(text) is not None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")
