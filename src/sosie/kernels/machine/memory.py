"""Memory: wide loads and stores at any byte, and what is asked for before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.cgutils import raw_memmove

from sosie.kernels.machine.intrinsics import emitted, pointer, types


@emitted
def load64(typing_context: Any, data: Any, position: Any) -> Any:
    """Return the eight bytes from `data[position]` on as one uint64."""
    return _load(data, types.uint64, 64)


@emitted
def load32(typing_context: Any, data: Any, position: Any) -> Any:
    """Return the four bytes from `data[position]` on, zero-extended to uint64."""
    return _load(data, types.uint64, 32)


@emitted
def copy16(typing_context: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    """Copy the sixteen bytes from `source[at]` on to `target[to]` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = ir.VectorType(ir.IntType(8), 16)
        read = pointer(context, builder, signature.args[0], args[0], args[1], block)
        write = pointer(context, builder, signature.args[2], args[2], args[3], block)
        builder.store(builder.load(read, align=1), write, align=1)
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp), codegen


@emitted
def copy_first(typing_context: Any, source: Any, target: Any, count: Any) -> Any:
    """Copy the first `count` elements of an array to another one of the same type that has room for them.

    An assignment of slices takes Numba two seconds to compile, for the words of an error that cannot be.
    """
    if source.dtype != target.dtype:
        raise TypeError(f"cannot copy {source} to {target}")  # while compiling

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin, element = ir.IntType(64)(0), context.get_data_type(signature.args[0].dtype)
        read = pointer(context, builder, signature.args[0], args[0], begin, element)
        write = pointer(context, builder, signature.args[1], args[1], begin, element)
        raw_memmove(builder, write, read, args[2], context.get_abi_sizeof(element))
        return context.get_dummy_value()

    return types.void(source, target, types.intp), codegen


def _load(data: Any, result: Any, bits: int) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(bits))
        value = builder.load(address, align=1)
        return value if bits == 64 else builder.zext(value, ir.IntType(64))

    return result(data, types.intp), codegen


@emitted
def prefetch(typing_context: Any, data: Any, position: Any) -> Any:
    """Begin to load the cache line of `data[position]`; a hint, which never faults."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(8))
        emit_prefetch(builder, address, 3)
        return context.get_dummy_value()

    return types.void(data, types.intp), codegen


def emit_prefetch(builder: Any, address: Any, cache: int) -> None:
    """Emit a prefetch of data to read: to every cache (3), or to the second one and those below it (2)."""
    number, name = ir.IntType(32), "llvm.prefetch.p0"
    kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(function, [address, number(0), number(cache), number(1)])
