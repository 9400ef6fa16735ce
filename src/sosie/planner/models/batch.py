"""What a batch takes that is matched with a store on disk, by block tables and by probes (PSM 7.2 and 7.4).

The models of Sood and Loguinov (Probabilistic near-duplicate detection using simhash, CIKM 2011). Units are those of
the caller: where latencies are seconds, so are the results. What Sosie's own store takes is in `planner/methods`.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Latency(NamedTuple):
    """What single steps take: delta_P permutes the blocks of a signature, delta_R is a random access to memory, delta_L
    compares two signatures of a run, delta_V takes a set of flips from the heap, delta_S moves a signature in a sort.
    """

    permute: float = 0.0
    access: float = 0.0
    compare: float = 0.0
    flip: float = 0.0
    sort: float = 0.0


def read_seconds(rows: int, bits: int, speed: float) -> float:
    """Return how long a store is read at a speed in bytes per second: n b / (8 D) (PSM Equation 16).

    >>> read_seconds(60_000_000, 64, speed=1e9)
    0.48
    """
    return rows * bits / (8 * speed)


def blocks_latency(rows: int, bits: int, cut: tuple[int, int], of: Latency) -> float:
    """Return what a look-up in block tables of so many rows takes (PSM Equation 14).

    The cut is (g, h): headers of g of g + h blocks. C(g + h, g) times the permutation, the t bits of a binary search,
    at most log2 n, and the comparison of the 2^(d - t) rows that have its header.

    >>> blocks_latency(2**20, 64, (1, 3), Latency(permute=1, access=10, compare=2))
    772.0
    """
    chosen, radius = cut
    depth = math.log2(max(rows, 1))
    header = min(chosen * bits / (chosen + radius), depth)
    return math.comb(chosen + radius, chosen) * (of.permute + header * of.access + 2 ** (depth - header) * of.compare)


def blocks_batch(rows: int, batch: int, bits: int, cut: tuple[int, int], of: Latency) -> float:
    """Return what a batch takes that is in block tables, past which a store streams (PSM Equation 17).

    T m (delta_P + log2 m): the batch is permuted and sorted once for each table. n tau(log m): each row is looked up.
    The paper counts a step of a sort as one unit; here it is `of.sort`.

    >>> blocks_batch(10**6, 1024, 64, (1, 3), Latency(permute=1, sort=1)) == 4 * 1024 * (1 + 10) + 10**6 * 4
    True
    """
    tables = math.comb(sum(cut), cut[0])
    made = tables * batch * (of.permute + of.sort * math.log2(max(batch, 1)))
    return made + rows * blocks_latency(batch, bits, cut, of)


def probes_latency(rows: int, header: int, probes: int, of: Latency) -> float:
    """Return what looking up so many probes of one signature takes, its flips being known (PSM Equation 19).

    Each is an access by the header of t bits and the comparison of the 2^(d - t) rows there, at least of one.

    >>> probes_latency(2**20, 18, 16, Latency(access=10, compare=2))
    288.0
    """
    return probes * (of.access + 2 ** max(math.log2(max(rows, 1)) - header, 0) * of.compare)


def probes_batch(rows: int, batch: int, header: int, probes: int, of: Latency) -> float:
    """Return what a batch takes that is matched by probes with a store, chunk by chunk of its own size (PSM 7.4).

    Equation 23, with the factor k that it lacks: each of the batch takes k sets of flips from a heap, which is
    k delta_V log2 k (as in Equation 19). Then all are looked up in each of n / m chunks, and the batch is sorted.

    >>> probes_batch(2**20, 2**20, 20, 16, Latency(flip=1)) == 2**20 * 16 * 4
    True
    """
    made = batch * probes * of.flip * math.log2(max(probes, 1))
    looked_up = rows * probes_latency(batch, header, probes, of)
    return made + looked_up + batch * of.sort * math.log2(max(batch, 1))


def throughput(batch: int, read: float, worked: float) -> float:
    """Return how many signatures are done in a second, reading and work being side by side (PSM Equation 18).

    >>> throughput(10**6, read=0.5, worked=10)
    100000.0
    """
    return batch / max(read, worked)
