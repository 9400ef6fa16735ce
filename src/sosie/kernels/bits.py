"""Single bits of a uint64, as one machine instruction each."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from sosie.kernels.intrinsics import emitted, types


@emitted
def trailing_zeros(typing_context: Any, x: Any) -> Any:
    """Return the position of the lowest set bit; x is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen
