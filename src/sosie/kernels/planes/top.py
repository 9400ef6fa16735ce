"""The k nearest rows of each query, over bit planes.

The best rows so far are a heap of `distance << 48 | row`, the worst on top. Rows come in ascending order, so a row must
be strictly nearer than the worst to enter, and ties stay with the lower row.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.bits import popcount
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import add_planes, mark_below
from sosie.kernels.planes.layout import Asked

UNFILLED = np.iinfo(np.int64).max


@kernel
def plane_top(planes: U64, live: U64, first: int, last: int, asked: Asked, best: I64) -> None:
    """Improve `best[query, k]` by the rows of the blocks from `first` to `last`.

    `live[block, lane]` marks the rows that exist; `asked` comes from `ask_planes`.
    """
    order, units, slices = asked.order, asked.units, asked.slices
    queries, chunks, height = units.shape[0], units.shape[1], slices.shape[1] // 8
    flat, marks = planes.reshape(planes.size), live.reshape(live.size)
    stride = planes.shape[1] * 8
    counting = np.ones(queries, np.bool_)
    found = np.empty(8, np.uint64)
    tile = max(1, 512 // planes.shape[1])
    for start in range(first, last, tile):
        for chunk in range(chunks):
            ahead = min(4096 * (chunk + 1), max(stride, 4096))  # words to the next chunk: one query asks for it
            for query in range(queries):
                if chunk > 0 and not counting[query]:
                    continue
                counts = slices[query]
                for block in range(start, min(start + tile, last)):
                    if chunk == 0:
                        counts[:] = np.uint64(0)
                    planes_here, units_here = order[query, 512 * chunk :], units[query, chunk]
                    asked_ahead = ahead if query == 0 else 0
                    add_planes(flat, block * stride, planes_here, units_here, counts, height, asked_ahead)
                    bound = min(best[query, 0] >> 48, (1 << height) - 1)
                    counting[query] = mark_below(counts, height, bound, marks, 8 * block, found)
                    if counting[query] and chunk == chunks - 1:
                        _take(counts, height, found, 512 * block, best[query])


@kernel
def _take(counts: U64, height: int, found: U64, start: int, heap: I64) -> None:
    """Put the rows marked in `found` into one query's heap, where they are better than its worst."""
    for lane in range(8):
        marked = found[lane]
        while marked != np.uint64(0):
            lowest = marked & (~marked + np.uint64(1))
            marked ^= lowest
            distance = 0
            for level in range(height):
                if counts[8 * level + lane] & lowest:
                    distance |= 1 << level
            if distance < heap[0] >> 48:
                row = start + 64 * lane + np.int64(popcount(lowest - np.uint64(1)))
                replace_worst(heap, distance << 48 | row)


@kernel
def replace_worst(heap: I64, value: int) -> None:
    """Replace the top of a max-heap and let the new value sink to its place."""
    place = 0
    while 2 * place + 1 < heap.size:
        child = 2 * place + 1
        if child + 1 < heap.size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value
