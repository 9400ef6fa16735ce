"""UTF-8, one code point at a time, in both directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.unicode import Point

REPLACEMENT = 0xFFFD


@kernel
def decode(data: NDArray[np.uint8], position: int, stop: int) -> tuple[Point, int]:
    """Return the code point at a byte and the position after it, without reading `data[stop]`.

    Invalid bytes give U+FFFD, one for each longest run that could have begun a character: the rule of the Unicode
    standard (table 3-7), of web browsers and of `bytes.decode("utf-8", "replace")`.
    """
    lead = np.int64(data[position])
    position += 1
    if lead < 0x80:
        return lead, position
    if lead < 0xC2 or lead > 0xF4:
        return REPLACEMENT, position
    low, high = 0x80, 0xBF  # of the second byte: no overlong forms, no surrogates, nothing above U+10FFFF
    if lead < 0xE0:
        more, point = 1, lead & 0x1F
    elif lead < 0xF0:
        more, point = 2, lead & 0x0F
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
    else:
        more, point = 3, lead & 0x07
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
    for _ in range(more):
        if position >= stop:
            return REPLACEMENT, position
        byte = np.int64(data[position])
        if byte < low or byte > high:
            return REPLACEMENT, position
        point = point << 6 | (byte & 0x3F)
        position += 1
        low, high = 0x80, 0xBF
    return point, position


@kernel
def encode(point: Point, out: NDArray[np.uint8], position: int) -> int:
    """Write a code point at a byte of `out`, which has room for four; return the position after it."""
    if point < 0x80:
        out[position] = point
        return position + 1
    if point < 0x800:
        out[position] = 0xC0 | point >> 6
        out[position + 1] = 0x80 | point & 0x3F
        return position + 2
    if point < 0x10000:
        out[position] = 0xE0 | point >> 12
        out[position + 1] = 0x80 | point >> 6 & 0x3F
        out[position + 2] = 0x80 | point & 0x3F
        return position + 3
    out[position] = 0xF0 | point >> 18
    out[position + 1] = 0x80 | point >> 12 & 0x3F
    out[position + 2] = 0x80 | point >> 6 & 0x3F
    out[position + 3] = 0x80 | point & 0x3F
    return position + 4
