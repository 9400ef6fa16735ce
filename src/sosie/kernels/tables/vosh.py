"""Which bits of a header to flip, the likeliest first: what flips cost, and the ordered set heap (PSM 5.2, 6.1).

The first few sets need no heap: they are chosen from those that can be among them.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sosie.arrays import F32, I32, I64, U32, U64, read_only
from sosie.kernels.machine.bits import trailing_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.lanes import NUMBERS, count_below

WIDEST = 30  # bits of a header: a set of bits and its cost share 64 bits
NEVER = -1  # the place of a set of bits that was not reached
COSTLIEST = (1 << 20) - 1  # of a bit; the least is 1
FEW = 64  # sets; beyond that a heap is quicker

_SET = np.uint64(0xFFFFFFFF)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def write_flips(costs: I32, most: int, flips: U32) -> None:
    """Write for each query the sets of bits to flip, in order: first none, then as many as there is room for.

    Flipping a set costs the sum of `costs[query]` over its bits; each is 1 to COSTLIEST, at most `most` are flipped.
    The cheapest set comes first; of equally cheap ones that which is lexicographically first when bits are listed from
    cheap to costly. There must be as many sets as there is room for.
    """
    cost, place = np.empty(costs.shape[1], np.uint64), np.empty(costs.shape[1], np.uint32)
    heap, keys = np.empty(flips.shape[1] + most + 1, np.uint64), np.empty(costs.shape[1], np.int32)
    for query in range(costs.shape[0]):
        _rank(costs[query], keys, cost, place)
        size = _roots(cost, most, heap)
        flips[query, 0] = 0
        for i in range(1, flips.shape[1]):
            flips[query, i] = _bits(heap[0], place)
            size = _advance(heap, size, cost)


@kernel
def flip_places(costs: I32, most: int, offsets: I64, wanted: U32, limit: int) -> I64:
    """Return the place in the order of each query's sets at which each of its wanted ones comes, NEVER if beyond limit.

    The wanted sets of a query lie from `offsets[query]` to `offsets[query + 1]`; there are at least `limit` sets.
    """
    cost, place = np.empty(costs.shape[1], np.uint64), np.empty(costs.shape[1], np.uint32)
    heap, keys = np.empty(limit + most + 2, np.uint64), np.empty(costs.shape[1], np.int32)
    places = np.full(wanted.size, NEVER)
    for query in range(costs.shape[0]):
        _rank(costs[query], keys, cost, place)
        size = _roots(cost, most, heap)
        flipped, missing = np.uint32(0), offsets[query + 1] - offsets[query]
        for i in range(limit + 1):
            if missing == 0:
                break
            for j in range(offsets[query], offsets[query + 1]):
                if wanted[j] == flipped:
                    places[j] = i
                    missing -= 1
            if i < limit:
                flipped = _bits(heap[0], place)
                size = _advance(heap, size, cost)
    return places


@kernel
def _rank(costs: I32, keys: I32, cost: U64, place: U32) -> None:
    """Write the bits from costly to cheap: what each costs, and where it is. Counting is quick: it has no branches."""
    bits = costs.size
    for i in range(bits):
        keys[i] = (costs[i] << 5) | i
    for i in range(bits):
        cheaper = 0
        for j in range(bits):
            cheaper += keys[j] < keys[i]
        cost[bits - 1 - cheaper] = costs[i]
        place[bits - 1 - cheaper] = np.uint32(1) << np.uint32(i)


@kernel
def _roots(cost: U64, most: int, heap: U64) -> int:
    """Write the cheapest set of each size; they are in order, so they are a heap.

    A key is the cost of a set, then the complement of its bits, the cheapest bit on top: it grows from parent to child.
    """
    bits = cost.size
    total, chosen = np.uint64(0), np.uint64(0)
    for i in range(most):
        total += cost[bits - 1 - i]
        chosen |= np.uint64(1) << np.uint64(bits - 1 - i)
        heap[i] = (total << np.uint64(32)) | (chosen ^ _SET)
    return most


@kernel
def _advance(heap: U64, size: int, cost: U64) -> int:
    """Put the children of the first set in its place (PSM Algorithm 2, corrected) and return the size of the heap.

    The left child moves the costliest bit on by one. The right child closes the first gap below the costliest bits,
    which follow each other, if it is a gap of one: so every set has one parent.
    """
    total, chosen = heap[0] >> np.uint64(32), heap[0] & _SET ^ _SET
    last = chosen & (~chosen + np.uint64(1))
    if last > np.uint64(1):
        at = trailing_zeros(last)
        more = cost[np.int64(at) - 1] - cost[np.int64(at)]
        heap[0] = (total + more << np.uint64(32)) | (chosen ^ last ^ (last >> np.uint64(1)) ^ _SET)
    else:
        size -= 1
        heap[0] = heap[size]
    _sift_down(heap, size)
    carried = chosen + last
    others, free = chosen & carried, carried & ~chosen
    moved = others & (~others + np.uint64(1))
    if moved != np.uint64(0) and moved == free << np.uint64(1):
        at = trailing_zeros(moved)
        more = cost[np.int64(at) - 1] - cost[np.int64(at)]
        _sift_up(heap, size, (total + more << np.uint64(32)) | (chosen ^ moved ^ free ^ _SET))
        size += 1
    return size


@kernel
def _sift_down(heap: U64, size: int) -> None:
    heap[size] = _NONE
    key, at = heap[0], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        child += np.int64(heap[child + 1] < heap[child])  # beyond the last there is a key that none exceeds
        if key <= heap[child]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key


@kernel
def _sift_up(heap: U64, at: int, key: int) -> None:
    while at > 0 and key < heap[(at - 1) >> 1]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key


@kernel
def _bits(key: int, place: U32) -> int:
    """Return the bits of a set as they are in a header."""
    chosen, bits = key & _SET ^ _SET, np.uint32(0)
    while chosen != np.uint64(0):
        bits |= place[np.int64(trailing_zeros(chosen))]
        chosen &= chosen - np.uint64(1)
    return bits


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
    return np.full(-(-count // NUMBERS) * NUMBERS, np.int32(0x7FFFFFFF))


@kernel
def costs_by_size(sums: F32, places: I64) -> I32:
    """Return costs in proportion to |W|, for the bits at some places; the largest of each query costs most."""
    costs = np.empty((sums.shape[0], places.size), np.int32)
    for query in range(sums.shape[0]):
        largest = np.float32(1e-30)
        for place in places:
            largest = max(largest, abs(sums[query, place]))
        scale = np.float32(COSTLIEST - 1) / largest
        for i in range(places.size):
            costs[query, i] = 1 + np.int32(abs(sums[query, places[i]]) * scale)
    return costs


@kernel
def costs_by_table(sums: F32, places: I64, step: float, table: I32) -> I32:
    """Return `table[|W| / step]`, or its last number, for the bits at some places."""
    costs = np.empty((sums.shape[0], places.size), np.int32)
    for query in range(sums.shape[0]):
        for i in range(places.size):
            costs[query, i] = table[np.int64(min(abs(sums[query, places[i]]) / step, table.size - 1))]
    return costs
