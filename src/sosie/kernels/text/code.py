"""Source code -> the hashes of its shingles: identifiers, numbers and single operator characters, as they are written.

A token is a word (letters, marks, numbers and connectors, as in `words`, but neither folded nor cut into pairs), a
number, or one character that is neither. A number begins with an ASCII digit; a point before a digit and the signed
exponent of a decimal number belong to it: 1.5, 0x1F, 2e-3. Operators are single characters, because which of them
belong together depends on the language, and white space must not: x=-1 and x = -1, or >> and > > at the end of a
type, are the same. So `<` and `<=` differ as one token and two do. White space and a byte order mark are no tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.ascii import BLOCK, SPACE
from sosie.kernels.text.shingle import enlarged, hash_runs
from sosie.kernels.text.tags import Hashed
from sosie.kernels.text.unicode import Point, UnicodeTables, looked_up
from sosie.kernels.text.utf8 import decode, encode

BYTES_PER_BYTE = 4  # U+FFFD for an invalid one, and a space
_SYMBOL, _BLANK, _WORD, _DIGIT = 0, 1, 2, 3
_NOTHING, _NAME, _NUMBER, _DECIMAL = 0, 1, 2, 3  # what is being written: a decimal may get an exponent
_POINT, _UNDERSCORE = 0x2E, 0x5F


@kernel
def code_rows(
    tables: UnicodeTables, data: NDArray[np.uint8], offsets: I64, first: int, last: int, width: int, key: U64
) -> tuple[U64, U32, I64]:
    """Return the hashes of all runs of tokens of rows first..last, in reading order, and the rows' offsets in them.

    Between the two are their tags; there are none if the key is empty.
    """
    longest = 0
    for row in range(first, last):
        longest = max(longest, offsets[row + 1] - offsets[row])
    out, starts = np.empty(BYTES_PER_BYTE * longest + 2 * BLOCK, np.uint8), np.empty(longest + 2, np.int64)
    most = (offsets[last] - offsets[first]) // 3 + 16
    hashed = Hashed(np.empty(most, np.uint64), np.empty(most if key.size else 0, np.uint32), key)
    ends = np.zeros(last - first + 1, np.int64)
    index, pages = tables.property_index, tables.property_pages
    for row in range(first, last):
        total = ends[row - first]
        tokens = code_tokens(index, pages, data, offsets[row], offsets[row + 1], out, starts)
        if total + tokens > hashed.hashes.size:
            hashed = enlarged(hashed, total, 2 * (total + tokens))
        ends[row - first + 1] = hash_runs(out, starts, tokens, width, False, hashed, total)
    total = ends[last - first]
    return hashed.hashes[:total], hashed.tags[:total], ends


@kernel
def code_tokens(
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    out: NDArray[np.uint8],
    starts: I64,
) -> int:
    """Write the tokens of `data[start:stop]`, each followed by a space, to `out`; return how many there are.

    Token i is `out[starts[i] : starts[i + 1] - 1]`. `out` has room for BYTES_PER_BYTE of each byte, `starts` for one
    entry of each and one more.
    """
    tokens = 0
    written = 0
    inside = _NOTHING
    position = start
    while position < stop:
        point, position = decode(data, position, stop)
        kind = _kind(index, pages, point)
        if inside >= _NUMBER and point == _POINT and position < stop and _is_digit(data[position]):
            kind = _DIGIT
        if kind >= _WORD:
            if inside == _NOTHING:
                starts[tokens] = written
                tokens += 1
                inside = _DECIMAL if kind == _DIGIT else _NAME
            written = encode(point, out, written)
            if inside == _DECIMAL and kind != _DIGIT and point != _UNDERSCORE:
                inside = _NUMBER
                if _begins_exponent(data, position - 1, stop):
                    out[written] = data[position]
                    written += 1
                    position += 1
            continue
        if inside != _NOTHING:
            out[written] = SPACE
            written += 1
            inside = _NOTHING
        if kind == _SYMBOL:
            starts[tokens] = written
            tokens += 1
            written = encode(point, out, written)
            out[written] = SPACE
            written += 1
    if inside != _NOTHING:
        out[written] = SPACE
        written += 1
    starts[tokens] = written
    return tokens


@kernel
def _kind(index: NDArray[np.uint16], pages: NDArray[np.uint32], point: Point) -> int:
    """Return what a code point is: part of a word, a digit, a symbol, or white space."""
    if point < 0x80 and _is_digit(point):
        return _DIGIT
    if looked_up(index, pages, point) >> 8 & 3:
        return _WORD
    if point < 0x80:
        return _BLANK if point == 0x20 or 9 <= point <= 13 else _SYMBOL
    wide = 0x2000 <= point <= 0x200A or point == 0x2028 or point == 0x2029 or point == 0x202F or point == 0x205F
    if wide or point == 0x85 or point == 0xA0 or point == 0x1680 or point == 0x3000 or point == 0xFEFF:
        return _BLANK
    return _SYMBOL


@kernel
def _begins_exponent(data: NDArray[np.uint8], position: int, stop: int) -> bool:
    """Whether an e, a sign and a digit stand here."""
    if position + 2 >= stop or data[position] | 0x20 != 0x65:
        return False
    sign = data[position + 1]
    return (sign == 0x2B or sign == 0x2D) and _is_digit(data[position + 2])


@kernel
def _is_digit(byte: Point) -> bool:
    return 0x30 <= byte <= 0x39
