"""Many numbers at a time: loops over vectors, without branches, that LLVM does not make of plain ones."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.cgutils import get_or_insert_function

from sosie.kernels.machine.intrinsics import emitted, pointer, types

LANES = 8  # words of a vector: a span of `near_any` may be read this far beyond its end
NUMBERS = 16  # int32 of a vector

_PLACE = ir.IntType(64)
_WORDS, _NUMBERS = ir.VectorType(ir.IntType(64), LANES), ir.VectorType(ir.IntType(32), NUMBERS)


@emitted
def near_any(typing_context: Any, words: Any, begin: Any, end: Any, word: Any, bound: Any) -> Any:
    """Say whether a word in `words[begin:end]` may be at a distance below `bound` from `word`.

    The span must not be empty. Words up to seven places beyond its end are looked at too: a yes is to be checked.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = pointer(context, builder, signature.args[0], args[0], _PLACE(0), _PLACE)
        count_type = ir.FunctionType(_WORDS, [_WORDS])
        count = get_or_insert_function(builder.module, count_type, f"llvm.ctpop.v{LANES}i64")
        wanted, limit = _splat(builder, args[3], _WORDS), _splat(builder, args[4], _WORDS)
        before, loop, done = _loop(builder, "near")
        place, signs = builder.phi(_PLACE), builder.phi(_WORDS)
        place.add_incoming(args[1], before)
        signs.add_incoming(ir.Constant(_WORDS, [0] * LANES), before)
        here = builder.bitcast(builder.gep(first, [place], source_etype=_PLACE), _WORDS.as_pointer())
        distance = builder.call(count, [builder.xor(builder.load(here, typ=_WORDS, align=8), wanted)])
        collected = builder.or_(signs, builder.sub(distance, limit))  # the sign bit says: below the limit
        further = builder.add(place, _PLACE(LANES))
        place.add_incoming(further, loop)
        signs.add_incoming(collected, loop)
        builder.cbranch(builder.icmp_signed("<", further, args[2]), loop, done)
        builder.position_at_end(done)
        negative = builder.icmp_signed("<", collected, ir.Constant(_WORDS, [0] * LANES))
        return builder.icmp_unsigned("!=", builder.bitcast(negative, ir.IntType(LANES)), ir.IntType(LANES)(0))

    return types.boolean(words, types.int64, types.int64, types.uint64, types.int64), codegen


@emitted
def count_below(typing_context: Any, numbers: Any, count: Any, bound: Any) -> Any:
    """Return how many of the first `count` numbers (int32) are below a bound, which is one of them or above.

    A multiple of NUMBERS is looked at, so what follows the last number must not be below a bound.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = pointer(context, builder, signature.args[0], args[0], _PLACE(0), _NUMBERS)
        limit = _splat(builder, args[2], _NUMBERS)
        before, loop, done = _loop(builder, "below")
        block, total = builder.phi(_PLACE), builder.phi(_PLACE)
        block.add_incoming(_PLACE(0), before)
        total.add_incoming(_PLACE(0), before)
        here = builder.load(builder.gep(first, [block], source_etype=_NUMBERS), typ=_NUMBERS, align=4)
        below = builder.bitcast(builder.icmp_signed("<", here, limit), ir.IntType(NUMBERS))
        found = builder.call(builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(NUMBERS)]), [below])
        more, further = builder.add(total, builder.zext(found, _PLACE)), builder.add(block, _PLACE(1))
        block.add_incoming(further, loop)
        total.add_incoming(more, loop)
        builder.cbranch(builder.icmp_signed("<", builder.mul(further, _PLACE(NUMBERS)), args[1]), loop, done)
        builder.position_at_end(done)
        return more

    return types.int64(numbers, types.int64, types.int32), codegen


def _splat(builder: Any, number: Any, vector: Any) -> Any:
    """Emit a vector with the number in every lane."""
    blank = ir.Constant(vector, ir.Undefined)
    single = builder.insert_element(blank, number, ir.IntType(32)(0))
    return builder.shuffle_vector(
        single, blank, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    )


def _loop(builder: Any, name: str) -> tuple[Any, Any, Any]:
    """Enter a loop: return the block before it, its own, and the one after it."""
    before, loop = builder.block, builder.append_basic_block(f"{name}.loop")
    done = builder.append_basic_block(f"{name}.done")
    builder.branch(loop)
    builder.position_at_end(loop)
    return before, loop, done
