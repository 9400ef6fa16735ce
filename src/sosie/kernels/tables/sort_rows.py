"""Rows brought together by key: a radix sort that looks at no more bits than are needed to tell keys apart."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel

_DIGIT = 8  # bits of a radix pass: with more streams than this the first cache is too small


def sort_by_top_bits(keys: U64, rows: I64, bits: int) -> tuple[U64, I64]:
    """Return keys and their rows, stable, ordered by the top `bits` of the keys; the arguments are used as room.

    >>> keys, rows = sort_by_top_bits(np.array([2 << 62, 1 << 62, 3], np.uint64), np.arange(3), 2)
    >>> rows.tolist()
    [2, 1, 0]
    """
    passes = -(-bits // _DIGIT)
    other_keys, other_rows = np.empty_like(keys), np.empty_like(rows)
    low = 64 - bits
    for step in range(passes):
        high = 64 - bits * (passes - 1 - step) // passes
        _scatter(keys, rows, other_keys, other_rows, low, high - low)
        keys, rows, other_keys, other_rows = other_keys, other_rows, keys, rows
        low = high
    return keys, rows


def bits_to_tell(count: int) -> int:
    """Return how many bits of well-mixed keys keep chance groups small among so many rows.

    >>> bits_to_tell(1_000_000)
    22
    """
    return min(max(count, 2).bit_length() + 2, 44) // 2 * 2


@kernel
def _scatter(keys: U64, rows: I64, new_keys: U64, new_rows: I64, shift: int, bits: int) -> None:
    """Do one pass of a radix sort, on the digit of `bits` bits at `shift`."""
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    place = np.zeros((1 << bits) + 1, np.int64)
    for i in range(keys.size):
        place[np.int64((keys[i] >> by) & mask) + 1] += 1
    for digit in range(1 << bits):
        place[digit + 1] += place[digit]
    for i in range(keys.size):
        digit = np.int64((keys[i] >> by) & mask)
        at = place[digit]
        place[digit] = at + 1
        new_keys[at] = keys[i]
        new_rows[at] = rows[i]


@kernel
def gather_equal(keys: U64, rows: I64, bits: int) -> None:
    """Bring equal keys together in arrays ordered by their top `bits`; rows of equal keys stay in order.

    Runs that hold several keys are rare when keys are well mixed: insertion is enough.
    """
    shift = np.uint64(64 - bits)
    for i in range(1, keys.size):
        key, row = keys[i], rows[i]
        j = i
        while j > 0 and keys[j - 1] > key and keys[j - 1] >> shift == key >> shift:
            keys[j], rows[j] = keys[j - 1], rows[j - 1]
            j -= 1
        keys[j], rows[j] = key, row
