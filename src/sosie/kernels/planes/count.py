"""Bit-sliced counting: how far 512 rows are from a query, one instruction for all of them.

A *plane* holds one bit of 512 rows in eight words. Planes are added with carry-save full adders (Harley and Seal), 32
at a time, into *slices*: slice l holds bit l of the 512 counts. Vector code is emitted directly because compilers do
not find it; a CPU without 512-bit registers gets the same code in halves or quarters.

The order of a query lists its planes as `8 * plane`: first units of 32 planes where the query's bit is 0 (their set
bits count), then units where it is 1 (their clear bits count), then mixed units, there as `8 * plane + bit`. Sorting
the planes this way saves the exclusive or, except in the mixed units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from sosie.kernels.machine.memory import emit_prefetch

LANES = 8  # words of a plane: 512 rows
UNIT = 32  # planes added at a time
LOW = 5  # slices that a unit fills: log2 of UNIT

_WORD = ir.IntType(64)
_HALF = ir.IntType(32)
_LANES = ir.VectorType(_WORD, LANES)
_NONE = ir.Constant(_LANES, [0] * LANES)
_ALL = ir.Constant(_LANES, [2**64 - 1] * LANES)
_Vector = Any
_Builder = Any
_Adder = Callable[[_Vector, _Vector, _Vector, bool], tuple[_Vector, _Vector]]


@intrinsic
def add_planes(
    typing_context: Any, planes: Any, start: Any, order: Any, units: Any, slices: Any, height: Any, ahead: Any
) -> Any:
    """Add the planes of a query's order to the counts in `slices`.

    Plane p lies at `planes[start + 8 * p:][:8]` (flat words); `units` are the three numbers of units in `order`;
    slice l lies at `slices[8 * l:][:8]`; `height` is the number of slices in use. Unless `ahead` is 0, as many planes
    as are added are asked for, from `planes[start + ahead]` on: memory brings them while these are counted.
    """

    def codegen(context: Any, builder: _Builder, signature: Any, args: Any) -> Any:
        data = [_data(context, builder, signature.args[i], args[i]) for i in (0, 2, 3, 4)]
        origin = builder.gep(data[0], [args[1]], source_etype=_WORD)
        low = [_load(builder, data[3], _word(LANES * level)) for level in range(LOW)]
        first = _word(0)
        task = _Task(builder, origin, data[1], data[3], args[5], args[6])
        add = _adder(builder, "+avx512f" in context.codegen().magic_tuple()[2])
        for kind, plane in enumerate((_same, _opposite, _mixed)):
            units = builder.load(builder.gep(data[2], [_word(kind)], source_etype=_WORD), typ=_WORD)
            last = builder.add(first, units)
            low = _add_units(task, first, last, low, add, plane)
            first = last
        for level in range(LOW):
            _store(builder, low[level], data[3], _word(LANES * level))
        return context.get_dummy_value()

    return types.void(planes, types.int64, order, units, slices, types.int64, types.int64), codegen


@intrinsic
def mark_below(typing_context: Any, slices: Any, height: Any, bound: Any, marks: Any, start: Any, found: Any) -> Any:
    """Set `found[:8]` to the rows of `marks[start:][:8]` whose count is below `bound`; say whether there are any."""

    def codegen(context: Any, builder: _Builder, signature: Any, args: Any) -> Any:
        counts, marks_in, out = (_data(context, builder, signature.args[i], args[i]) for i in (0, 3, 5))
        before = builder.block
        head, body, done = (builder.append_basic_block(f"below.{name}") for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        level, below, equal = builder.phi(_WORD), builder.phi(_LANES), builder.phi(_LANES)
        for phi, value in ((level, args[1]), (below, _NONE), (equal, _ALL)):
            phi.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed(">", level, _word(0)), body, done)
        builder.position_at_end(body)
        lower = builder.sub(level, _word(1))
        count = _load(builder, counts, builder.mul(lower, _word(LANES)))
        bit = builder.trunc(builder.lshr(args[2], lower), ir.IntType(1))
        wanted = _splat(builder, builder.sext(bit, _WORD))
        smaller = builder.and_(equal, builder.and_(wanted, builder.not_(count)))
        level.add_incoming(lower, body)
        below.add_incoming(builder.or_(below, smaller), body)
        equal.add_incoming(builder.and_(equal, builder.not_(builder.xor(count, wanted))), body)
        builder.branch(head)
        builder.position_at_end(done)
        rows = builder.and_(below, _load(builder, marks_in, args[4]))
        _store(builder, rows, out, _word(0))
        return _any(builder, rows)

    return types.boolean(slices, types.int64, types.int64, marks, types.int64, found), codegen


@intrinsic
def mark_at_most(
    typing_context: Any, weights: Any, start: Any, counts: Any, height: Any, most: Any, inverse: Any, found: Any
) -> Any:
    """Set `found[:8]` to the rows whose weight, less their count, is at most `most`; say whether there are any.

    Slice l of the weights lies at `weights[start + 8 * l:][:8]`, of the counts at `counts[8 * l:][:8]`; there are
    `height` of both, with room for the sign of the difference. Where `inverse` is 1, the other rows are marked.
    """

    def codegen(context: Any, builder: _Builder, signature: Any, args: Any) -> Any:
        weighed, counted, out = (_data(context, builder, signature.args[i], args[i]) for i in (0, 2, 6))
        add = _adder(builder, "+avx512f" in context.codegen().magic_tuple()[2])
        # weight - count - most - 1 is negative: weight + not count + not most + 1, in carry-save form
        bound = builder.sub(_word(0), args[4])
        before = builder.block
        head, body, done = (builder.append_basic_block(f"most.{name}") for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        level = builder.phi(_WORD)
        saved, carry, sign = (builder.phi(_LANES) for _ in range(3))
        level.add_incoming(_word(0), before)
        for phi in (saved, carry, sign):
            phi.add_incoming(_NONE, before)
        builder.cbranch(builder.icmp_signed("<", level, args[3]), body, done)
        builder.position_at_end(body)
        place = builder.mul(level, _word(LANES))
        bit = _splat(builder, builder.sext(builder.trunc(builder.ashr(bound, level), ir.IntType(1)), _WORD))
        weight = _load(builder, weighed, builder.add(args[1], place))
        low, high = add(weight, builder.not_(_load(builder, counted, place)), bit, False)
        here, more = add(low, saved, carry, False)
        level.add_incoming(builder.add(level, _word(1)), body)
        for phi, value in ((saved, high), (carry, more), (sign, here)):
            phi.add_incoming(value, body)
        builder.branch(head)
        builder.position_at_end(done)
        others = _splat(builder, builder.sub(_word(0), args[5]))
        rows = builder.xor(sign, others)
        _store(builder, rows, out, _word(0))
        return _any(builder, rows)

    return (
        types.boolean(weights, types.int64, counts, types.int64, types.int64, types.int64, found),
        codegen,
    )


class _Task(NamedTuple):
    """What a loop over units reads and writes: pointers to the planes, the order and the slices; see `add_planes`."""

    builder: _Builder
    origin: Any
    order: Any
    slices: Any
    height: Any
    ahead: Any


def _add_units(
    task: _Task,
    first: Any,
    last: Any,
    low: list[_Vector],
    add: _Adder,
    plane: Callable[[_Builder, Any, Any], _Vector],
) -> list[_Vector]:
    """Emit the loop over units of one kind; the low slices stay in registers."""
    builder = task.builder
    before = builder.block
    head, body, done = (builder.append_basic_block(f"units.{name}") for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    unit = builder.phi(_WORD)
    unit.add_incoming(first, before)
    state = [builder.phi(_LANES) for _ in low]
    for phi, value in zip(state, low, strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", unit, last), body, done)
    builder.position_at_end(body)
    _ask_ahead(task, unit)
    entries = builder.gep(task.order, [builder.mul(unit, _word(UNIT))], source_etype=_HALF)
    tree = _Tree(add, list(state), lambda i: plane(builder, task.origin, _entry(builder, entries, i)))
    carry = tree.carry(LOW, plane is _opposite)
    _ripple(builder, carry, task.slices, task.height)
    unit.add_incoming(builder.add(unit, _word(1)), builder.block)
    for phi, value in zip(state, tree.low, strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return list(state)


def _ask_ahead(task: _Task, unit: Any) -> None:
    """Emit a prefetch, to the second cache, of the planes that lie `ahead` of the unit, unless that is 0.

    Between the additions of a unit: all at once they would wait for each other, and evict what is being counted.
    """
    builder = task.builder
    ask, go_on = (builder.append_basic_block(f"ahead.{name}") for name in ("ask", "done"))
    builder.cbranch(builder.icmp_signed("!=", task.ahead, _word(0)), ask, go_on)
    builder.position_at_end(ask)
    start = builder.add(task.ahead, builder.mul(unit, _word(UNIT * LANES)))
    for i in range(UNIT):
        place = builder.gep(task.origin, [builder.add(start, _word(LANES * i))], source_etype=_WORD)
        emit_prefetch(builder, builder.bitcast(place, ir.IntType(8).as_pointer()), 2)
    builder.branch(go_on)
    builder.position_at_end(go_on)


class _Tree:
    """Full adders over a unit, depth first so that few registers are alive."""

    def __init__(self, add: _Adder, low: list[_Vector], plane: Callable[[int], _Vector]) -> None:
        self.add, self.low, self.plane, self.taken = add, low, plane, 0

    def carry(self, level: int, inverted: bool) -> _Vector:
        """Return a vector of weight 2^level: a plane, or the carry of the next two of half the weight."""
        if level == 0:
            self.taken += 1
            return self.plane(self.taken - 1)
        left, right = self.carry(level - 1, inverted), self.carry(level - 1, inverted)
        self.low[level - 1], carry = self.add(left, right, self.low[level - 1], inverted and level == 1)
        return carry


def _adder(builder: _Builder, fused: bool) -> _Adder:
    """Return what emits a full adder: the exclusive or and the majority of a, b and c, or of not a, not b and c."""
    kind = ir.FunctionType(_LANES, [_LANES, _LANES, _LANES, _HALF])

    def logic(table: int, *values: _Vector) -> _Vector:
        function = get_or_insert_function(builder.module, kind, "llvm.x86.avx512.pternlog.q.512")
        return builder.call(function, [*values, ir.Constant(_HALF, table)])

    def add(a: _Vector, b: _Vector, c: _Vector, inverted: bool) -> tuple[_Vector, _Vector]:
        if fused:  # one instruction each, which the compiler does not find by itself
            return logic(0x96, a, b, c), logic(0x2B if inverted else 0xE8, a, b, c)
        half = builder.xor(a, b)
        both = builder.not_(builder.or_(a, b)) if inverted else builder.and_(a, b)
        return builder.xor(half, c), builder.or_(both, builder.and_(half, c))

    return add


def _ripple(builder: _Builder, carry: _Vector, slices: Any, height: Any) -> None:
    """Emit the loop that adds a unit's carry to the slices in memory, from LOW to `height`."""
    before = builder.block
    head, body, done = (builder.append_basic_block(f"ripple.{name}") for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    level, rest = builder.phi(_WORD), builder.phi(_LANES)
    level.add_incoming(_word(LOW), before)
    rest.add_incoming(carry, before)
    builder.cbranch(builder.icmp_signed("<", level, height), body, done)
    builder.position_at_end(body)
    place = builder.mul(level, _word(LANES))
    held = _load(builder, slices, place)
    _store(builder, builder.xor(held, rest), slices, place)
    level.add_incoming(builder.add(level, _word(1)), body)
    rest.add_incoming(builder.and_(held, rest), body)
    builder.branch(head)
    builder.position_at_end(done)


def _same(builder: _Builder, origin: Any, entry: Any) -> _Vector:
    return _load(builder, origin, entry)


def _opposite(builder: _Builder, origin: Any, entry: Any) -> _Vector:
    return _load(builder, origin, entry)


def _mixed(builder: _Builder, origin: Any, entry: Any) -> _Vector:
    bit = builder.sext(builder.trunc(entry, ir.IntType(1)), _WORD)
    return builder.xor(_load(builder, origin, builder.and_(entry, _word(~7))), _splat(builder, bit))


def _entry(builder: _Builder, entries: Any, i: int) -> Any:
    return builder.sext(builder.load(builder.gep(entries, [_word(i)], source_etype=_HALF), typ=_HALF), _WORD)


def _data(context: Any, builder: _Builder, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _load(builder: _Builder, data: Any, place: Any) -> _Vector:
    pointer = builder.bitcast(builder.gep(data, [place], source_etype=_WORD), _LANES.as_pointer())
    return builder.load(pointer, typ=_LANES, align=8)


def _store(builder: _Builder, value: _Vector, data: Any, place: Any) -> None:
    pointer = builder.bitcast(builder.gep(data, [place], source_etype=_WORD), _LANES.as_pointer())
    builder.store(value, pointer, align=8)


def _any(builder: _Builder, rows: _Vector) -> Any:
    union = builder.extract_element(rows, ir.Constant(_HALF, 0))
    for lane in range(1, LANES):
        union = builder.or_(union, builder.extract_element(rows, ir.Constant(_HALF, lane)))
    return builder.icmp_unsigned("!=", union, _word(0))


def _splat(builder: _Builder, word: Any) -> _Vector:
    blank = ir.Constant(_LANES, ir.Undefined)
    single = builder.insert_element(blank, word, ir.Constant(_HALF, 0))
    return builder.shuffle_vector(single, blank, ir.Constant(ir.VectorType(_HALF, LANES), [0] * LANES))


def _word(value: int) -> Any:
    return ir.Constant(_WORD, value)
