"""How often words occur in a language, from the optional package wordfreq."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.errors import UsageError
from sosie.text.languages import language_code
from sosie.types import I64

PER = 10**9  # words of which occurrences are counted


def word_frequencies(language: str) -> tuple[list[str], I64]:
    """Return the words of a language, by ISO code or English name, and how often each occurs among 10^9 words.

    >>> words, occurrences = word_frequencies("german")
    >>> words[:3], occurrences[:3].tolist()
    (['die', 'der', 'und'], [30199517, 28840315, 26302680])
    """
    package = _package()
    try:
        found: dict[str, float] = package.get_frequency_dict(language_code(language), wordlist="best")
    except (LookupError, ValueError):
        known = ", ".join(sorted(package.available_languages("best")))
        raise UsageError(
            f"wordfreq has no words of the language {language!r}; it has {known}. Fit to texts instead: fit(texts)"
        ) from None
    return list(found), np.rint(np.array(list(found.values())) * PER).astype(np.int64)


def _package() -> Any:
    try:
        import wordfreq
    except ImportError:
        raise UsageError(
            "the frequencies of a language's words need the package wordfreq: pip install 'sosie[wordfreq]', "
            "or fit to texts instead: fit(texts)"
        ) from None
    return wordfreq
