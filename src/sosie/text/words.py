"""How a text is read, for people to look at: folded, its words, or tokens of code, from the kernels that hash them."""

from __future__ import annotations

import numpy as np

from sosie.kernels.text.code import BYTES_PER_BYTE
from sosie.kernels.text.code import code_tokens as read_code
from sosie.kernels.text.fold import fold_points
from sosie.kernels.text.words import BYTES_PER_POINT, point_words
from sosie.text.tables import unicode_tables
from sosie.types import I32


def fold(text: str) -> str:
    r"""Return Unicode's NFKC_Casefold of a text: case, width and compatibility forms, invisible characters are gone.

    >>> fold("Straße ﬁel\u00add №5")
    'strasse field no5'
    """
    return _folded(text).astype("<u4").tobytes().decode("utf-32-le")


def words(text: str) -> list[str]:
    """Return the words of a text as shingles see them.

    >>> words("L'été à Paris, 2024: 東京都")
    ['l', 'été', 'à', 'paris', '2024', '東京', '京都']
    """
    points = _folded(text)
    out = np.empty(BYTES_PER_POINT * len(points) + 1, np.uint8)
    starts = np.empty(len(points) + 1, np.int64)
    tables = unicode_tables()
    count = point_words(tables.property_index, tables.property_pages, points, len(points), True, out, starts)
    folded = out[: starts[count]].tobytes()
    return [folded[starts[i] : starts[i + 1] - 1].decode("utf-8") for i in range(count)]


def code_tokens(text: str) -> list[str]:
    """Return the tokens of source code as shingles of unit "code" see them.

    >>> code_tokens("if Größe<=1.5e-3: # x")
    ['if', 'Größe', '<', '=', '1.5e-3', ':', '#', 'x']
    """
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    out, starts = np.empty(BYTES_PER_BYTE * len(data) + 1, np.uint8), np.empty(len(data) + 2, np.int64)
    tables = unicode_tables()
    count = read_code(tables.property_index, tables.property_pages, data, 0, len(data), out, starts)
    written = out[: starts[count]].tobytes()
    return [written[starts[i] : starts[i + 1] - 1].decode("utf-8") for i in range(count)]


def _folded(text: str) -> I32:
    """Return the folded code points; a lone surrogate reads as invalid UTF-8."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    count, points = fold_points(unicode_tables(), data, 0, len(data), np.empty(64, np.int32))
    return points[:count]
