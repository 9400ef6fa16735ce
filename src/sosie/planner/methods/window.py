"""The sliding window: most pairs at a large radius, by so many orders of permuted bits (NFL 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sosie.planner.constants.joins import (
    ORDER_ROW_BYTES,
    WINDOW_CHUNK,
    WINDOW_CHUNK_BYTES,
    WINDOW_MARGIN,
    WINDOW_PAIR_BYTES,
    WINDOW_SAMPLE,
    WINDOW_SHARE_BYTES,
)
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import F64, Facts, Spread
from sosie.planner.found_pairs import expected_pairs, pairs_bytes
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.methods.brute import first_look, kept_free
from sosie.planner.models.permuted import chance_beside, found_in_any
from sosie.planner.models.window import Window, relative_cost, window_comparisons
from sosie.planner.wish import Wish

LEAST_TABLES = 10  # fewer do not tell what share they found
MARGIN = 0.1  # of what may be missed: it is not, so that chance does not bring recall below what was asked
_MOST_TABLES = 20_000
_WIDTHS = tuple(round(10 * 2 ** (step / 2)) for step in range(26))  # of windows that are tried: 10 to 58,000
_SHOWN = 4  # settings
_LEAST_CHUNK = 8000  # rows
_STEP = 0.25  # of bits, by which it is sought how many a window shares


class Setting(NamedTuple):
    """Tables and a window, the recall that they are expected to reach, and what they cost on a usual machine."""

    tables: int
    window: int
    recall: float
    seconds: float


def settings(wish: Wish, facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield tables and windows that reach the recall at least cost; none where all is wanted.

    Which these are depends on no measured machine.
    """
    if wish.bits is None or wish.radius is None or wish.exact:
        return
    best = sorted(_reaching(wish, facts), key=lambda each: each.seconds)
    for each in best[:_SHOWN]:
        chunk = _chunk(wish, each.window)
        smaller = {} if chunk == WINDOW_CHUNK else {"chunk": chunk}
        yield {"tables": each.tables, "window": each.window, **smaller}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what a window finds and takes: every row in every order, its comparisons, and the pairs that it finds.

    >>> from sosie.planner.wish import Wish
    >>> wish = Wish(task="join", rows=10**6, bits=1024, radius=350, recall=0.9)
    >>> found = estimate(wish, Facts(), Machine(), {"tables": 100, "window": 2000}).estimate
    >>> round(found.recall, 2), round(found.work["comparisons"] / 1e9, 1)
    (0.96, 199.8)
    """
    assert wish.bits is not None
    by, every = Window(parameters["tables"], parameters["window"]), wish.rows + wish.others
    spread = distances_of(wish, facts)
    beside = chance_beside(spread.values, wish.bits, crowded_rows(every, by.window, wish.bits, facts), by.window)
    recall = _mean(spread, found_in_any(beside, by.tables))
    pairs = expected_pairs(wish, facts)
    work = _work(wish, by, parameters.get("chunk", WINDOW_CHUNK))
    findings = pairs * by.tables * _mean(spread, beside)
    seconds = _seconds(wish, machine, by, findings, pairs * recall)
    chunk = parameters.get("chunk", WINDOW_CHUNK)
    heap = held_bytes(every, wish.bits, by.window, wish.threads, chunk) + kept_free(wish.memory)
    held = Bytes(heap=heap, mapped=every * wish.bits // 8)
    notes = () if facts.distances is not None else ("all pairs are taken to be as far apart as the radius allows",)
    found = Estimate(
        recall=recall,
        seconds=seconds,
        bytes=held + pairs_bytes(pairs * recall, wish.memory, WINDOW_PAIR_BYTES),
        work=work,
        notes=notes,
    )
    return Candidate(method="window", parameters=dict(parameters), estimate=found)


def distances_of(wish: Wish, facts: Facts) -> Spread:
    """Return how far the pairs wanted are apart: as they are in a sample, else as far as the radius allows."""
    assert wish.radius is not None
    return facts.distances if facts.distances is not None else Spread.at(wish.radius)


def crowded_rows(rows: int, window: int, bits: int, facts: Facts) -> float:
    """Return of how many evenly spread rows as many would share the bits that a window shares.

    Where rows share bits more often than by chance, a window reaches less far, as among more rows.

    >>> [round(crowded_rows(1000, 10, 64, Facts(sharing=each)), -1) for each in ((), ((4, 2.0), (40, 2.0)))]
    [1000.0, 2000.0]
    """
    if not facts.sharing:
        return float(rows)
    low, high = 0.0, float(bits)
    while high - low > _STEP / 64:  # the number of rows that share bits falls with each bit
        middle = (low + high) / 2
        low, high = (middle, high) if rows * facts.factor(middle) * 2.0**-middle > window else (low, middle)
    return float(max(window * 2.0**high, rows))


def held_bytes(rows: int, bits: int, window: int, threads: int, chunk: int = WINDOW_CHUNK) -> int:
    """Return what a window holds beside the rows: the orders that are under way, and the rows and planes of chunks.

    >>> held_bytes(1_000_000, 64, 100, threads=1)
    57000000
    """
    making = ORDER_ROW_BYTES * rows
    detecting = min(chunk + window, rows) * (2 * bits // 8 + WINDOW_CHUNK_BYTES)
    if threads == 1:  # the next order is made when all chunks of the one before are done
        return WINDOW_SHARE_BYTES + 8 * rows + max(making, detecting)
    return WINDOW_SHARE_BYTES + threads * (making + detecting)


def _reaching(wish: Wish, facts: Facts) -> Iterator[Setting]:
    """Yield for each width of a window the fewest tables that reach the recall."""
    assert wish.bits is not None
    every, spread = wish.rows + wish.others, distances_of(wish, facts)
    spread = Spread(spread.values, spread.weights / spread.total)
    target = 1 - (1 - MARGIN) * (1 - wish.recall)
    pairs = expected_pairs(wish, facts)
    for window in _WIDTHS:
        if window > every // 4:
            break
        beside = chance_beside(spread.values, wish.bits, crowded_rows(every, window, wish.bits, facts), window)
        tables = _fewest(beside, spread.weights, target)
        if tables is None:
            continue
        by = Window(tables, window)
        findings = pairs * tables * float(beside @ spread.weights)
        yield Setting(tables, window, target, _seconds(wish, Machine(), by, findings, pairs))


def _chunk(wish: Wish, window: int) -> int:
    """Return how many rows are held at a time: as many as usual, or as fit within the limit, if some thousands do."""
    assert wish.bits is not None
    chunk, every = WINDOW_CHUNK, wish.rows + wish.others
    while wish.memory is not None and chunk > _LEAST_CHUNK:
        heap = held_bytes(every, wish.bits, window, wish.threads, chunk) + kept_free(wish.memory)
        if PROGRAM + heap <= wish.memory:
            break
        chunk //= 2
    return chunk


def _fewest(beside: F64, weights: F64, target: float) -> int | None:
    """Return how many tables are the fewest to find the share `target`, None if more than are ever worth it."""

    def reached(tables: int) -> bool:
        return float(found_in_any(beside, tables) @ weights) >= target

    if not reached(_MOST_TABLES):
        return None
    low, high = LEAST_TABLES - 1, _MOST_TABLES
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _work(wish: Wish, by: Window, chunk: int) -> dict[str, float]:
    every = wish.rows + wish.others
    compared = window_comparisons(every, by)
    across = relative_cost(every, by) * wish.comparisons if wish.others else compared
    return {
        "comparisons": float(across),
        "window_comparisons": float(compared),
        "brute_comparisons": float(wish.comparisons),
        "tables": float(by.tables),
        "chunks": float(by.tables * math.ceil(every / chunk)),
    }


def _seconds(wish: Wish, machine: Machine, by: Window, findings: float, pairs: float) -> float:
    assert wish.bits is not None and wish.radius is not None
    every = wish.rows + wish.others
    asking = min(wish.rows, wish.others) if wish.others else wish.rows
    others = every - asking if wish.others else every
    reached = min(by.window, every) * (2 if wish.others else 1) * others / every + WINDOW_MARGIN
    planes, early = machine.ns("brute pair", wish.bits), machine.ns("brute pair", first_look(wish.bits, wish.radius))
    met = min(findings / max(by.tables * asking, 1) * WINDOW_MARGIN / reached, 1.0)  # blocks that are not given up
    compared = asking * reached * (early + (planes - early) * met)
    worked = by.tables * (every * machine.ns("window row", wish.bits) + compared)
    found = findings * machine.ns("window found")
    told = min(pairs, WINDOW_SAMPLE) * machine.ns("window told")
    return ((worked + found) / machine.speedup(wish.threads) + told) / 1e9


def _mean(spread: Spread, chances: F64) -> float:
    return float(np.average(chances, weights=spread.weights))
