"""Is any word of a span near another word? Eight at a time, without branches."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

LANES = 8  # a span may be read this far beyond its end

_WORD = ir.IntType(64)
_LANES = ir.VectorType(_WORD, LANES)


@intrinsic
def near_any(typing_context: Any, words: Any, begin: Any, end: Any, word: Any, bound: Any) -> Any:
    """Say whether a word in `words[begin:end]` may be at a distance below `bound` from `word`.

    The span must not be empty. Words up to seven places beyond its end are looked at too: a yes is to be checked.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        count_type = ir.FunctionType(_LANES, [_LANES])
        count = get_or_insert_function(builder.module, count_type, f"llvm.ctpop.v{LANES}i64")
        wanted, limit = _splat(builder, args[3]), _splat(builder, args[4])
        before, loop = builder.block, builder.append_basic_block("near.loop")
        done = builder.append_basic_block("near.done")
        builder.branch(loop)
        builder.position_at_end(loop)
        place, signs = builder.phi(_WORD), builder.phi(_LANES)
        place.add_incoming(args[1], before)
        signs.add_incoming(ir.Constant(_LANES, [0] * LANES), before)
        pointer = builder.bitcast(builder.gep(data, [place], source_etype=_WORD), _LANES.as_pointer())
        found = builder.load(pointer, typ=_LANES, align=8)
        distance = builder.call(count, [builder.xor(found, wanted)])
        collected = builder.or_(signs, builder.sub(distance, limit))  # the sign bit says: below the limit
        further = builder.add(place, ir.Constant(_WORD, LANES))
        place.add_incoming(further, loop)
        signs.add_incoming(collected, loop)
        builder.cbranch(builder.icmp_signed("<", further, args[2]), loop, done)
        builder.position_at_end(done)
        negative = builder.icmp_signed("<", collected, ir.Constant(_LANES, [0] * LANES))
        return builder.icmp_unsigned("!=", builder.bitcast(negative, ir.IntType(LANES)), ir.IntType(LANES)(0))

    return types.boolean(words, types.int64, types.int64, types.uint64, types.int64), codegen


def _splat(builder: Any, word: Any) -> Any:
    blank = ir.Constant(_LANES, ir.Undefined)
    single = builder.insert_element(blank, word, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, blank, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
