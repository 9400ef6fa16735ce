"""What multi-index hashing costs: into how many substrings bits are cut, and how long look-ups pay."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sosie.planner.asked import Asked, around, blocks_of
from sosie.planner.constants.search import COMPARE, FETCH, FEWER_BITS, PATIENCE, PROBE, SHORT_RUN, TELLING
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods import blocks, flat
from sosie.planner.models.cuts import widths
from sosie.planner.models.distances import at_most
from sosie.planner.wish import Wish

WIDEST = 28  # bits of a substring that can be an address
_WORD = 64


class Prices(NamedTuple):
    """What a search counts, in planes of a scan: a look-up, a row of a list, a row of several words.

    Of several words one tells most rows apart as long as fewer than `telling` bits may differ.
    """

    probe: int = PROBE
    compare: int = COMPARE
    fetch: int = FETCH
    telling: int = TELLING


PRICES = Prices()


def choose_tables(bits: int, rows: int) -> int:
    """Return into how many substrings to cut: of log2(rows) - 5 bits, and no more than can be an address.

    The authors choose log2(rows) bits, one row for each value. Some dozens of rows are compared in the time of a
    look-up, and wider substrings need many more look-ups.

    >>> [choose_tables(64, 1 << log) for log in (10, 17, 22, 24)], choose_tables(1024, 1 << 20)
    ([13, 5, 4, 3], 68)
    """
    width = max(1.0, math.log2(rows) - FEWER_BITS)
    return min(bits, max(round(bits / width), least_tables(bits)))


def least_tables(bits: int) -> int:
    """Return into how many substrings bits are cut at least."""
    return -(-bits // WIDEST)


def shape(bits: int, rows: int, tables: int | None = None) -> tuple[int, int]:
    """Return into how many substrings a run of so many rows is cut, and that one of them makes an address.

    >>> shape(64, 2**22), shape(64, 10)
    ((4, 1), (1, 0))
    """
    return (1, 0) if rows < SHORT_RUN else (tables or choose_tables(bits, rows), 1)


def patience(rows: int, planes: int) -> int:
    """Return what a query may cost in tables, in planes of a block that a scan counts."""
    return int(PATIENCE * blocks_of(rows, flat.BLOCK) * planes)


def least_room(rows: int, bits: int, tables: int, chosen: int) -> int:
    """Return what no machine must lack so that the rows can be held."""
    return 2 * blocks.word_bytes(rows, bits) + tables * (12 * rows + 4 * (1 << chosen * -(-bits // tables)))


def held(rows: int, bits: int, tables: int, chosen: int) -> Bytes:
    """Return what an index holds when it is built, what is mapped where it is loaded, and what is on disk.

    >>> held(2000, 64, 8, 1).heap - flat.held(2000, 64).heap == 8 * 2000 + 8 * (12 * 2000 + 64 + 4 * 257)
    True
    """
    size = tables * blocks.table_bytes(rows, chosen * max(widths(bits, tables))) + blocks.word_bytes(rows, bits)
    return flat.held(rows, bits) + Bytes(size, size, size)


@dataclass
class _Look:
    """What a query does in tables: values looked up, rows of lists, those fetched, and whether it is given up."""

    lookups: float = 0.0
    entries: float = 0.0
    fetched: float = 0.0
    given_up: bool = False


class _Step(NamedTuple):
    """What a step looks up: values, rows in their lists, and the price that it is thought to have."""

    values: int
    entries: float
    price: int


def _look(asked: Asked, tables: int, bound: int) -> _Look:
    """Go as far as a search goes that has to see all rows up to a distance, with lists of mean length."""
    rows, bits, of = asked.rows, asked.bits, widths(asked.bits, tables)
    several = bits > _WORD
    # Until k rows were met every row of a list is of interest, and so is looked up in full.
    fetching = several and (asked.k is not None or bound >= TELLING)
    told = at_most(_WORD, 0.5, bound) if several else 0.0
    left, last, steps = patience(rows, flat.planes_of(bits)), min(bound, tables * (max(of) + 1) - 1), list[_Step]()
    for number in range(last + 1):
        flips, table = divmod(number, tables)
        values = math.comb(of[table], flips)
        price = values * (PROBE + (FETCH if fetching else COMPARE) * (rows >> of[table]))
        if price > left:
            break
        steps.append(_Step(values, values * rows * 2.0 ** -of[table] * asked.facts.factor(of[table]), price))
    stopped = len(steps) <= last
    if asked.k is None and (stopped or sum(each.price for each in steps) > left):
        return _Look(given_up=True)
    look = _Look(given_up=stopped)
    for each in steps:
        if left < 0 or each.price > left:
            look.given_up = True
            break
        fetched = each.entries * told
        left -= int(PROBE * each.values + COMPARE * each.entries + (FETCH * fetched if several else 0))
        look.lookups, look.entries = look.lookups + each.values, look.entries + each.entries
        look.fetched += fetched
    return look


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return the usual number of substrings, and some around it."""
    bits = wish.bits or 64
    if wish.rows < SHORT_RUN:
        return [{}]
    usual = choose_tables(bits, wish.rows)
    others = around(usual, least_tables(bits), bits)
    return [{}, *({"tables": tables} for tables in others if tables != usual)]


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what look-ups of substrings are expected to take, with the scan of queries that are given up."""
    asked = Asked(wish, facts)
    rows, bits = asked.rows, asked.bits
    tables, chosen = shape(bits, rows, parameters.get("tables"))
    size = blocks.table_bytes(rows, chosen * max(widths(bits, tables)))
    bound = asked.bound.few()
    looks = [(_look(asked, tables, int(distance)), weight / bound.total) for distance, weight in bound.pairs()]
    lookups, entries, fetched = (
        sum(weight * getattr(look, name) for look, weight in looks) for name in ("lookups", "entries", "fetched")
    )
    share = sum(weight for look, weight in looks if look.given_up)
    found = asked.matches * (1 - share) * (machine.ns("match") if asked.k is None else machine.ns("scan.take"))
    work = lookups * machine.ns("multi.lookup", size) + entries * machine.ns("multi.row") + found
    work += machine.ns("multi.query") + fetched * machine.ns("multi.fetch", bits)
    seconds = asked.seconds(machine, "multi.call", work, at_once=flat.TILE)
    if share:
        scan = flat.scanning(asked, machine, share, share * asked.together, asked.bound.mean(lambda at: at))
        calls = asked.calls * (1 - (1 - min(share, 1.0)) ** asked.together) * machine.ns("scan.call")
        seconds += (asked.queries * scan + calls) / 1e9
    build = blocks.build_seconds(rows, bits, size, tables, machine, wish.threads)
    expected = Estimate(
        recall=1.0,
        seconds=build + seconds,
        build=build,
        bytes=held(rows, bits, tables, chosen),
        work={
            "comparisons": asked.queries * (entries + share * rows),
            "probes": asked.queries * lookups,
            "scanned": asked.queries * share,
        },
    )
    return Candidate(method="multi", parameters=dict(parameters), estimate=expected)
