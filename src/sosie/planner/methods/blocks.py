"""What a block index costs: its shape, what its tables take, and how long look-ups are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sosie.planner.asked import Asked
from sosie.planner.constants.search import LOOKUP, MOST_TABLES, SHORT_RUN
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods import flat
from sosie.planner.models.blocks import header_widths
from sosie.planner.models.distances import at_most
from sosie.planner.wish import Wish

LANES = 8  # words that are read at a time, and so may be read beyond the last
_NEAR = 12  # bits; what is farther is not looked for in tables unless a radius asks for it
_FARTHER = 0.95  # of the queries have their k-th nearest row no farther than the tables' radius


def choose_header(bits: int, radius: int, rows: int) -> int:
    """Return the number of blocks in a header that costs least: tables * (64 + rows / 2^p), p the bits of a header.

    >>> [choose_header(64, 3, 1 << log) for log in (20, 22, 23, 30, 33)]
    [1, 1, 2, 2, 3]
    """

    def cost(header: int) -> float:
        blocks = radius + header
        return math.comb(blocks, header) * (LOOKUP + rows * math.exp2(-bits * header / blocks))

    few = [header for header in range(2, bits - radius + 1) if math.comb(radius + header, header) <= MOST_TABLES]
    return min([1, *few], key=cost)


def shape(bits: int, radius: int, rows: int) -> tuple[int, int]:
    """Return into how many blocks the bits are cut, and how many of them are in a header.

    >>> shape(64, 3, 10**6), shape(64, 3, 10**7), shape(64, 3, 10)
    ((4, 1), (5, 2), (1, 0))
    """
    if rows < SHORT_RUN:
        return 1, 0
    header = choose_header(bits, radius, rows)
    return radius + header, header


def address_bits(rows: int) -> int:
    """Return the bits of an address: one or two rows share an address by chance.

    >>> address_bits(1000), address_bits(1024)
    (9, 10)
    """
    return max(1, rows.bit_length() - 1)


def run_bytes(rows: int, tables: int) -> int:
    """Return how much memory tables of so many rows take at most."""
    return tables * (12 * rows + 4 * (1 << address_bits(rows)))


def table_bytes(rows: int, addresses: int) -> int:
    """Return what a table of so many rows and bits of an address takes, to the byte."""
    return 8 * (rows + LANES) + 4 * rows + 4 * ((1 << addresses) + 1)


def word_bytes(rows: int, bits: int) -> int:
    """Return what the words of rows take."""
    return 8 * rows * -(-bits // 64)


def least_room(rows: int, bits: int, tables: int) -> int:
    """Return what no machine must lack so that the rows can be held."""
    return run_bytes(rows, tables) + 2 * word_bytes(rows, bits)


def held(rows: int, bits: int, blocks: int, header: int) -> Bytes:
    """Return what an index holds when it is built, what is mapped where it is loaded, and what is on disk.

    >>> held(2000, 64, 4, 1).heap - flat.held(2000, 64).heap == 8 * 2000 + 4 * (12 * 2000 + 64 + 4 * 1025)
    True
    """
    widest = max(header_widths(bits, blocks, header))
    tables = math.comb(blocks, header) * table_bytes(rows, min(address_bits(rows), widest))
    size = tables + word_bytes(rows, bits)
    return flat.held(rows, bits) + Bytes(size, size, size)


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return cuts for the radius, or for how far the k-th nearest rows are if they are near."""
    asked = Asked(wish, facts)
    radius = wish.radius or 0 if asked.k is None else asked.bound_of(_FARTHER)
    if asked.k is not None and radius > _NEAR:
        return []
    radius = min(radius, asked.bits - 1)
    if radius + 1 > MOST_TABLES:
        return []
    usual = choose_header(asked.bits, radius, asked.rows)
    found: list[Mapping[str, Any]] = [{"radius": radius}]
    for header in (usual - 1, usual + 1):
        blocks = radius + header
        if 1 <= header and blocks <= asked.bits and math.comb(blocks, header) <= MOST_TABLES:
            found.append({"radius": radius, "blocks": blocks, "header": header})
    return found


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what look-ups in block tables are expected to take, with the scan of what they cannot answer."""
    asked, radius = Asked(wish, facts), int(parameters["radius"])
    rows, bits = asked.rows, asked.bits
    cut = parameters.get("blocks"), parameters.get("header")
    blocks, header = shape(bits, radius, rows) if None in cut or rows < SHORT_RUN else (int(cut[0]), int(cut[1]))  # type: ignore[arg-type]
    radius = max(radius, blocks - header)
    widths = header_widths(bits, blocks, header)
    addresses = min(address_bits(rows), max(widths))
    size = table_bytes(rows, addresses)
    share = asked.beyond(radius)  # of the queries, that tables cannot answer
    looked = 0.0 if asked.k is None and share else 1.0
    compared = sum(rows * 2.0 ** -min(width, addresses) * facts.factor(min(width, addresses)) for width in widths)
    told = at_most(64, 0.5, radius) if bits > 64 else 0.0
    look = len(widths) * machine.ns("blocks.lookup", size) + compared * machine.ns("blocks.row")
    look += compared * told * machine.ns("multi.fetch", bits) + asked.matches * (1 - share) * machine.ns("match")
    scanned = flat.scanning(asked, machine, share, share * asked.together, asked.farther(radius)) if share else 0.0
    seconds = asked.seconds(machine, "blocks.call", looked * look) + asked.queries * scanned / 1e9
    if share and looked:
        seconds += asked.calls * (1 - (1 - share) ** asked.together) * machine.ns("scan.call") / 1e9
    build = build_seconds(rows, bits, size, len(widths), machine, wish.threads)
    expected = Estimate(
        recall=1.0,
        seconds=build + seconds,
        build=build,
        bytes=held(rows, bits, blocks, header),
        work={
            "comparisons": asked.queries * (looked * compared + share * rows),
            "probes": asked.queries * looked * len(widths),
        },
    )
    return Candidate(method="blocks", parameters=dict(parameters), estimate=expected)


def build_seconds(rows: int, bits: int, size: int, tables: int, machine: Machine, threads: int) -> float:
    """Return what sorting rows into so many tables of a size takes, side by side on threads, beside their planes."""
    fill = tables * rows * machine.ns("blocks.fill", size) / machine.speedup(min(threads, tables))
    fresh = (tables * size + 4 * rows + word_bytes(rows, bits)) * machine.ns("fresh")
    return flat.build_seconds(rows, bits, machine) + (fill + fresh) / 1e9
