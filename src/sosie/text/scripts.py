"""Which script a letter belongs to, by Unicode's blocks: an overview of a collection, not a language detector."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.text.facts import count_scripts
from sosie.text.column import TextColumn
from sosie.types import I64

_BLOCKS = {
    "Latin": [
        *[(0x0041, 0x02AF), (0x1D00, 0x1DBF), (0x1E00, 0x1EFF), (0x2071, 0x209C), (0x212A, 0x212B), (0x2183, 0x2184)],
        *[(0x2C60, 0x2C7F), (0xA720, 0xA7FF), (0xAB30, 0xAB6F), (0xFB00, 0xFB06), (0xFF21, 0xFF5A), (0x1D400, 0x1D6A5)],
    ],
    "Han": [
        *[(0x3005, 0x3007), (0x3021, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFD)],
    ],
    "Hiragana": [(0x3040, 0x309F), (0x1B001, 0x1B11F), (0x1B150, 0x1B152)],
    "Katakana": [(0x30A0, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B000), (0x1B155, 0x1B167)],
    "Hangul": [(0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FB), (0xFFA0, 0xFFDC)],
    "Bopomofo": [(0x3100, 0x312F), (0x31A0, 0x31BF)],
    "Cyrillic": [(0x0400, 0x052F), (0x1C80, 0x1C8F), (0xA640, 0xA69F)],
    "Greek": [(0x0370, 0x03FF), (0x1F00, 0x1FFF), (0x1D6A8, 0x1D7CB)],
    "Arabic": [(0x0600, 0x06FF), (0x0750, 0x077F), (0x0870, 0x08FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)],
    "Hebrew": [(0x0590, 0x05FF), (0xFB1D, 0xFB4F)],
    "Devanagari": [(0x0900, 0x097F), (0xA8E0, 0xA8FF)],
    "Bengali": [(0x0980, 0x09FF)],
    "Gurmukhi": [(0x0A00, 0x0A7F)],
    "Gujarati": [(0x0A80, 0x0AFF)],
    "Odia": [(0x0B00, 0x0B7F)],
    "Tamil": [(0x0B80, 0x0BFF)],
    "Telugu": [(0x0C00, 0x0C7F)],
    "Kannada": [(0x0C80, 0x0CFF)],
    "Malayalam": [(0x0D00, 0x0D7F)],
    "Sinhala": [(0x0D80, 0x0DFF)],
    "Thai": [(0x0E00, 0x0E7F)],
    "Lao": [(0x0E80, 0x0EFF)],
    "Tibetan": [(0x0F00, 0x0FFF)],
    "Myanmar": [(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)],
    "Khmer": [(0x1780, 0x17FF)],
    "Georgian": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)],
    "Armenian": [(0x0530, 0x058F), (0xFB13, 0xFB17)],
    "Ethiopic": [(0x1200, 0x139F), (0x2D80, 0x2DDF), (0xAB00, 0xAB2F)],
    "Mongolian": [(0x1800, 0x18AF)],
}
_MODIFIERS = (0x02B0, 0x02FF)  # of any script; Python calls an apostrophe among them a letter
SCRIPTS = ("none", *_BLOCKS, "other")


def letters_by_script(column: TextColumn, start: int, stop: int) -> tuple[I64, NDArray[np.uint8]]:
    """Return the letters of rows start..stop by script, and the script that each row has most letters of.

    Both are numbered as in `SCRIPTS`; a row without letters is of script 0, "none".

    >>> from sosie.text.column import as_column
    >>> letters, mainly = letters_by_script(as_column(["Tokyo 2024", "東京です"]), 0, 2)
    >>> [(SCRIPTS[i], int(letters[i])) for i in np.flatnonzero(letters)], [SCRIPTS[i] for i in mainly]
    ([('Latin', 5), ('Han', 2), ('Hiragana', 2)], ['Latin', 'Han'])
    """
    letters = np.zeros(len(SCRIPTS), np.int64)
    return letters, count_scripts(column.data, column.offsets, start, stop, script_table(), letters)


@cache
def script_table() -> NDArray[np.uint8]:
    """Return the script of every code point, 0 for what Python does not call a letter.

    >>> SCRIPTS[script_table()[ord("é")]], SCRIPTS[script_table()[ord("7")]]
    ('Latin', 'none')
    """
    table = np.full(0x110000, len(SCRIPTS) - 1, np.uint8)
    for number, blocks in enumerate(_BLOCKS.values(), 1):
        for first, last in blocks:
            table[first : last + 1] = number
    table[_MODIFIERS[0] : _MODIFIERS[1] + 1] = 0
    table[~np.strings.isalpha(np.arange(0x110000, dtype=np.uint32).view("<U1"))] = 0
    table.flags.writeable = False
    return table
