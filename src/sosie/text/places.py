"""Where the words of a text are, as it is written, beside the words as they are compared."""

from __future__ import annotations

import re

from sosie.kernels.text.word_spans import word_spans
from sosie.text.column import as_column
from sosie.text.tables import unicode_tables
from sosie.text.words import fold, words


def placed_words(text: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the spans of characters that are words, and each of these words folded.

    In a script that is written without spaces, every character with its marks is one.

    >>> placed_words("Die Straße, 東京")
    ([(0, 3), (4, 10), (12, 13), (13, 14)], ['die', 'strasse', '東', '京'])
    """
    readable = re.sub("[\ud800-\udfff]", "\ufffd", text)
    column = as_column([readable])
    bounds, _ = word_spans(unicode_tables(), column.data, column.offsets, 0, 1)
    spans = [(start, end) for start, end in bounds[:, :2].tolist()]
    return spans, fold("\n".join(readable[start:end] for start, end in spans)).split("\n") if spans else []


def spans_of(text: str, sought: frozenset[str]) -> list[tuple[int, int]]:
    """Return where a text has some words, given as `sosie.text.words.words` gives them; what touches is one span.

    Of a script that is written without spaces these are pairs of characters, and both of a pair are in the span.

    >>> spans_of("The rose is a ROSE.", frozenset({"rose"})), spans_of("東京都に", frozenset({"東京", "京都"}))
    ([(4, 8), (14, 18)], [(0, 3)])
    """
    spans, folded = placed_words(text)
    touching = {i for i in range(len(spans) - 1) if not fold(text[spans[i][1] : spans[i + 1][0]])}
    pairs = _pairs(text, spans, folded, touching)
    there = {i for i, word in enumerate(folded) if word in sought and i not in pairs and i - 1 not in pairs}
    there |= {i + j for i in pairs if folded[i] + folded[i + 1] in sought for j in (0, 1)}
    found: list[tuple[int, int]] = []
    for i in sorted(there):
        start, end = spans[i]
        if i - 1 in there and i - 1 in touching:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _pairs(text: str, spans: list[tuple[int, int]], folded: list[str], touching: set[int]) -> set[int]:
    """Return which of the words that touch their next one are one word with it: those of a script without spaces."""
    order = sorted(touching)
    read = iter(words("\n".join(text[spans[i][0] : spans[i + 1][1]] for i in order)))
    found = set()
    for i in order:
        if next(read, "") == folded[i] + folded[i + 1]:
            found.add(i)
        else:
            next(read, "")
    return found
