"""Folded code points -> the words of a document, as bytes: each word followed by one space.

A word is a run of letters, marks, numbers and connectors. Within it, a run of a script that is written without spaces
(Han, kana, Thai, Lao, Khmer, Myanmar) becomes overlapping pairs of units, a unit being a character with its marks:
ABCD gives AB BC CD, a single unit itself. A mark belongs to what precedes it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.ascii import SPACE
from sosie.kernels.text.unicode import looked_up
from sosie.kernels.text.utf8 import encode

WORD, SPACELESS, MARK = 1, 2, 3
BYTES_PER_POINT = 9  # four, written twice in two pairs, and a space
STARTS_PER_POINT = 2  # a character and a space


@kernel
def point_words(
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    points: NDArray[np.int32],
    count: int,
    pairs: bool,
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
) -> int:
    """Write the words of `points[:count]`, each followed by a space, to `out`; return how many there are.

    Word i is `out[starts[i] : starts[i + 1] - 1]`. Without `pairs`, runs of spaceless scripts are not cut up. `out`
    has room for BYTES_PER_POINT of each code point, `starts` for one entry of each and one more.
    """
    words = 0
    position = 0
    inside = 0  # the class of the word being written, 0 between words
    units = 0  # written of the current spaceless run
    unit = 0  # where the last of them begins
    for i in range(count):
        point = np.int64(points[i])
        kind = looked_up(index, pages, point) >> 8 & 3
        if point < 0x80 and inside != SPACELESS:  # the same as below, without a branch to mispredict
            starts[words] = position
            words += (inside == 0) & (kind != 0)
            out[position] = point if kind else SPACE
            position += (inside | kind) != 0
            inside = kind
            continue
        if kind == 0:
            if inside:
                out[position] = SPACE
                position += 1
            inside = 0
            continue
        fresh = kind == SPACELESS and pairs
        if kind == MARK:
            kind = inside if inside else WORD
        elif not fresh:
            kind = WORD
        if kind != inside:
            if inside:
                out[position] = SPACE
                position += 1
            starts[words] = position
            words += 1
            inside = kind
            units = 0
        if fresh:
            if units > 1:
                end = position
                out[position] = SPACE
                position += 1
                starts[words] = position
                words += 1
                for byte in range(unit, end):
                    out[position] = out[byte]
                    position += 1
            units += 1
            unit = position
        position = encode(point, out, position)
    if inside:
        out[position] = SPACE
        position += 1
    starts[words] = position
    return words


@kernel
def character_starts(out: NDArray[np.uint8], size: int, starts: NDArray[np.int64]) -> int:
    """List where the characters of the valid UTF-8 `out[:size]` begin, then its end; return how many there are."""
    count = 0
    for position in range(size):
        starts[count] = position
        count += (out[position] & 0xC0) != 0x80
    starts[count] = size
    return count
