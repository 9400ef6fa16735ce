"""A batch by its likely flips, which meet a store that streams by: far less work, and not all matches (PSM 7.4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sosie.planner.asked import Asked
from sosie.planner.constants.joins import STORE_PART, STORE_PROBE_BYTES, STORE_PROBES, STORE_TASK
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods.probes import flips_for, recall_of, sets, shape
from sosie.planner.methods.store_blocks import streamed_bytes
from sosie.planner.wish import Wish

_PARTS = 14  # parts of a run, as a power of 2, at most
_TOLD = 16  # bits by which rows of a piece are told apart, at most
_MATCH_BYTES = 60  # of a match while it is put in order


def settings(wish: Wish, facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield as many probes as reach the recall, and twice as many; all sets of flips find all."""
    if wish.bits is None or wish.radius is None or wish.k is not None:
        return
    flips = flips_for(Asked(wish, facts), shape(wish.bits, wish.rows), wish.recall)
    if flips is None or flips + 1 > STORE_PROBES:
        return
    yield {"probes": flips}
    if not wish.exact and flips:
        yield {"probes": 2 * flips}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what it takes to make the probes of a batch, to read the store past them, and to look them up.

    >>> from sosie.planner.wish import Wish
    >>> wish = Wish(task="batch", rows=2**20, others=10**5, bits=64, radius=3, recall=0.9)
    >>> found = estimate(wish, Facts(volatile=True), Machine(), {"probes": 16}).estimate
    >>> 0.8 < found.recall < 1, found.work["probes"]
    (True, 1700000.0)
    """
    assert wish.bits is not None and wish.radius is not None
    asked, bits = Asked(wish, facts), wish.bits
    header, flips = shape(bits, wish.rows), int(parameters["probes"])
    every = sets(header, min(wish.radius, header))
    probes = min(flips + 1, every)
    recall = 1.0 if probes == every else recall_of(asked, header, flips)
    together = min(asked.queries, max(STORE_PROBES // probes, 1))
    tiles = math.ceil(asked.queries / together)
    made = float(asked.queries * probes)
    pieces = Pieces.of(wish.rows, bits, header)
    looked_up = made * pieces.number
    compared = looked_up * pieces.rows * 2.0**-pieces.told * facts.factor(header)
    likely = machine.ns("store likely") if facts.volatile else 0.0
    matches = asked.queries * asked.matches * recall
    worked = made * (machine.ns("store made") + likely) + looked_up * machine.ns("store probe")
    worked += tiles * wish.rows * machine.ns("store read", bits) + compared * machine.ns("store compared")
    expected = Estimate(
        recall=recall,
        seconds=(machine.ns("join") + worked / machine.speedup(wish.threads) + matches * machine.ns("match")) / 1e9,
        bytes=Bytes(
            heap=round(STORE_PROBE_BYTES * together * probes + _MATCH_BYTES * matches), mapped=streamed_bytes(wish)
        ),
        work={"comparisons": compared, "probes": looked_up},
    )
    return Candidate(method="store probes", parameters=dict(parameters), estimate=expected)


class Pieces(NamedTuple):
    """In how many pieces a part of a store is met, each by all probes of the part; its rows; bits that tell them."""

    number: int
    rows: int
    told: int

    @staticmethod
    def of(rows: int, bits: int, header: int) -> Pieces:
        """Return the pieces of a store of one run.

        >>> Pieces.of(10**6, 64, 20), Pieces.of(200_000, 1024, 18)
        (Pieces(number=1, rows=31250, told=15), Pieces(number=4, rows=6250, told=13))
        """
        parts = max(0, min(rows.bit_length() - 1 - STORE_PART, header, _PARTS))
        part = max(rows >> parts, 1)
        number = math.ceil(part / max(STORE_TASK // -(-bits // 64), 1))
        piece = max(part // number, 1)
        return Pieces(number, piece, min(piece.bit_length(), _TOLD, header - parts))
