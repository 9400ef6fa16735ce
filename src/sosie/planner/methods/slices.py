"""What slice lists cost: how wide slices are, what is read of their lists, and what is found that way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sosie.planner.asked import Asked
from sosie.planner.constants.search import LATEST, SPARSE
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods import flat
from sosie.planner.methods.blocks import word_bytes
from sosie.planner.models.distances import at_most
from sosie.planner.models.slices import (
    chance_seen,
    lists_read,
    postings_read,
    score_chances,
    slice_widths,
    width_for,
)
from sosie.planner.wish import Wish

WIDTH = 16  # of a slice, where nothing is said,
BREADTH, CANDIDATES = 3, 1000  # and how far a search goes
_WIDEST = 4096  # bits of a signature
_WIDTHS = (2, 28)
_MANY = 256  # rows for each that was seen, up to which all rows are passed by
_WIDER = (-2, 0, 2)  # bits beside the width that fits the rows
_BREADTHS = range(5)
_COMPARED = (100, 1000)


def made_anew(listed: int, width: int, latest: int) -> bool:
    """Say whether so many latest rows, which are in no list, are too many beside the rows and the lists there are."""
    return latest > max(listed // LATEST, (1 << width) // SPARSE)


def list_bytes(rows: int, bits: int, width: int) -> int:
    """Return the memory that lists take.

    >>> list_bytes(2**20, 1024, 16) == 4 * 64 * (2**20 + 2**16 + 1)
    True
    """
    widths = slice_widths(bits, width)
    return 4 * (sum((1 << each) + 1 for each in widths) + rows * len(widths))


def least_room(rows: int, bits: int, width: int) -> int:
    """Return what no machine must lack so that the rows can be held."""
    return list_bytes(rows, bits, width) + word_bytes(rows, bits)


def held(rows: int, bits: int, width: int) -> Bytes:
    """Return what an index holds when it is built, what is mapped where it is loaded, and what is on disk.

    >>> held(1000, 64, 16).disk == 8 * 1000 + 4 * 4 * (2**16 + 1 + 1000)
    True
    """
    size = list_bytes(rows, bits, width) + word_bytes(rows, bits)
    return Bytes(size + flat.live_bytes(rows), size, size)


def chosen_chance(asked: Asked, width: int, breadth: int, candidates: int, distance: int) -> float:
    """Return the chance that a row so far away is seen, and then among the rows with the best scores.

    Others are as far away as any two rows are; of those whose score is that of the last candidate a part is chosen.
    """
    bits, background = asked.bits, asked.facts.background
    apart = bits / 2 if background is None else background.mean(lambda distances: distances)
    others = asked.rows * score_chances(bits, width, breadth, round(apart / bits, 3))
    above = np.cumsum(others[::-1])[::-1] - others
    with np.errstate(divide="ignore", invalid="ignore"):
        taken = np.where(above + others <= candidates, 1.0, np.clip((candidates - above) / others, 0, 1))
    taken[0] = 0.0
    return float(score_chances(bits, width, breadth, distance / bits) @ taken)


def recall_of(asked: Asked, width: int, breadth: int, candidates: int) -> float:
    """Return the recall that a search is expected to have."""
    wanted = asked.wanted.few()
    if asked.k is None:
        slices = len(slice_widths(asked.bits, width))
        if (asked.wish.radius or 0) < (breadth + 1) * slices:
            return 1.0
        found = [chance_seen(asked.bits, width, breadth, int(at)) * weight for at, weight in wanted.pairs()]
    else:
        compared = max(candidates, asked.k)
        found = [chosen_chance(asked, width, breadth, compared, int(at)) * weight for at, weight in wanted.pairs()]
    return sum(found) / wanted.total


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return widths around that which fits the rows, each with the least breadth that reaches the recall."""
    asked = Asked(wish, facts)
    if asked.bits > _WIDEST:
        return
    fitting = width_for(asked.rows)
    for width in sorted({min(max(fitting + more, _WIDTHS[0]), _WIDTHS[1], max(asked.bits, 2)) for more in _WIDER}):
        for candidates in _COMPARED if asked.k is not None else (CANDIDATES,):
            breadths = [each for each in _BREADTHS if each <= min(slice_widths(asked.bits, width))]
            reaching = (each for each in breadths if recall_of(asked, width, each, candidates) >= wish.recall)
            breadth = next(reaching, None)
            if breadth is not None:
                yield {"slice_width": width, "breadth": breadth, "candidates": candidates}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what reading lists up to a breadth is expected to find and take, with the early stop."""
    asked = Asked(wish, facts)
    rows, bits, width = asked.rows, asked.bits, int(parameters.get("slice_width", WIDTH))
    widths = slice_widths(bits, width)
    breadth = int(parameters.get("breadth", min(BREADTH, max(widths))))
    candidates = max(int(parameters.get("candidates", CANDIDATES)), asked.k or 0)
    recall = recall_of(asked, width, breadth, candidates)
    if asked.k is None:
        breadth = min(breadth, (wish.radius or 0) // len(widths))
    lists, share = lists_read(bits, width, breadth), facts.factor(max(widths))
    postings = min(postings_read(rows, bits, width, breadth) * share, float(rows * len(widths)))
    unseen = math.prod(1 - at_most(each, 0.5, breadth) for each in widths)
    seen = min(rows * (1 - unseen) * share, postings, rows)
    compared = min(seen, candidates) if asked.k is not None else asked.matches
    work = machine.ns("slices.query") + lists * machine.ns("slices.list", list_bytes(rows, bits, width))
    work += postings * machine.ns("slices.posting", 2 * rows) + compared * machine.ns("slices.candidate", bits)
    work += rows * machine.ns("slices.pass") * (_MANY * seen > rows)
    build = rows * len(widths) * machine.ns("slices.invert", 4 * rows + (4 << max(widths)))
    build = (build + held(rows, bits, width).heap * machine.ns("fresh")) / 1e9 / machine.speedup(wish.threads)
    at_once = max(asked.together // (4 * wish.threads), 1)
    expected = Estimate(
        recall=recall,
        seconds=build + asked.seconds(machine, "slices.call", work, at_once=at_once),
        build=build,
        bytes=held(rows, bits, width),
        work={
            "lists": asked.queries * lists,
            "postings": asked.queries * postings,
            "candidates": asked.queries * compared,
            "comparisons": asked.queries * compared,
        },
    )
    return Candidate(method="slices", parameters=dict(parameters), estimate=expected)
