"""Tags: what tells shingles of other words apart although their hashes are equal, under a key that nobody knows.

XXH64 is public, and texts can be made whose shingles have any hashes one likes. A tag is almost universal: for any two
different spans of bytes, whoever chose them, at most one key in 2^30 gives both the same tag. Blocks of eight bytes are
multiplied in halves and added up, as NH of UMAC does (Black et al. 1999), each with its own part of the key; spans of
more blocks than the key has parts are a polynomial of the sums of their pieces, modulo 2^61 - 1; the sum becomes 32
bits by multiplying and shifting (Dietzfelbinger et al. 1997). Tags are for one run: no file that is kept holds any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from sosie.arrays import U32, U64
from sosie.kernels.machine.bits import product
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.intrinsics import emitted, pointer, types
from sosie.kernels.machine.memory import load64
from sosie.kernels.text.xxh64 import LANES, VECTOR, Lanes, emit_hashes

BLOCKS = 128  # of eight bytes, for which a key has parts
TAIL, FACTOR, POINT = BLOCKS, BLOCKS + 1, BLOCKS + 2  # the other parts: of the last bytes, of the sum, of the pieces
KEY_WORDS = BLOCKS + 3
PRIME = np.uint64((1 << 61) - 1)
UNKNOWN, DIGEST = 0, 1  # tags of features whose words are not at hand, and of words of a digest
LEAST = np.uint64(2)  # tags of words are no others
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


class Hashed(NamedTuple):
    """Room for hashes and for a tag of each; where no tags are wanted, they and the key are empty."""

    hashes: U64
    tags: U32
    key: U64


@kernel
def tag_padded(data: NDArray[np.uint8], start: int, stop: int, key: U64) -> np.uint32:
    """Return the tag of `data[start:stop]`; eight bytes past `stop` must be readable, whatever they hold."""
    blocks = (stop - start) >> 3
    rest = np.uint64((stop - start) & 7)
    last = load64(data, start + 8 * blocks) & ((np.uint64(1) << (rest << np.uint64(3))) - np.uint64(1))
    length = np.uint64(stop - start)
    if blocks <= BLOCKS:
        return _shortened(length + _sum(data, start, blocks, key) + _term(last, key[TAIL]), key)
    value = length
    for first in range(0, blocks, BLOCKS):
        held = min(blocks - first, BLOCKS)
        piece = _sum(data, start + 8 * first, held, key)
        if first + held == blocks:
            piece += _term(last, key[TAIL])
        value = _next(_next(value, piece >> _HALF, key[POINT]), piece & _LOW, key[POINT])
    return _shortened(value, key)


@kernel
def _sum(data: NDArray[np.uint8], start: int, blocks: int, key: U64) -> np.uint64:
    total = np.uint64(0)
    for block in range(blocks):
        total += _term(load64(data, start + 8 * block), key[block])
    return total


@kernel
def _term(block: np.uint64, part: np.uint64) -> np.uint64:
    """Multiply the halves of a block, each with its half of the key added to it modulo 2^32."""
    return ((block + part) & _LOW) * (((block >> _HALF) + (part >> _HALF)) & _LOW)


@kernel
def _next(value: np.uint64, coefficient: np.uint64, point: np.uint64) -> np.uint64:
    """Return value * point + coefficient modulo 2^61 - 1."""
    high, low = product(value, point)
    value = (low & PRIME) + (low >> np.uint64(61) | high << np.uint64(3)) + coefficient
    value = (value & PRIME) + (value >> np.uint64(61))
    return value - PRIME if value >= PRIME else value


@kernel
def _shortened(value: np.uint64, key: U64) -> np.uint32:
    return np.uint32(max(value * key[FACTOR] >> _HALF, LEAST))


@emitted
def tagged_lanes(
    typing_context: Any, data: Any, starts: Any, first: Any, span: Any, gap: Any, hashed: Any, at: Any
) -> Any:
    """Do what `xxh64_lanes` does, and write the tags, too; lanes of 32 bytes or more have neither."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, starts, first, span, gap, room, at = args
        hashes, tags, key = (builder.extract_value(room, i) for i in range(3))
        kinds = signature.args[5].types
        lanes = Lanes(builder)
        word, half = ir.IntType(64), ir.VectorType(ir.IntType(32), 2 * LANES)

        def part(number: int) -> Any:
            place = pointer(context, builder, kinds[2], key, ir.Constant(word, number), word)
            return lanes.spread(builder.load(place, align=8))

        def term(block: Any, number: int) -> Any:
            both = builder.add(builder.bitcast(block, half), builder.bitcast(part(number), half))
            both = builder.bitcast(both, VECTOR)
            return builder.mul(builder.and_(both, lanes.all(0xFFFFFFFF)), builder.lshr(both, lanes.all(32)))

        begin = builder.load(pointer(context, builder, signature.args[1], starts, first, VECTOR), align=8)
        after = pointer(context, builder, signature.args[1], starts, builder.add(first, span), VECTOR)
        length = builder.sub(builder.sub(builder.load(after, align=8), lanes.spread(gap)), begin)
        base = pointer(context, builder, signature.args[0], data, ir.Constant(word, 0), ir.IntType(8))
        state, blocks, tail = emit_hashes(lanes, base, begin, length)
        builder.store(state, pointer(context, builder, kinds[0], hashes, at, VECTOR), align=8)

        bits = builder.shl(builder.and_(length, lanes.all(7)), lanes.all(3))
        rest = builder.and_(tail, builder.sub(builder.shl(lanes.all(1), bits), lanes.all(1)))
        total = builder.add(length, term(rest, TAIL))
        for number, block in enumerate(blocks):
            there = builder.icmp_unsigned(">=", length, lanes.all(8 * number + 8))
            total = builder.add(total, builder.select(there, term(block, number), lanes.all(0)))
        total = builder.lshr(builder.mul(total, part(FACTOR)), lanes.all(32))
        total = builder.select(builder.icmp_unsigned(">", total, lanes.all(LEAST)), total, lanes.all(LEAST))
        short = ir.VectorType(ir.IntType(32), LANES)
        builder.store(builder.trunc(total, short), pointer(context, builder, kinds[1], tags, at, short), align=4)
        long = builder.bitcast(builder.icmp_unsigned(">=", length, lanes.all(32)), ir.IntType(LANES))
        return builder.zext(long, word)

    index = types.intp
    return types.uint64(data, starts, index, index, index, hashed, index), codegen
