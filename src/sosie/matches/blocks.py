"""The block join: all pairs within a small radius, exactly, without comparing all pairs.

Two signatures that differ in h bits, cut into h + g blocks, agree in at least g of them (pigeonhole; Manku et al.
2007). So there is one table for every choice of g blocks, its *header*; rows with equal headers are compared, and a
pair is written only by the first table whose header it shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sosie.arrays import read_only
from sosie.index.block_run import BlockCut
from sosie.kernels.tables.hamming_join import hash_headers
from sosie.matches.block_tables import BlockTables
from sosie.matches.check import check_join, check_pairs
from sosie.matches.collected import PairRuns
from sosie.matches.equal.copies import Copies
from sosie.matches.equal.written import Written
from sosie.matches.scan import Scan
from sosie.parallel import thread_count
from sosie.planner.methods.block_join import Cut, cheapest_cut
from sosie.storage.resident import return_freed
from sosie.storage.room import Room
from sosie.types import U64, Pairs, Signatures

_SAMPLE = 2048  # rows from which the size of groups is estimated


def join_blocks(
    a: Signatures,
    b: Signatures | None = None,
    radius: int = 3,
    threads: int | None = None,
    *,
    max_pairs: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return all pairs of rows at most `radius` apart: inside a collection, or between two.

    Equal rows are compared once. More than `max_pairs` pairs are refused. Without a limit, groups of more than 64 equal
    rows are not written with all their pairs: each row is paired with the first of the group, and with the first of any
    near group; the counters `bounded_groups` and `bounded_pairs` say how many groups and pairs that left out.

    Tables and pairs keep to the `room`, and the result is the same in any. Without one, all of it is in memory.

    >>> rows = Signatures(np.array([0b1111, 0b1110, 0b0000], np.uint64))
    >>> pairs = join_blocks(rows, radius=2)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([0], [1])
    """
    check_join(a, b, radius, a.bits - 1)
    workers = thread_count(threads)
    join = _Join(radius, a.bits, workers, max_pairs, room)
    if b is None:  # most collections hold no equal rows; where they do, two are met soon
        pairs = join.distinct(Scan.of(a))
        if pairs is not None:
            return pairs
        copies = Copies.found(a.words, workers, room)
        return join.collapsed(Scan.of(a), copies, copies)
    return join.collapsed(Scan.of(a, b), *(Copies.found(side.words, workers, room) for side in (a, b)))


@dataclass(frozen=True, eq=False)
class _Join:
    radius: int
    bits: int
    threads: int
    max_pairs: int | None
    room: Room | None

    def distinct(self, scan: Scan) -> Pairs | None:
        """Join the rows of one collection; None if two of them turn out to be equal."""
        with PairRuns(self.room, self.max_pairs) as runs:
            counters = self._find(scan, len(scan), runs)
            if counters is None:
                return None
            return runs.pairs({**counters, "bounded_groups": 0, "bounded_pairs": 0}, recall=1.0)

    def collapsed(self, scan: Scan, left: Copies, right: Copies) -> Pairs:
        """Join the rows that equal no earlier one, and write out what they stand for."""
        left_out, count = np.zeros(-(-len(scan) // 64), np.uint64), len(scan)
        for copies, first in ((left, 0), (right, scan.split))[: len(scan.sides)]:
            copies.mark(left_out, first)
            count -= len(copies)
        with PairRuns(self.room, self.max_pairs) as runs:
            counters = self._find(replace(scan, left_out=read_only(left_out)), count, runs)
            assert counters is not None, "the rows are distinct"
            pairs = Written(left, right, self.max_pairs, self.room).pairs(runs)
        return replace(pairs, counters={**counters, **pairs.counters})

    def _find(self, scan: Scan, count: int, runs: PairRuns) -> dict[str, int] | None:
        """Collect the pairs of the `count` rows that are not left out; return what it took, None if two are equal."""
        if count < 2 or not all(map(len, scan.sides)):
            return {}
        cut = choose_cut(scan, count, self.bits, self.radius)
        comparisons = BlockTables(scan, cut, self.radius, self.threads, self.room).join(runs.add_packed)
        if self.room is not None and self.room.limit is not None:
            return_freed()
        if comparisons is None:
            return None
        if self.max_pairs is not None:
            check_pairs(runs.added, self.max_pairs)
        return {"tables": len(cut.headers), "comparisons": comparisons}


def choose_cut(scan: Scan, count: int, bits: int, radius: int) -> BlockCut:
    """Return the cut that costs least for `count` rows, by how often rows of a sample have the same headers."""
    rows = np.sort(np.random.default_rng(0).choice(len(scan), min(len(scan), _SAMPLE), replace=False))
    sample = read_only(scan.take(rows[scan.stay(rows)]))

    def alike(cut: Cut) -> float:
        made = BlockCut.of(bits, cut.blocks, cut.header)
        return float(np.mean([_chance_alike(sample, made, table) for table in _some(len(made.headers))]))

    return BlockCut.of(bits, *cheapest_cut(count, bits, radius, alike))


def _some(tables: int) -> range:
    return range(0, tables, -(-tables // 8))


def _chance_alike(sample: U64, cut: BlockCut, table: int) -> float:
    """Estimate how often two rows have the same header: as by chance, or as the sample shows."""
    _, sizes = np.unique(hash_headers(sample, cut.masks[table]), return_counts=True)
    observed = float(np.sum(sizes * (sizes - 1))) / max(1, len(sample) * (len(sample) - 1))
    return max(observed, 2.0 ** -cut.header_bits(table))
