"""The number of set bits, as one machine instruction where the CPU has it."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typing_context: Any, x: Any) -> Any:
    """Return the number of set bits of a uint64, as uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [args[0].type]), args)

    return types.uint64(types.uint64), codegen
