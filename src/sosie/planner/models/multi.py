"""Multi-index hashing (Norouzi, Punjani and Fleet 2012): substrings, look-ups and candidates of an exact search."""

from __future__ import annotations

import math

from sosie.planner.models.cuts import widths


def substrings(bits: int, rows: int) -> int:
    """Return into how many substrings the authors cut: of log2 n bits each, one row for each value.

    >>> substrings(64, 2**22), substrings(128, 10**9)
    (3, 4)
    """
    return max(1, round(bits / math.log2(max(rows, 2))))


def step(bits: int, tables: int, number: int) -> tuple[int, int]:
    """Return which table a step looks into, and how many values: those that differ in `number // tables` bits.

    Before step s every row nearer than s was seen: for a radius r = m r' + a, the first a + 1 of m tables are searched
    within r' bits, the others within r' - 1 (section 3.2 of the paper).

    >>> [step(64, 4, number) for number in (0, 1, 4, 8)]
    [(0, 1), (1, 1), (0, 16), (0, 120)]
    """
    flips, table = divmod(number, tables)
    return table, math.comb(widths(bits, tables)[table], flips)


def lookups(bits: int, tables: int, radius: int) -> int:
    """Return how many values are looked up so that every row within a radius is seen.

    >>> lookups(64, 4, 3), lookups(64, 4, 7), lookups(64, 4, 8)
    (4, 68, 188)
    """
    return sum(step(bits, tables, number)[1] for number in range(radius + 1))


def candidates(rows: int, bits: int, tables: int, radius: int) -> float:
    """Return how many entries of lists are read on the way, if rows are random: some rows several times.

    >>> candidates(2**20, 64, 4, 3), candidates(2**20, 64, 4, 7)
    (64.0, 1088.0)
    """
    of = widths(bits, tables)
    found = (step(bits, tables, number) for number in range(radius + 1))
    return math.fsum(rows * values / 2 ** of[table] for table, values in found)


def chance_at_step(bits: int, tables: int, distance: int, number: int) -> float:
    """Return the chance that a row so far away was seen after a step, if the bits that differ are anywhere.

    It is 1 from the step of the distance on: the pigeonhole principle.

    >>> chance_at_step(64, 4, 8, 8), 0.9 < chance_at_step(64, 4, 8, 7) < 1
    (1.0, True)
    """
    ways, of = [1], widths(bits, tables)
    for table, width in enumerate(of):
        seen_within = (number - table) // tables  # bits, up to which this table was looked into
        unseen = [math.comb(width, flips) if flips > seen_within else 0 for flips in range(width + 1)]
        ways = _product(ways, unseen, distance)
    missed = ways[distance] if distance < len(ways) else 0
    return 1 - missed / math.comb(bits, distance)


def _product(a: list[int], b: list[int], most: int) -> list[int]:
    """Return the product of two polynomials, without what is beyond a degree."""
    made = [0] * (min(len(a) + len(b) - 2, most) + 1)
    for i, left in enumerate(a):
        if left:
            for j, right in enumerate(b[: len(made) - i]):
                made[i + j] += left * right
    return made
