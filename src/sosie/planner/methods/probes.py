"""What an index of probes costs: its header, how many flips reach a recall, and what each of them takes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sosie.planner.asked import Asked
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import F64, Facts
from sosie.planner.machine import Machine
from sosie.planner.methods import flat
from sosie.planner.methods.blocks import word_bytes
from sosie.planner.models.probes import even_recall, likely_recall
from sosie.planner.wish import Wish

LANES = 8  # rows: the words of a run are filled up to a multiple of that
WIDEST = 30  # bits of a header
FLIPS = 16  # sets of flips that a search tries where nothing else is said
_FEW = 64  # sets; beyond that they come out of a heap
_MOST = 1 << 16  # sets of flips that are worth trying, alike likely ones,
_MOST_LIKELY = 1 << 9  # and likely ones, which are enumerated to predict what they find
_SHORTER = (0, 2, 4)  # bits that a header may have less than there are rows for: less memory, more rows for a probe


def header_bits(rows: int) -> int:
    """Return how many bits tell rows apart as well as they can be by chance: t = log2 n, rounded (PSM 7.3).

    >>> [header_bits(rows) for rows in (0, 1, 3, 1000, 60_000_000)]
    [1, 1, 2, 10, 26]
    """
    return max(1, round(math.log2(max(rows, 1))))


def shape(bits: int, rows: int) -> int:
    """Return how many bits a header has where nothing is said.

    >>> shape(64, 10**6), shape(8, 10**6)
    (20, 8)
    """
    return min(header_bits(rows), bits, WIDEST)


def reads_all(complete: bool, probes: int, rows: int) -> bool:
    """Say whether rows are compared one after the other: where more headers are to be probed than there are rows."""
    return complete and probes > rows


def least_room(rows: int, bits: int, header: int) -> int:
    """Return what no machine must lack so that the rows can be held: the words three times while they are sorted."""
    return 4 * (1 << header) + 3 * word_bytes(rows, bits) + 8 * rows


def held(rows: int, bits: int, header: int) -> Bytes:
    """Return what an index holds when it is built, what is mapped where it is loaded, and what is on disk.

    >>> held(2**20, 64, 20).disk == 8 * 2**20 + 4 * 2**20 + 4 * (2**20 + 1)
    True
    """
    size = word_bytes(-(-rows // LANES) * LANES, bits) + 4 * rows + 4 * ((1 << min(header, header_bits(rows))) + 1)
    return Bytes(size + flat.live_bytes(rows), size, size)


def sets(header: int, most: int) -> int:
    """Return how many sets of at most so many flips there are, none included."""
    return sum(math.comb(header, flipped) for flipped in range(min(most, header) + 1))


def recalls(asked: Asked, header: int, flips: int) -> F64:
    """Return the recall that 0, 1, ... `flips` likely sets are expected to have; the queries say which are likely."""
    wanted = asked.wanted.few()
    return np.asarray(
        sum(
            weight * likely_recall(asked.bits, header, int(distance), _flipped(asked, header), flips)
            for distance, weight in wanted.pairs()
        )
        / wanted.total
    )


def recall_of(asked: Asked, header: int, flips: int) -> float:
    """Return the recall that so many sets of flips are expected to have: measured where it was, else modelled."""
    known = sorted((probes, found) for bits, probes, found in asked.facts.probed if bits == header)
    if known:
        at, found = (np.array(each, np.float64) for each in zip(*known, strict=True))
        return float(np.interp(flips, at, found))
    most = _flipped(asked, header)
    if flips + 1 >= sets(header, most):
        return 1.0
    if asked.facts.volatile:
        return float(recalls(asked, header, flips)[-1])
    wanted = asked.wanted.few()
    expected = [(even_recall(asked.bits, header, int(at), flips, most), weight) for at, weight in wanted.pairs()]
    return sum(found * weight for found, weight in expected) / wanted.total


def flips_for(asked: Asked, header: int, recall: float) -> int | None:
    """Return the least number of flips that is expected to reach a recall; None if it would be too many."""
    every = sets(header, _flipped(asked, header)) - 1
    if recall == 1.0:
        return every if every < _MOST else None
    if asked.facts.volatile and not asked.facts.probed:
        reached = np.flatnonzero(recalls(asked, header, min(every, _MOST_LIKELY)) >= recall)
        return int(reached[0]) if len(reached) else None
    few = range(min(every, _MOST) + 1)
    flips = bisect_left(few, recall, key=lambda count: recall_of(asked, header, count))
    return int(flips) if flips < len(few) else None


def _flipped(asked: Asked, header: int) -> int:
    """Return how many bits are flipped at most."""
    return header if asked.k is not None else min(asked.wish.radius or 0, header)


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return headers of some lengths with as many flips as reach the recall, and twice as many."""
    asked = Asked(wish, facts)
    for shorter in _SHORTER:
        header = shape(asked.bits, asked.rows) - shorter
        if header < 1:
            return
        flips = flips_for(asked, header, wish.recall)
        if flips is None:
            continue
        cut = {} if not shorter else {"header": header}
        yield {"probes": flips, **cut}
        if not wish.exact and flips:
            yield {"probes": 2 * flips, **cut}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what probing so many headers is expected to find and take."""
    asked = Asked(wish, facts)
    rows, bits = asked.rows, asked.bits
    header = parameters.get("header") or shape(bits, rows)
    flips, every = int(parameters.get("probes", FLIPS)), sets(header, _flipped(asked, header))
    probes = min(flips + 1, every)
    known = min(header, header_bits(rows))
    complete = probes == every
    if reads_all(complete, probes, rows):
        compared, work = float(rows), rows * machine.ns("probes.row", bits)
    else:
        compared = probes * rows * 2.0**-known * facts.factor(known)
        work = probes * machine.ns("probes.probe", held(rows, bits, header).disk)
        work += compared * machine.ns("probes.row", bits)
        work += probes * machine.ns("probes.likely") * (facts.volatile and probes > _FEW)
    recall = 1.0 if complete else recall_of(asked, header, flips)
    hits = compared if asked.k is not None else asked.matches * recall
    work += machine.ns("probes.query") + hits * machine.ns("match")
    build = rows * machine.ns("probes.sort", bits) / 1e9 + held(rows, bits, header).heap * machine.ns("fresh") / 1e9
    expected = Estimate(
        recall=recall,
        seconds=build + asked.seconds(machine, "probes.call", work),
        build=build,
        bytes=held(rows, bits, header),
        work={"comparisons": asked.queries * compared, "probes": asked.queries * probes},
    )
    return Candidate(method="probes", parameters=dict(parameters), estimate=expected)
