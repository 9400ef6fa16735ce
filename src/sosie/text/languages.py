"""Languages by ISO 639 code and by English name: what options accept."""

from __future__ import annotations

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
