"""XXH64 of eight short spans at once, in the lanes of one vector: for the many shingles of a document.

LLVM cuts the vector to what the CPU has. No step branches: a block that a lane does not have is computed and dropped.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from sosie.kernels.intrinsics import emitted, pointer, types
from sosie.kernels.xxh64 import PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5

LANES = 8
_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


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
        lanes = _Lanes(builder)
        begin = builder.load(pointer(context, builder, signature.args[1], starts, first, _VECTOR), align=8)
        after = pointer(context, builder, signature.args[1], starts, builder.add(first, span), _VECTOR)
        length = builder.sub(builder.sub(builder.load(after, align=8), lanes.spread(gap)), begin)
        base = pointer(context, builder, signature.args[0], data, ir.Constant(_WORD, 0), ir.IntType(8))

        state = builder.add(length, lanes.all(PRIME_5))
        for offset in (0, 8, 16):
            block = lanes.gather(base, builder.add(begin, lanes.all(offset)))
            more = lanes.rotated(builder.xor(state, lanes.round(block)), 27)
            more = builder.add(builder.mul(more, lanes.all(PRIME_1)), lanes.all(PRIME_4))
            state = builder.select(builder.icmp_unsigned(">=", length, lanes.all(offset + 8)), more, state)

        whole = builder.and_(length, lanes.all(~7))
        tail = lanes.gather(base, builder.add(begin, whole))
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
        state = builder.xor(state, builder.lshr(state, lanes.all(32)))
        builder.store(state, pointer(context, builder, signature.args[5], hashes, at, _VECTOR), align=8)
        long = builder.bitcast(builder.icmp_unsigned(">=", length, lanes.all(32)), ir.IntType(LANES))
        return builder.zext(long, _WORD)

    index = types.intp
    return types.uint64(data, starts, index, index, index, hashes, index), codegen


class _Lanes:
    """Emits the vector operations that IR has no single instruction for."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def all(self, value: Any) -> Any:
        """Return a constant in every lane."""
        return ir.Constant(_VECTOR, [int(value) & 0xFFFFFFFFFFFFFFFF] * LANES)

    def spread(self, value: Any) -> Any:
        """Return a run-time value in every lane."""
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)

    def gather(self, base: Any, positions: Any) -> Any:
        """Load eight bytes at every lane's position."""
        gathered = ir.Constant(_VECTOR, ir.Undefined)
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
