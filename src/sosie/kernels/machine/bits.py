"""Bits of a uint64: counted and found as one machine instruction each; products; numbers by how many they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.intrinsics import emitted, types


@emitted
def trailing_zeros(typing_context: Any, x: Any) -> Any:
    """Return the position of the lowest set bit; x is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@emitted
def rotated(typing_context: Any, x: Any, bits: Any) -> Any:
    """Return a uint64 rotated to the left by so many bits.

    It is emitted and no kernel: Numba compiles a kernel again for every constant that it is called with.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = args[0].type
        rotate = builder.module.declare_intrinsic("llvm.fshl", [word], ir.FunctionType(word, [word] * 3))
        return builder.call(rotate, [args[0], *args])

    return types.uint64(types.uint64, types.uint64), codegen


@kernel
def product(x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Multiply two words: the high and the low word of the product."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (x & mask) * (y & mask)
    middle = (x >> half) * (y & mask) + (low >> half)
    carry = (x & mask) * (y >> half) + (middle & mask)
    return (x >> half) * (y >> half) + (middle >> half) + (carry >> half), (carry << half) | (low & mask)


@kernel
def next_mask(mask: int) -> int:
    """Return the next larger number with as many set bits (Gosper); mask is not 0.

    >>> bin(next_mask(0b0110))
    '0b1001'
    """
    carried = mask + (mask & -mask)
    return carried | (((carried ^ mask) >> 2) >> np.int64(trailing_zeros(np.uint64(mask))))


@emitted
def popcount(typing_context: Any, x: Any) -> Any:
    """Return the number of set bits of a uint64, as uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [args[0].type]), args)

    return types.uint64(types.uint64), codegen
