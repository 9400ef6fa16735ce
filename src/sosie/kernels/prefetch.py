"""Memory asked for before it is needed: many cache misses at the time of one."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from sosie.kernels.intrinsics import emitted, pointer, types


@emitted
def prefetch(typing_context: Any, data: Any, position: Any) -> Any:
    """Begin to load the cache line of `data[position]`; a hint, which never faults."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(8))
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(
            builder.module, kind, "llvm.prefetch.p0"
        )
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(data, types.intp), codegen
