"""The fast half of reading text: documents of ASCII bytes alone, 64 bytes at a time.

A block is lowered and classified as one vector; what remains is a bit mask of word bytes, whose edges are the words'
ends. So the loops run over words, not over bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.intrinsics import emitted, pointer, types
from sosie.kernels.machine.memory import copy16

BLOCK = 64
SPACE = np.uint8(0x20)
NOT_ASCII = -1


@kernel
def ascii_words(
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    lowered: NDArray[np.uint8],
    edges: NDArray[np.int64],
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
) -> int:
    """Write the lowered words of `data[start:stop]`, each followed by a space, to `out`; return how many there are.

    Word i is `out[starts[i] : starts[i + 1] - 1]`. Returns NOT_ASCII, with nothing of use written, if any byte is
    above 0x7F. `lowered` and `out` need room for two blocks more than the document, `edges` and `starts` for two
    entries more than it has bytes.
    """
    found = _edges(data, start, stop, lowered, edges)
    if found < 0:
        return NOT_ASCII
    position = 0
    for word in range(found >> 1):
        first = edges[2 * word]
        length = edges[2 * word + 1] - first
        starts[word] = position
        copy16(lowered, first, out, position)
        copied = 16
        while copied < length:
            copy16(lowered, first + copied, out, position + copied)
            copied += 16
        position += length + 1
        out[position - 1] = SPACE
    starts[found >> 1] = position
    return found >> 1


@kernel
def _edges(data: NDArray[np.uint8], start: int, stop: int, lowered: NDArray[np.uint8], edges: NDArray[np.int64]) -> int:
    """Lower the document and list where its words begin and end, in turn."""
    count = 0
    inside = np.uint64(0)
    for position in range(start, stop, BLOCK):
        at = position - start
        if position + BLOCK <= data.size:
            word, high = _lower_block(data, position, lowered, at)
        else:
            for byte in range(position, stop):
                lowered[byte - start] = data[byte]
            word, high = _lower_block(lowered, at, lowered, at)
        if stop - position < BLOCK:
            mask = (np.uint64(1) << np.uint64(stop - position)) - np.uint64(1)
            word &= mask
            high &= mask
        if high:
            return NOT_ASCII
        edge = word ^ ((word << np.uint64(1)) | inside)
        inside = word >> np.uint64(BLOCK - 1)
        while edge:
            edges[count] = at + np.int64(trailing_zeros(edge))
            count += 1
            edge &= edge - np.uint64(1)
    if inside:
        edges[count] = stop - start
        count += 1
    return count


@emitted
def _lower_block(typing_context: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    """Copy 64 bytes, lowered; return the bit masks of the word bytes and of the bytes above 0x7F."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)

        def all_(value: str) -> Any:
            return ir.Constant(vector, [ord(value)] * BLOCK)

        def between(x: Any, low: str, high: str) -> Any:
            size = ir.Constant(vector, [ord(high) - ord(low) + 1] * BLOCK)
            return builder.icmp_unsigned("<", builder.sub(x, all_(low)), size)

        block = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector), align=1)
        low = builder.select(between(block, "A", "Z"), builder.or_(block, all_(" ")), block)
        digit = builder.or_(between(block, "0", "9"), builder.icmp_unsigned("==", block, all_("_")))
        word = builder.or_(between(low, "a", "z"), digit)
        high = builder.icmp_signed("<", block, all_("\0"))
        builder.store(low, pointer(context, builder, signature.args[2], args[2], args[3], vector), align=1)
        masks = [builder.bitcast(mask, ir.IntType(BLOCK)) for mask in (word, high)]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 2)(source, types.intp, target, types.intp), codegen
