"""Languages by ISO 639 code and by English name, as options accept them; how often words occur in a language."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.errors import UsageError
from sosie.types import I64

NAMES = {
    **{"af": "afrikaans", "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "br": "breton", "ca": "catalan"},
    **{"cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto"},
    **{"es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french"},
    **{"ga": "irish", "gl": "galician", "gu": "gujarati", "ha": "hausa", "he": "hebrew", "hi": "hindi"},
    **{"hr": "croatian", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "ko": "korean"},
    **{"ku": "kurdish", "la": "latin", "lt": "lithuanian", "lv": "latvian", "mr": "marathi", "ms": "malay"},
    **{"ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian"},
    **{"ru": "russian", "sk": "slovak", "sl": "slovenian", "so": "somali", "sr": "serbian", "st": "sesotho"},
    **{"sv": "swedish", "sw": "swahili", "ta": "tamil", "tl": "tagalog", "tr": "turkish", "uk": "ukrainian"},
    **{"ur": "urdu", "vi": "vietnamese", "yi": "yiddish", "yo": "yoruba", "zu": "zulu"},
}
PER = 10**9  # words of which occurrences are counted
_CODES = {name: code for code, name in NAMES.items()}


def language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language; what is no name known here is returned as it is.

    >>> language_code("German"), language_code("de"), language_code("./words.txt")
    ('de', 'de', './words.txt')
    """
    return _CODES.get(language.lower(), language.lower() if language.lower() in NAMES else language)


def language_name(language: str) -> str:
    """Return the English name of a language, in lower case; what is no code known here is only lowered.

    >>> language_name("de"), language_name("Porter")
    ('german', 'porter')
    """
    return NAMES.get(language.lower(), language.lower())


def word_frequencies(language: str) -> tuple[list[str], I64]:
    """Return the words of a language and how often each occurs among 10^9 words, from the optional package wordfreq.

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
