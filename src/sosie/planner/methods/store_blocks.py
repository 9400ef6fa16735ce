"""A batch in block tables, past which a store streams: all matches, in time that grows with the store (PSM 7.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sosie.planner.asked import Asked
from sosie.planner.constants.joins import STORE_CHUNK, STORE_QUERIES
from sosie.planner.constants.search import MOST_TABLES
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods.blocks import address_bits, choose_header, table_bytes
from sosie.planner.models.blocks import header_widths
from sosie.planner.wish import Wish

_MATCH_BYTES = 60  # of a match while it is put in order
_QUERY_BYTES = 8  # of a query beside its tables


def settings(wish: Wish, facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield into how many blocks bits may be cut: as the store does it itself, and one more or less."""
    if wish.bits is None or wish.radius is None or wish.k is not None:
        return
    if wish.radius >= wish.bits:
        yield {}  # bits are not cut: every row is compared
        return
    usual = choose_header(wish.bits, wish.radius, max(wish.others, 1))
    for header in (usual, usual - 1, usual + 1):
        blocks = wish.radius + header
        few = header == usual or math.comb(blocks, header) <= MOST_TABLES
        if 1 <= header and blocks <= wish.bits and few:
            yield {"blocks": blocks}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what it takes to put a batch into tables, and to look every row of the store up in each of them.

    >>> from sosie.planner.wish import Wish
    >>> wish = Wish(task="batch", rows=10**7, others=10**5, bits=64, radius=3)
    >>> found = estimate(wish, Facts(), Machine(), {}).estimate
    >>> found.recall, found.work["probes"]
    (1.0, 40000000.0)
    """
    assert wish.bits is not None and wish.radius is not None
    asked, bits = Asked(wish, facts), wish.bits
    batch = min(asked.queries, STORE_QUERIES)
    tiles = math.ceil(asked.queries / STORE_QUERIES)
    blocks, header = _cut(wish, batch, parameters)
    widths = header_widths(bits, blocks, header) if header else [0]
    addresses = min(address_bits(batch), max(*widths, 1))
    size = table_bytes(batch, addresses)
    told = [min(width, addresses) for width in widths]
    compared = tiles * wish.rows * batch * sum(2.0**-width * facts.factor(width) for width in told)
    probes = float(tiles * wish.rows * len(widths))
    each = machine.ns("store lookup", size * len(widths)) + machine.ns("store header", bits)
    filled = tiles * batch * len(widths) * machine.ns("store filled", bits)
    matches = asked.queries * _matches(wish, facts)
    streamed = (probes * each + compared * machine.ns("store compared")) / machine.speedup(wish.threads)
    worked = filled / machine.speedup(min(wish.threads, len(widths))) + streamed + matches * machine.ns("match")
    heap = size * len(widths) + _QUERY_BYTES * batch + _MATCH_BYTES * matches
    expected = Estimate(
        recall=1.0,
        seconds=(machine.ns("join") + worked) / 1e9,
        bytes=Bytes(heap=round(heap), mapped=streamed_bytes(wish)),
        work={"comparisons": compared, "probes": probes},
    )
    return Candidate(method="store blocks", parameters=dict(parameters), estimate=expected)


def _cut(wish: Wish, batch: int, parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return the blocks and how many make a header; bits that are not cut have no header."""
    assert wish.bits is not None and wish.radius is not None
    if wish.radius >= wish.bits:
        return 1, 0
    blocks = parameters.get("blocks")
    header = choose_header(wish.bits, wish.radius, batch) if blocks is None else int(blocks) - wish.radius
    return wish.radius + header, header


def _matches(wish: Wish, facts: Facts) -> float:
    """Return how many matches a query has: as a sample told, else one, and those of chance."""
    return Asked(wish, facts).matches


def streamed_bytes(wish: Wish) -> int:
    """Return how much of a store is mapped at a time: the words of a chunk, and the numbers of its rows."""
    assert wish.bits is not None
    words = -(-wish.bits // 64)
    rows = min(wish.rows, max(STORE_CHUNK // words, 1))
    return rows * (8 * words + 4)
