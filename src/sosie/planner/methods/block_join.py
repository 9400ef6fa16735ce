"""The block join: exact within a small radius, by sorting rows into tables of headers (Manku et al. 2007; PSM 7.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sosie.planner.constants.joins import (
    FOUND_PAIR_BYTES,
    HASHED_ROW_BYTES,
    MOST_TABLES,
    WORD_GROUP,
    WORD_ROW_BYTES,
)
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.found_pairs import expected_pairs, pairs_bytes
from sosie.planner.held import held_rows
from sosie.planner.machine import Machine
from sosie.planner.wish import Wish


class Cut(NamedTuple):
    """Into how many blocks bits are cut, and how many of them make a header."""

    blocks: int
    header: int

    @property
    def tables(self) -> int:
        """How many headers there are."""
        return math.comb(self.blocks, self.header)


def settings(wish: Wish, facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield the one way in which block tables are joined: the join cuts bits itself, by `cheapest_cut`."""
    if wish.bits is not None and wish.radius is not None and wish.radius < wish.bits:
        yield {}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what block tables take: each row in each table, comparisons inside groups, and the pairs that are found.

    >>> from sosie.planner.wish import Wish
    >>> found = estimate(Wish(task="join", rows=10**6, bits=64, radius=3), Facts(), Machine(), {}).estimate
    >>> found.recall, found.work["tables"], found.seconds < 1
    (1.0, 4, True)
    """
    assert wish.bits is not None and wish.radius is not None
    bits, every = wish.bits, wish.rows + wish.others
    distinct = round(every * (1 - facts.copies))
    cut = cheapest_cut(distinct, bits, wish.radius, alike=lambda cut: chance_alike(distinct, bits, cut, facts))
    alike = chance_alike(distinct, bits, cut, facts)
    sides = (wish.rows * wish.others if wish.others else wish.rows * (wish.rows - 1) / 2) * (1 - facts.copies) ** 2
    comparisons, pairs = cut.tables * sides * alike, expected_pairs(wish, facts)
    pieces = pieces_of(every, bits, wish.memory, wish.threads)
    kind = kind_of(bits)
    in_tables = cut.tables * (
        machine.ns("block table")
        + distinct * machine.ns(f"{kind} row", bits)
        + (pieces - 1) * every * machine.ns(f"{kind} scan", bits)
    )
    worked = in_tables + comparisons * machine.ns(f"{kind} pair", bits) + pairs * machine.ns("block found")
    if facts.copies:
        worked += every * machine.ns("equal row") + pairs * facts.copies * machine.ns("equal pair")
    held, of_pairs = table_bytes(distinct, bits, wish.memory, wish.threads), pairs_bytes(pairs, wish.memory)
    ordered = pairs_bytes(pairs, wish.memory, FOUND_PAIR_BYTES).heap  # when the tables have gone
    heap = max(held + of_pairs.heap, ordered)
    found = Estimate(
        recall=1.0,
        seconds=worked / machine.speedup(min(wish.threads, cut.tables * pieces)) / 1e9,
        bytes=Bytes(heap=heap, mapped=every * bits // 8, disk=of_pairs.disk),
        work={"tables": cut.tables, "comparisons": comparisons},
    )
    return Candidate(method="blocks join", parameters=dict(parameters), estimate=found)


def cheapest_cut(
    rows: int, bits: int, radius: int, alike: Callable[[Cut], float], machine: Machine | None = None
) -> Cut:
    """Return the cut that costs least for so many rows; `alike` tells the chance that two rows have the same header.

    What it finds is the same by any cut. Where no machine is given, it does not depend on one either.

    >>> cheapest_cut(1_000_000, 64, 3, lambda cut: 2.0 ** -(64 * cut.header // cut.blocks))
    Cut(blocks=4, header=1)
    >>> cheapest_cut(100_000_000, 64, 3, lambda cut: 2.0 ** -(64 * cut.header // cut.blocks))
    Cut(blocks=5, header=2)
    """
    of, kind = machine or Machine(), kind_of(bits)
    row, pair = of.ns(f"{kind} row", bits), of.ns(f"{kind} pair", bits)
    best, best_cost = Cut(radius + 1, 1), math.inf
    for header in range(1, bits - radius + 1):
        cut = Cut(radius + header, header)
        if cut.tables > MOST_TABLES and header > 1:
            break
        cost = cut.tables * (row + pair * rows * alike(cut) / 2)
        if cost >= best_cost:
            break
        best, best_cost = cut, cost
    return best


def chance_alike(rows: int, bits: int, cut: Cut, facts: Facts) -> float:
    """Return the chance that two rows are compared in a table: that those bits agree by which groups are told.

    >>> chance_alike(1000, 64, Cut(4, 1), Facts()) == 2.0 ** -7  # as many bits as tell a thousand rows apart
    True
    """
    header = min(bits * cut.header / cut.blocks, told_bits(rows, bits))
    return float(min(facts.factor(header) * 2.0**-header, 1.0))


def told_bits(rows: int, bits: int) -> int:
    """Return how many bits of a header tell groups of so many rows: more would tell nothing apart."""
    return max(rows.bit_length() - WORD_GROUP, 1) if bits <= 64 else rows.bit_length() + 2


def kind_of(bits: int) -> str:
    """Return the kind of table that signatures are joined by: of words themselves, or of hashes of several words."""
    return "word" if bits <= 64 else "hashed"


def row_bytes(bits: int) -> int:
    """Return what a row takes in a table while it is joined.

    >>> row_bytes(64), row_bytes(256)
    (12, 96)
    """
    return WORD_ROW_BYTES if bits <= 64 else HASHED_ROW_BYTES + 8 * -(-bits // 64)


def pieces_of(rows: int, bits: int, limit: int | None, threads: int) -> int:
    """Return in how many pieces a table is built, so that it fits.

    >>> pieces_of(100_000_000, 64, 1_600_000_000, threads=2)
    4
    """
    most = held_rows(limit, row_bytes(bits), threads)
    return 1 if most is None else -(-rows // most)


def table_bytes(rows: int, bits: int, limit: int | None, threads: int) -> int:
    """Return what the tables take that threads are at work on."""
    most = held_rows(limit, row_bytes(bits), threads)
    return threads * row_bytes(bits) * (rows if most is None else min(rows, most))
