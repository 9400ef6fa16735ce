"""XXH64: the published 64-bit hash, seeded, bit for bit; of one span of bytes, or of eight short ones in lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from sosie.kernels.machine.bits import rotated
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.intrinsics import emitted, pointer, types
from sosie.kernels.machine.memory import load32, load64

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
    state = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)
    state = _merged(_merged(_merged(_merged(state, a), b), c), d)
    return state, position


@kernel
def _round(lane: np.uint64, block: np.uint64) -> np.uint64:
    return rotated(lane + block * PRIME_2, 31) * PRIME_1


@kernel
def _merged(state: np.uint64, lane: np.uint64) -> np.uint64:
    return (state ^ _round(np.uint64(0), lane)) * PRIME_1 + PRIME_4


@kernel
def _add_8(state: np.uint64, block: np.uint64) -> np.uint64:
    return rotated(state ^ _round(np.uint64(0), block), 27) * PRIME_1 + PRIME_4


@kernel
def _add_4(state: np.uint64, block: np.uint64) -> np.uint64:
    return rotated(state ^ (block * PRIME_1), 23) * PRIME_2 + PRIME_3


@kernel
def _add_1(state: np.uint64, byte: np.uint64) -> np.uint64:
    return rotated(state ^ (byte * PRIME_5), 11) * PRIME_1


@kernel
def _avalanche(state: np.uint64) -> np.uint64:
    state = (state ^ (state >> np.uint64(33))) * PRIME_2
    state = (state ^ (state >> np.uint64(29))) * PRIME_3
    return state ^ (state >> np.uint64(32))


LANES = 8
_WORD = ir.IntType(64)
VECTOR = ir.VectorType(_WORD, LANES)


@emitted
def xxh64_lanes(
    typing_context: Any, data: Any, starts: Any, first: Any, span: Any, gap: Any, hashes: Any, at: Any
) -> Any:
    """Write XXH64 (seed 0) of `data[starts[i] : starts[i + span] - gap]` for LANES values of i from `first` on.

    They go to `hashes[at:]`. Returns the bit mask of the lanes of 32 bytes or more: their hashes are not valid.
    As with `xxh64_padded`, PADDING bytes past each span must be readable.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, starts, first, span, gap, hashes, at = args
        lanes = Lanes(builder)
        begin = builder.load(pointer(context, builder, signature.args[1], starts, first, VECTOR), align=8)
        after = pointer(context, builder, signature.args[1], starts, builder.add(first, span), VECTOR)
        length = builder.sub(builder.sub(builder.load(after, align=8), lanes.spread(gap)), begin)
        base = pointer(context, builder, signature.args[0], data, ir.Constant(_WORD, 0), ir.IntType(8))
        state, _, _ = emit_hashes(lanes, base, begin, length)
        builder.store(state, pointer(context, builder, signature.args[5], hashes, at, VECTOR), align=8)
        long = builder.bitcast(builder.icmp_unsigned(">=", length, lanes.all(32)), ir.IntType(LANES))
        return builder.zext(long, _WORD)

    index = types.intp
    return types.uint64(data, starts, index, index, index, hashes, index), codegen


def emit_hashes(lanes: Lanes, base: Any, begin: Any, length: Any) -> tuple[Any, list[Any], Any]:
    """Emit the hashes of spans of less than 32 bytes; return them, the blocks that were read, and what follows these.

    Blocks are valid as far as a span is long enough to have them; its last bytes are the first ones of what follows.
    """
    builder = lanes.builder
    state = builder.add(length, lanes.all(PRIME_5))
    blocks = [lanes.gather(base, builder.add(begin, lanes.all(offset))) for offset in (0, 8, 16)]
    for number, block in enumerate(blocks):
        more = lanes.rotated(builder.xor(state, lanes.round(block)), 27)
        more = builder.add(builder.mul(more, lanes.all(PRIME_1)), lanes.all(PRIME_4))
        state = builder.select(builder.icmp_unsigned(">=", length, lanes.all(8 * number + 8)), more, state)

    whole = builder.and_(length, lanes.all(~7))
    last = tail = lanes.gather(base, builder.add(begin, whole))
    has_four = builder.icmp_unsigned("!=", builder.and_(length, lanes.all(4)), lanes.all(0))
    block = builder.mul(builder.and_(tail, lanes.all(0xFFFFFFFF)), lanes.all(PRIME_1))
    more = builder.mul(lanes.rotated(builder.xor(state, block), 23), lanes.all(PRIME_2))
    state = builder.select(has_four, builder.add(more, lanes.all(PRIME_3)), state)
    tail = builder.select(has_four, builder.lshr(tail, lanes.all(32)), tail)

    bytes_left = builder.and_(length, lanes.all(3))
    for byte in range(3):
        block = builder.and_(builder.lshr(tail, lanes.all(8 * byte)), lanes.all(0xFF))
        block = builder.mul(block, lanes.all(PRIME_5))
        more = builder.mul(lanes.rotated(builder.xor(state, block), 11), lanes.all(PRIME_1))
        state = builder.select(builder.icmp_unsigned(">", bytes_left, lanes.all(byte)), more, state)

    for shift, prime in ((33, PRIME_2), (29, PRIME_3)):
        state = builder.mul(builder.xor(state, builder.lshr(state, lanes.all(shift))), lanes.all(prime))
    return builder.xor(state, builder.lshr(state, lanes.all(32))), blocks, last


class Lanes:
    """Emits the vector operations that IR has no single instruction for."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def all(self, value: Any) -> Any:
        """Return a constant in every lane."""
        return ir.Constant(VECTOR, [int(value) & 0xFFFFFFFFFFFFFFFF] * LANES)

    def spread(self, value: Any) -> Any:
        """Return a run-time value in every lane."""
        one = self.builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), zeros)

    def gather(self, base: Any, positions: Any) -> Any:
        """Load eight bytes at every lane's position."""
        gathered = ir.Constant(VECTOR, ir.Undefined)
        for lane in range(LANES):
            number = ir.Constant(ir.IntType(32), lane)
            address = self.builder.gep(base, [self.builder.extract_element(positions, number)])
            value = self.builder.load(self.builder.bitcast(address, _WORD.as_pointer()), align=1)
            gathered = self.builder.insert_element(gathered, value, number)
        return gathered

    def rotated(self, x: Any, bits: int) -> Any:
        """Rotate every lane to the left."""
        left = self.builder.shl(x, self.all(bits))
        return self.builder.or_(left, self.builder.lshr(x, self.all(64 - bits)))

    def round(self, block: Any) -> Any:
        """Return what a block of eight bytes adds to the state."""
        return self.builder.mul(self.rotated(self.builder.mul(block, self.all(PRIME_2)), 31), self.all(PRIME_1))
