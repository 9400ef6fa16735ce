"""Block-permuted search (Manku et al. 2007), as "Probabilistic Near-Duplicate Detection Using Simhash" models it.

PSM is Sood and Loguinov, CIKM 2011; the numbers are those of its equations. Bits are cut into G `blocks`, g of them are
`chosen` for a header, and there is a table for every choice.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

from sosie.planner.models.cuts import widths


class Delays(NamedTuple):
    """What single steps take, in any unit: to permute the blocks of a query, one random access, one comparison."""

    permute: float
    access: float
    compare: float


def tables(blocks: int, chosen: int) -> int:
    """Return the number of tables, T = C(G, g).

    >>> [tables(3 + chosen, chosen) for chosen in (1, 2, 3)]
    [4, 10, 20]
    """
    return math.comb(blocks, chosen)


def least_blocks(radius: int, chosen: int) -> int:
    """Return the number of blocks that is best, G = g + h: with fewer something within h bits may be missed.

    Time and memory grow with G (PSM 7.1, after Equation 12).

    >>> least_blocks(3, 2)
    5
    """
    return radius + chosen


def matched_bits(bits: int, blocks: int, chosen: int, rows: int) -> float:
    """Return how many bits a search for a header fixes, t = min(g b / G, d), where d = log2 n (Equation 8).

    >>> matched_bits(64, 4, 1, 2**26), matched_bits(64, 4, 3, 2**26)
    (16.0, 26.0)
    """
    return min(chosen * bits / blocks, math.log2(rows))


def latency(bits: int, blocks: int, chosen: int, rows: int, delays: Delays) -> float:
    """Return what a query takes by binary search in every table (Equation 9).

    With G = g + h it is Equation 13; where the header is no longer than d, Equation 14, whose header has g b / (g + h)
    bits (printed as gb/(b + h)).

    >>> latency(64, 5, 2, 2**26, Delays(0, 1, 1)) == 10 * (25.6 + 2 ** (26 - 25.6))
    True
    """
    fixed = matched_bits(bits, blocks, chosen, rows)
    scanned = rows / math.exp2(fixed)
    return tables(blocks, chosen) * (delays.permute + fixed * delays.access + scanned * delays.compare)


def latency_of_short_headers(bits: int, blocks: int, chosen: int, rows: int, delays: Delays) -> float:
    """Return what a query takes where the header is no longer than d (Equation 11): it grows with G.

    >>> short = latency_of_short_headers(64, 5, 2, 2**26, Delays(3, 5, 7))
    >>> round(short / latency(64, 5, 2, 2**26, Delays(3, 5, 7)), 12)
    1.0
    """
    falling = math.factorial(blocks - 1) // (math.factorial(blocks - chosen) * math.factorial(chosen - 1))
    scanned = rows / 2 ** (chosen * bits / blocks)
    return falling * bits * delays.access + tables(blocks, chosen) * (delays.permute + scanned * delays.compare)


def latency_of_long_headers(blocks: int, chosen: int, rows: int, delays: Delays) -> float:
    """Return what a query takes where the header is longer than d (Equation 12): it grows with G, too.

    >>> latency_of_long_headers(4, 3, 2**26, Delays(0, 1, 1))
    108.0
    """
    return tables(blocks, chosen) * (delays.permute + math.log2(rows) * delays.access + delays.compare)


def most_chosen(bits: int, radius: int, rows: int) -> float:
    """Return up to which g a longer header pays, d h / (b - d) (Equation 15): beyond it g b / (g + h) exceeds d.

    >>> most_chosen(64, 3, 2**26) == 26 * 3 / 38
    True
    """
    known = math.log2(rows)
    return math.inf if known >= bits else known * radius / (bits - known)


def storage(bits: int, blocks: int, chosen: int, rows: int) -> float:
    """Return the bytes of all tables (Equation 10): a copy of the signatures for each.

    >>> storage(64, 4, 1, 2**20) == 4 * 2**20 * 8
    True
    """
    return tables(blocks, chosen) * rows * bits / 8


def header_widths(bits: int, blocks: int, chosen: int) -> list[int]:
    """Return the bits of each table's header: blocks are equal up to one bit.

    >>> header_widths(64, 5, 2)[:4]
    [25, 25, 25, 25]
    """
    return [sum(header) for header in combinations(widths(bits, blocks), chosen)]


def compared(bits: int, blocks: int, chosen: int, rows: int, address_bits: int | None = None) -> float:
    """Return with how many of random rows a query is compared: those that share its header in each table.

    Where a header is longer than an address, what is shared is the address.

    >>> compared(64, 4, 1, 2**20)
    64.0
    """
    headers = header_widths(bits, blocks, chosen)
    return rows * math.fsum(2.0 ** -min(width, address_bits or width) for width in headers)
