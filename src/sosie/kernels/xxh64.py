"""XXH64 of a span of bytes: the published 64-bit hash, seeded, bit for bit.

Two functions, one hash: `xxh64` never reads past its span; `xxh64_padded` may read a little further and in exchange
has no branch that depends on a length below 32, so that short spans of mixed lengths do not mispredict (half the time).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.compile import kernel
from sosie.kernels.load import load32, load64

PRIME_1 = np.uint64(0x9E3779B185EBCA87)
PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
PRIME_3 = np.uint64(0x165667B19E3779F9)
PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
PRIME_5 = np.uint64(0x27D4EB2F165667C5)
PADDING = 24  # bytes that `xxh64_padded` may read past the end of its span


@kernel
def xxh64(data: NDArray[np.uint8], start: int, stop: int, seed: np.uint64) -> np.uint64:
    """Return XXH64 of `data[start:stop]`; the caller guarantees that the span lies inside `data`."""
    length = np.uint64(stop - start)
    hashed = np.uint64(seed) + PRIME_5
    position = start
    if stop - start >= 32:
        hashed, position = _stripes(data, start, stop, np.uint64(seed))
    hashed += length
    while position + 8 <= stop:
        hashed = _add_8(hashed, load64(data, position))
        position += 8
    if position + 4 <= stop:
        hashed = _add_4(hashed, load32(data, position))
        position += 4
    while position < stop:
        hashed = _add_1(hashed, np.uint64(data[position]))
        position += 1
    return _avalanche(hashed)


@kernel
def xxh64_padded(data: NDArray[np.uint8], start: int, stop: int, seed: np.uint64) -> np.uint64:
    """Return XXH64 of `data[start:stop]`; `PADDING` bytes past `stop` must be readable, whatever they hold."""
    length = stop - start
    hashed = np.uint64(seed) + PRIME_5
    position = start
    if length >= 32:
        hashed, position = _stripes(data, start, stop, np.uint64(seed))
    hashed += np.uint64(length)
    rest = stop - position
    block = _add_8(hashed, load64(data, position))
    hashed = block if rest >= 8 else hashed
    block = _add_8(hashed, load64(data, position + 8))
    hashed = block if rest >= 16 else hashed
    block = _add_8(hashed, load64(data, position + 16))
    hashed = block if rest >= 24 else hashed
    tail = load64(data, position + (rest & ~7))
    rest = rest & 7
    word = _add_4(hashed, tail & np.uint64(0xFFFFFFFF))
    has_word = rest >= 4
    hashed = word if has_word else hashed
    tail = tail >> np.uint64(32) if has_word else tail
    rest = rest & 3
    byte = _add_1(hashed, tail & np.uint64(0xFF))
    hashed = byte if rest > 0 else hashed
    byte = _add_1(hashed, (tail >> np.uint64(8)) & np.uint64(0xFF))
    hashed = byte if rest > 1 else hashed
    byte = _add_1(hashed, (tail >> np.uint64(16)) & np.uint64(0xFF))
    hashed = byte if rest > 2 else hashed
    return _avalanche(hashed)


@kernel
def _stripes(data: NDArray[np.uint8], start: int, stop: int, seed: np.uint64) -> tuple[np.uint64, int]:
    """Digest the whole 32-byte stripes of a span; return the state and where the rest begins."""
    a = seed + PRIME_1 + PRIME_2
    b = seed + PRIME_2
    c = seed
    d = seed - PRIME_1
    position = start
    while position + 32 <= stop:
        a = _round(a, load64(data, position))
        b = _round(b, load64(data, position + 8))
        c = _round(c, load64(data, position + 16))
        d = _round(d, load64(data, position + 24))
        position += 32
    state = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
    state = _merged(_merged(_merged(_merged(state, a), b), c), d)
    return state, position


@kernel
def _rotated(x: np.uint64, bits: int) -> np.uint64:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@kernel
def _round(lane: np.uint64, block: np.uint64) -> np.uint64:
    return _rotated(lane + block * PRIME_2, 31) * PRIME_1


@kernel
def _merged(state: np.uint64, lane: np.uint64) -> np.uint64:
    return (state ^ _round(np.uint64(0), lane)) * PRIME_1 + PRIME_4


@kernel
def _add_8(state: np.uint64, block: np.uint64) -> np.uint64:
    return _rotated(state ^ _round(np.uint64(0), block), 27) * PRIME_1 + PRIME_4


@kernel
def _add_4(state: np.uint64, block: np.uint64) -> np.uint64:
    return _rotated(state ^ (block * PRIME_1), 23) * PRIME_2 + PRIME_3


@kernel
def _add_1(state: np.uint64, byte: np.uint64) -> np.uint64:
    return _rotated(state ^ (byte * PRIME_5), 11) * PRIME_1


@kernel
def _avalanche(state: np.uint64) -> np.uint64:
    state = (state ^ (state >> np.uint64(33))) * PRIME_2
    state = (state ^ (state >> np.uint64(29))) * PRIME_3
    return state ^ (state >> np.uint64(32))
