"""Stop words: those of a language, from the optional package stopwordsiso, or those of a file."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sosie.errors import DataError, StorageError, UsageError
from sosie.kernels.text.unicode import looked_up
from sosie.kernels.text.words import SPACELESS
from sosie.text.languages import NAMES, language_code
from sosie.text.tables import unicode_tables
from sosie.text.words import words


@dataclass(frozen=True)
class StopWords:
    """Folded words to leave out; `name` is the code of their language or the path of their file.

    Equal words are equal, wherever they come from.
    """

    name: str = field(compare=False)
    words: frozenset[str] = field(repr=False)
    of_file: bool = field(default=False, compare=False)

    @property
    def digest(self) -> str:
        """The name of these words, wherever they come from: 32 hexadecimal digits."""
        return hashlib.sha256("\n".join(sorted(self.words)).encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return these words as JSON-ready data: a list by its name, a file, which may change or go, by its words."""
        words = {"words": sorted(self.words)} if self.of_file else {}
        return {"list": self.name, "digest": self.digest, **words}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StopWords:
        """Rebuild stop words from `to_dict`; raise if those of the language are others here.

        >>> StopWords.from_dict(StopWords("mine.txt", frozenset({"the"}), of_file=True).to_dict()).words
        frozenset({'the'})
        """
        name = data["list"]
        found = cls(name, frozenset(data["words"]), of_file=True) if "words" in data else stop_words(name)
        if found.to_dict() != data:
            raise StorageError(f"made with other stop words than {name} holds now: make it again")
        return found


def stop_words(language: str | os.PathLike[str]) -> StopWords:
    """Return the stop words of a language, by ISO code or English name, or of a UTF-8 file with one word per line.

    A word of a script without spaces is none: what is compared there are pairs of characters.

    >>> english = stop_words("English")
    >>> english.name, "the" in english.words, "cat" in english.words
    ('en', True, False)
    """
    if not isinstance(language, str | os.PathLike):
        raise UsageError(f"stop words are named by a language or a file, got {language!r}")
    name = os.fspath(language)
    code = language_code(name)
    if code in NAMES and code in _package().langs():
        return _of_language(code)
    if not Path(name).is_file():
        known = ", ".join(f"{NAMES[code]} ({code})" for code in sorted(_package().langs()) if code in NAMES)
        raise UsageError(f"no stop words for {name!r}, which is no file either; there are {known}")
    return _of_file(name)


@lru_cache
def _of_language(code: str) -> StopWords:
    """Take the entries that are one word: phrases match nothing, and parts of contractions are entries, too."""
    entries = [words(entry) for entry in _package().stopwords(code)]
    return StopWords(code, frozenset(entry[0] for entry in entries if len(entry) == 1 and not _spaceless(entry[0])))


def _of_file(path: str) -> StopWords:
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    listed = set()
    for number, line in enumerate(lines, 1):
        found = words(line)
        if len(found) > 1:
            raise DataError(f"{path}, line {number}: reads as {len(found)} words, {', '.join(found)}: one to a line")
        if found and _spaceless(found[0]):
            raise DataError(
                f"{path}, line {number}: {found[0]} is of a script that is written without spaces, where pairs of"
                " characters are compared and no word can be left out: remove the line"
            )
        listed.update(found)
    if not listed:
        raise DataError(f"{path}: holds no words")
    return StopWords(path, frozenset(listed), of_file=True)


def _spaceless(word: str) -> bool:
    tables = unicode_tables()
    flags = looked_up(tables.property_index, tables.property_pages, np.int64(ord(word[0])))
    return bool(flags >> 8 & 3 == SPACELESS)


def _package() -> Any:
    try:
        import stopwordsiso
    except ImportError:
        raise UsageError("stop words of a language need the package stopwordsiso: pip install 'sosie[stem]'") from None
    return stopwordsiso
