"""Majorities along a chain of bit planes: the first additions of every query, done once for all of them.

To count in how many planes rows differ from a query, a full adder takes the parity so far and two more planes, gives
the new parity, and carries their majority: over `2 * m + 1` planes, the count is twice the number of carries, plus the
last parity. A query complements planes, so of an adder's three inputs some are complemented: that is one of four
majorities, or the complement of one. `majorities[block, adder]` holds all four, and a query adds only the carries that
are its own: half as many additions as there are planes. The *carries* of a row are half of its count, rounded down.

The *chain* is the order of the planes: as if drawn by lot, so that any first part of them is a sample of all bits.
"""

from __future__ import annotations

import numpy as np

from sosie.arrays import I32, I64, U64, aligned_zeros
from sosie.kernels.machine.compile import kernel
from sosie.kernels.planes.count import LANES, UNIT
from sosie.kernels.planes.layout import Asked
from sosie.kernels.sign.mix import splitmix64

CHAIN_CHUNK = 256  # adders counted before the next query takes its turn: 64 KiB
_SEED = 0x5051E


def adder_count(bits: int) -> int:
    """Return how many adders are kept for a width: half of the bits are in the chain, in whole units of adders.

    >>> adder_count(1024), adder_count(130), adder_count(100)
    (256, 32, 0)
    """
    return bits // (4 * UNIT) * UNIT


def chain_of(bits: int) -> I64:
    """Return the planes of the chain, in order.

    >>> chain_of(128)[:3].tolist(), len(chain_of(128)), len(chain_of(64))
    ([89, 77, 100], 65, 0)
    """
    adders = adder_count(bits)
    lots = np.empty(bits, np.uint64)
    _draw(_SEED, lots)
    return np.argsort(lots, kind="stable")[: 2 * adders + 1 if adders else 0]


@kernel
def _draw(seed: int, lots: U64) -> None:
    for i in range(lots.size):
        lots[i] = splitmix64(np.uint64(seed + i))


@kernel
def set_majorities(planes: U64, chain: I64, span: tuple[int, int], majorities: U64) -> None:
    """Work out the majorities of the blocks in `span`."""
    for block in range(span[0], span[1]):
        parity = planes[block, chain[0]].copy()
        for adder in range(majorities.shape[1]):
            left, right = planes[block, chain[2 * adder + 1]], planes[block, chain[2 * adder + 2]]
            out = majorities[block, adder]
            for lane in range(8):
                p, x, y = parity[lane], left[lane], right[lane]
                differ = p ^ x
                out[0, lane] = (p & x) | (differ & y)
                out[1, lane] = (p & ~x) | (~differ & y)
                out[2, lane] = (p & x) | (differ & ~y)
                out[3, lane] = (p & ~x) | (~differ & ~y)
                parity[lane] = differ ^ y


def ask_majorities(queries: U64, chain: I64, adders: I64, chunk: int) -> Asked:
    """Sort the carries of each query, chunk by chunk, as `add_planes` wants them; `adders[query]` are multiples of 32.

    A majority lies at `majorities[block].reshape(-1)[32 * adder + 8 * kind:][:8]`.
    """
    most = int(adders.max(initial=0))
    order = np.empty((len(queries), most), np.int32)
    units = np.zeros((len(queries), max(1, -(-most // chunk)), 3), np.int64)
    _order_majorities(queries, chain, adders, chunk, order, units)
    return Asked(order, units, aligned_zeros((len(queries), LANES * most.bit_length())))


@kernel
def _order_majorities(queries: U64, chain: I64, adders: I64, chunk: int, order: I32, units: I64) -> None:
    place = np.empty(order.shape[1], np.int32)
    turned = np.empty(order.shape[1], np.int32)
    for query in range(queries.shape[0]):
        parity = _bit(queries[query], chain[0])
        for adder in range(adders[query]):
            x, y = _bit(queries[query], chain[2 * adder + 1]), _bit(queries[query], chain[2 * adder + 2])
            place[adder] = 32 * adder + 8 * ((x ^ parity) | (y ^ parity) << 1)
            turned[adder] = parity
            parity ^= x ^ y
        for start in range(0, adders[query], chunk):
            stop = min(start + chunk, adders[query])
            ones = np.sum(turned[start:stop])
            same, opposite = (stop - start - ones) // 32, ones // 32
            kinds = units[query, start // chunk]
            kinds[0], kinds[1], kinds[2] = same, opposite, (stop - start) // 32 - same - opposite
            next_same, next_opposite, next_mixed = start, start + 32 * same, start + 32 * (same + opposite)
            end_same, end_opposite = next_opposite, next_mixed
            for adder in range(start, stop):
                if turned[adder] == 0 and next_same < end_same:
                    order[query, next_same] = place[adder]
                    next_same += 1
                elif turned[adder] == 1 and next_opposite < end_opposite:
                    order[query, next_opposite] = place[adder]
                    next_opposite += 1
                else:
                    order[query, next_mixed] = place[adder] + turned[adder]
                    next_mixed += 1


@kernel
def _bit(words: U64, place: int) -> int:
    return np.int64((words[place // 64] >> np.uint64(place % 64)) & np.uint64(1))
