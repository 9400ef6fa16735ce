"""Bit planes: signatures turned on their side, 512 rows per block.

`planes[block, p, lane]` holds bit p of rows `512 * block + 64 * lane` and the 63 after it. The number of planes is a
multiple of 32; those beyond the width are 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I32, I64, U64, aligned_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import LANES, UNIT

BLOCK = 64 * LANES  # rows
CHUNK = 512  # planes counted before the next query takes its turn: 32 KiB, so that they stay in the first cache


def plane_count(bits: int) -> int:
    """Return the number of planes for a width: the next multiple of a unit.

    >>> plane_count(64), plane_count(1000)
    (64, 1024)
    """
    return -(-bits // UNIT) * UNIT


@kernel
def set_rows(planes: U64, first: int, words: U64) -> None:
    """Write signatures as rows `first` and up, whatever is there; the bits of other rows stay as they are."""
    count, width = words.shape
    square, squares = np.empty(64, np.uint64), np.empty((64, 8), np.uint64)
    row = 0
    while row < count:
        at = first + row
        if at % 512 == 0 and count - row >= 512:
            _set_block(planes[at // 512], words[row : row + 512], squares)
            row += 512
            continue
        block, lane, shift = at // 512, at % 512 // 64, at % 64
        take = min(64 - shift, count - row)
        others = ~((~np.uint64(0) >> np.uint64(64 - take)) << np.uint64(shift))
        for w in range(width):
            for i in range(64):
                square[i] = np.uint64(0)
            for i in range(take):
                square[shift + i] = words[row + i, w]
            _transpose(square)
            last = min(64, planes.shape[1] - 64 * w)
            for p in range(last):
                planes[block, 64 * w + p, lane] = planes[block, 64 * w + p, lane] & others | square[p]
        row += take


@kernel
def _set_block(planes: U64, words: U64, squares: U64) -> None:
    """Write 512 rows as the planes of one block, all lanes at a time."""
    for w in range(words.shape[1]):
        for lane in range(8):
            for i in range(64):
                squares[i, lane] = words[64 * lane + i, w]
        _transpose_lanes(squares)
        for p in range(min(64, planes.shape[0] - 64 * w)):
            for lane in range(8):
                planes[64 * w + p, lane] = squares[p, lane]


@kernel
def _transpose_lanes(squares: U64) -> None:
    """Transpose 64 x 64 bits in each of eight lanes, as `_transpose` does in one."""
    mask = np.uint64(0x00000000FFFFFFFF)
    step = 32
    while step:
        shift = np.uint64(step)
        for start in range(0, 64, 2 * step):
            for i in range(start, start + step):
                for lane in range(8):
                    swap = ((squares[i, lane] >> shift) ^ squares[i + step, lane]) & mask
                    squares[i, lane] ^= swap << shift
                    squares[i + step, lane] ^= swap
        step >>= 1
        mask ^= mask << np.uint64(step)


@kernel
def get_rows(planes: U64, words: U64) -> None:
    """Read the signatures of rows 0 and up back from their planes."""
    count, width = words.shape
    square = np.empty(64, np.uint64)
    for row in range(0, count, 64):
        block, lane = row // 512, row % 512 // 64
        for w in range(width):
            last = min(64, planes.shape[1] - 64 * w)
            for p in range(64):
                square[p] = planes[block, 64 * w + p, lane] if p < last else np.uint64(0)
            _transpose(square)
            for i in range(min(64, count - row)):
                words[row + i, w] = square[i]


@kernel
def _transpose(square: U64) -> None:
    """Transpose 64 x 64 bits in place, by halves (Warren, Hacker's Delight, section 7-3)."""
    mask = np.uint64(0x00000000FFFFFFFF)
    step = 32
    while step:
        shift = np.uint64(step)
        for start in range(0, 64, 2 * step):
            for i in range(start, start + step):
                swap = ((square[i] >> shift) ^ square[i + step]) & mask
                square[i] ^= swap << shift
                square[i + step] ^= swap
        step >>= 1
        mask ^= mask << np.uint64(step)


class Asked(NamedTuple):
    """Queries as the counting kernels want them: `order[query, planes]`, `units[query, chunk, 3]`, room to count in."""

    order: I32
    units: I64
    slices: U64


def ask_planes(queries: U64, planes: int) -> Asked:
    """Sort the planes of each query, chunk by chunk, as `add_planes` wants them."""
    order = np.empty((len(queries), planes), np.int32)
    units = np.empty((len(queries), -(-planes // CHUNK), 3), np.int64)
    _order_planes(queries, order, units)
    return Asked(order, units, aligned_zeros((len(queries), LANES * planes.bit_length())))


@kernel
def _order_planes(queries: U64, order: I32, units: I64) -> None:
    planes = order.shape[1]
    for query in range(queries.shape[0]):
        for chunk in range(units.shape[1]):
            start, stop = 512 * chunk, min(512 * chunk + 512, planes)
            ones = 0
            for p in range(start, stop):
                ones += _bit(queries[query], p)
            opposite = ones // 32
            same = (stop - start - ones) // 32
            units[query, chunk, 0] = same
            units[query, chunk, 1] = opposite
            units[query, chunk, 2] = (stop - start) // 32 - same - opposite
            next_same, next_opposite, next_mixed = start, start + 32 * same, start + 32 * (same + opposite)
            end_same, end_opposite = next_opposite, next_mixed
            for p in range(start, stop):
                bit = _bit(queries[query], p)
                if bit == 0 and next_same < end_same:
                    order[query, next_same] = 8 * p
                    next_same += 1
                elif bit == 1 and next_opposite < end_opposite:
                    order[query, next_opposite] = 8 * p
                    next_opposite += 1
                else:
                    order[query, next_mixed] = 8 * p + bit
                    next_mixed += 1


@kernel
def _bit(words: U64, place: int) -> int:
    """Return one bit of a signature; beyond its words there are zeros."""
    if place // 64 >= words.size:
        return 0
    return np.int64((words[place // 64] >> np.uint64(place % 64)) & np.uint64(1))
