"""Tags in plain Python integers."""

from __future__ import annotations

BLOCKS, PRIME, WORD = 128, 2**61 - 1, 2**64


def tag(data: bytes, key: list[int]) -> int:
    """Return the tag of a span of bytes under a key of so many words."""
    whole = len(data) // 8
    blocks = [int.from_bytes(data[8 * i : 8 * i + 8], "little") for i in range(whole)]
    tail = _term(int.from_bytes(data[8 * whole :], "little"), key[BLOCKS])
    pieces = [blocks[i : i + BLOCKS] for i in range(0, whole, BLOCKS)] or [[]]
    sums = [sum(_term(block, part) for block, part in zip(piece, key, strict=False)) for piece in pieces]
    sums[-1] += tail
    if len(pieces) == 1:
        value = len(data) + sums[0]
    else:
        value = len(data)
        for each in sums:
            for half in divmod(each % WORD, 2**32):
                value = (value * key[BLOCKS + 2] + half) % PRIME
    return max(value * key[BLOCKS + 1] % WORD >> 32, 2)


def _term(block: int, part: int) -> int:
    (high, low), (more, less) = divmod(block, 2**32), divmod(part, 2**32)
    return (high + more) % 2**32 * ((low + less) % 2**32)
