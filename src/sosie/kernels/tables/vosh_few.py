"""The first few sets of a volatility ordered set heap, without a heap: chosen from those that can be among them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from sosie.arrays import I32, U32, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.intrinsics import emitted, pointer, types

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


FEW = 64  # sets; beyond that a heap is quicker
_NONE = 0x7FFFFFFF


@cache
def few_sets(count: int, bits: int, most: int) -> I32:
    """Return the sets of at most `most` bits that can be among the first `count`, whatever the bits cost.

    A set comes after all that have no more bits, and none that is costlier than the bit in its place (PSM Lemma 1): it
    is among the first only if these are few. The form is that of `write_few_flips`.

    >>> few_sets(3, 24, 3).tolist()  # none, the cheapest bit, the second; two bits come after these three
    [[0, 0, 0], [0, 0, 1], [0, 1, 2]]
    """
    sets: list[tuple[int, ...]] = [()]
    for smaller in sets:  # which grows
        if len(smaller) == most:
            break
        for bit in range(smaller[-1] + 1 if smaller else 0, bits):
            if _not_after((*smaller, bit)) > count:
                break
            sets.append((*smaller, bit))
    place, ordered = {chosen: i for i, chosen in enumerate(sets)}, {chosen: i for i, chosen in enumerate(sorted(sets))}
    rows = [(place[chosen[:-1]], chosen[-1] if chosen else 0, ordered[chosen]) for chosen in sets]
    return read_only(np.array(rows, np.int32))


def _not_after(chosen: tuple[int, ...], below: int = 1 << 30) -> int:
    """Return how many sets have no more bits than this one, none costlier than that in its place, itself included."""
    if not chosen:
        return 1
    return 1 + sum(_not_after(chosen[:-1], bit) for bit in range(min(chosen[-1] + 1, below)))


@kernel
def write_few_flips(costs: I32, sets: I32, flips: U32) -> None:
    """Write what `write_flips` writes, chosen from `sets`, which hold all that can be among them (see `few_sets`).

    The first is empty; set i is set `sets[i, 0]`, which is before it, and the bit that is at `sets[i, 1]` from cheap to
    costly; of equally cheap sets that with the lower `sets[i, 2]` comes first. Each is put where the number of sets
    before it says: more comparisons than a heap needs, but no branches.
    """
    bits, count = costs.shape[1], sets.shape[0]
    cost, place = np.empty(bits, np.int32), np.empty(bits, np.uint32)
    bit_keys, keys = _no_keys(bits), _no_keys(count)
    totals, chosen, ordered = np.zeros(count, np.int32), np.zeros(count, np.uint32), np.empty(count, np.uint32)
    keys[0] = ordered[0] = 0
    for query in range(costs.shape[0]):
        for i in range(bits):
            bit_keys[i] = (costs[query, i] << 5) | i
        for i in range(bits):
            before = count_below(bit_keys, bits, bit_keys[i])
            cost[before] = costs[query, i]
            place[before] = np.uint32(1) << np.uint32(i)
        for i in range(1, count):
            smaller, bit = sets[i, 0], sets[i, 1]
            totals[i] = totals[smaller] + cost[bit]
            chosen[i] = chosen[smaller] | place[bit]
            keys[i] = (totals[i] << 8) | sets[i, 2]
        for i in range(1, count):
            ordered[count_below(keys, count, keys[i])] = chosen[i]
        for i in range(flips.shape[1]):
            flips[query, i] = ordered[i]


@kernel
def _no_keys(count: int) -> I32:
    return np.full(-(-count // LANES) * LANES, np.int32(_NONE))
