"""Stems of words by the Snowball algorithms, from the optional package PyStemmer."""

from __future__ import annotations

from typing import Any

from sosie.errors import UsageError
from sosie.text.languages import NAMES, language_name


def stem_algorithm(language: str) -> str:
    """Return the canonical name of the algorithm for a language: a name, an ISO code, or "porter".

    >>> stem_algorithm("de"), stem_algorithm("Porter")
    ('german', 'porter')
    """
    if not isinstance(language, str):
        raise UsageError(f"stems are named by a language, got {language!r}")
    known = _package().algorithms()
    name = language_name(language)
    if name not in known:
        codes = {name: code for code, name in NAMES.items()}
        listed = ", ".join(f"{name} ({codes[name]})" if name in codes else name for name in sorted(known))
        raise UsageError(f"no stems for {language!r}; there are {listed}")
    return name


def snowball_version() -> str:
    """Return the version of the algorithms: another one may give other stems."""
    return str(_package().version())


def stemmer(algorithm: str) -> Any:
    """Return a stemmer, for one thread at a time; `stemWords` maps a list of words, as UTF-8, to their stems.

    >>> stemmer("english").stemWords([b"connected", b"connections"])
    [b'connect', b'connect']
    """
    return _package().Stemmer(algorithm, 0)  # no cache: every word is stemmed once


def _package() -> Any:
    try:
        import Stemmer
    except ImportError:
        raise UsageError("stems need the package PyStemmer: pip install 'sosie[stem]'") from None
    return Stemmer
