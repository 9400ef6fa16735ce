"""UTF-8 bytes -> folded code points: Unicode's NFKC_Casefold, for text of any script.

Every code point is replaced by what it folds to. Only if a combining character occurred does the text have to be
composed anew. Arrays that grow are replaced outside the loops that fill them: inside, Numba would count references
at every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy_first
from sosie.kernels.text.compose import LONGEST_DECOMPOSITION, compose
from sosie.kernels.text.unicode import FOLD_INERT, FOLD_POOLED, LONGEST_FOLD, TROUBLE, UnicodeTables, looked_up
from sosie.kernels.text.utf8 import decode


@kernel
def fold_points(
    tables: UnicodeTables, data: NDArray[np.uint8], start: int, stop: int, points: NDArray[np.int32]
) -> tuple[int, NDArray[np.int32]]:
    """Fold `data[start:stop]` into `points`; return how many code points there are and the array, larger if need be."""
    position = start
    count, combining = np.int64(0), np.int64(0)  # typed: a 0 that becomes another number is compiled as both
    troubled = False
    while True:
        position, count, combining, trouble = _map_points(
            tables.fold_index,
            tables.fold_pages,
            tables.fold_pool,
            tables.property_index,
            tables.property_pages,
            data,
            position,
            stop,
            points,
            count,
            combining,
        )
        troubled = troubled or trouble
        if position == stop:
            break
        larger = np.empty(2 * points.size + (stop - position) + LONGEST_FOLD, np.int32)
        copy_first(points, larger, count)
        points = larger
    if troubled:
        parts = np.empty(LONGEST_DECOMPOSITION * count, np.int32)
        if points.size < parts.size:
            larger = np.empty(parts.size, np.int32)
            copy_first(points, larger, count)
            points = larger
        count = compose(tables, points, count, parts)
    return count, points


@kernel
def _map_points(
    fold_index: NDArray[np.uint16],
    fold_pages: NDArray[np.int32],
    pool: NDArray[np.int32],
    index: NDArray[np.uint16],
    pages: NDArray[np.uint32],
    data: NDArray[np.uint8],
    position: int,
    stop: int,
    points: NDArray[np.int32],
    count: int,
    previous: int,
) -> tuple[int, int, int, bool]:
    """Map code points until the text ends or the room does; return where, how many, and whether to compose them.

    `previous` is the combining class of the last code point: in canonical order it does not fall before the next 0.
    """
    troubled = False
    while position < stop and count + LONGEST_FOLD <= points.size:
        source, position = decode(data, position, stop)
        entry = looked_up(fold_index, fold_pages, source)
        if entry & FOLD_INERT:
            points[count] = source + (entry >> 8)
            count += 1
            previous = 0
            continue
        pooled = entry & FOLD_POOLED
        size = entry >> 8 & 31 if pooled else 1
        for i in range(size):
            point = np.int64(pool[(entry >> 13) + i]) if pooled else source + (entry >> 8)
            flags = looked_up(index, pages, point)
            combining = flags & 0xFF
            troubled |= (flags & TROUBLE) != 0 or 0 < combining < previous
            previous = combining
            points[count] = point
            count += 1
    return position, count, previous, troubled
