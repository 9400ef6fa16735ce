"""How many numbers of a short list are below another: sixteen at a time, without branches."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from sosie.kernels.intrinsics import emitted, pointer, types

LANES = 16

_NUMBER = ir.IntType(32)
_LANES = ir.VectorType(_NUMBER, LANES)
_PLACE = ir.IntType(64)


@emitted
def count_below(typing_context: Any, numbers: Any, count: Any, bound: Any) -> Any:
    """Return how many of the first `count` numbers (int32) are below a bound, which is one of them or above.

    A multiple of LANES is looked at, so what follows the last number must not be below a bound.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = pointer(context, builder, signature.args[0], args[0], ir.Constant(_PLACE, 0), _LANES)
        blank = ir.Constant(_LANES, ir.Undefined)
        single = builder.insert_element(blank, args[2], _NUMBER(0))
        limit = builder.shuffle_vector(single, blank, ir.Constant(ir.VectorType(_NUMBER, LANES), [0] * LANES))
        before, loop = builder.block, builder.append_basic_block("below.loop")
        done = builder.append_basic_block("below.done")
        builder.branch(loop)
        builder.position_at_end(loop)
        block, total = builder.phi(_PLACE), builder.phi(_PLACE)
        block.add_incoming(_PLACE(0), before)
        total.add_incoming(_PLACE(0), before)
        here = builder.load(builder.gep(first, [block], source_etype=_LANES), typ=_LANES, align=4)
        below = builder.bitcast(builder.icmp_signed("<", here, limit), ir.IntType(LANES))
        found = builder.call(builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(LANES)]), [below])
        more, further = builder.add(total, builder.zext(found, _PLACE)), builder.add(block, _PLACE(1))
        block.add_incoming(further, loop)
        total.add_incoming(more, loop)
        builder.cbranch(builder.icmp_signed("<", builder.mul(further, _PLACE(LANES)), args[1]), loop, done)
        builder.position_at_end(done)
        return more

    return types.int64(numbers, types.int64, types.int32), codegen
