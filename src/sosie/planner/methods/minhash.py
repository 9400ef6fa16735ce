"""Minhash: documents that share a band of minima are compared (`matches/keys.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sosie.planner.constants.documents import GROUPED_BYTES, KEY_BYTES, LANES
from sosie.planner.estimate import Candidate
from sosie.planner.facts import F64, Facts, Spread
from sosie.planner.machine import Machine
from sosie.planner.memory import held_bytes, in_memory
from sosie.planner.models.bands import MINIMA, band_chance, bands_for, rows_for
from sosie.planner.stages import Dedup, Stage
from sosie.planner.wanted import least_jaccard, recall_of, similar
from sosie.planner.wish import Wish

USUAL = 0.999  # of pairs at the threshold, where nobody asks for less
ROWS = range(1, 13)  # of a band that are worth trying
MOST = 512  # minima that are


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return for each number of rows the fewest bands that reach the recall; for sets only, and not for all of them."""
    if wish.exact or wish.weighting != "binary" or wish.measure == "containment":
        return []
    if wish.recall >= USUAL:
        return [usual(wish)]
    least, wanted = least_jaccard(wish), similar(wish, facts)
    found = ({"minima": rows * _bands(wish, least, wanted, rows), "rows": rows} for rows in ROWS)
    return [each for each in found if each["minima"] <= MOST]


def usual(wish: Wish) -> dict[str, int]:
    """Return the most selective bands of the usual number of minima that find nearly all pairs at the threshold."""
    recall = USUAL if wish.exact else max(wish.recall, USUAL)
    return {"minima": MINIMA, "rows": rows_for(least_jaccard(wish), recall)}


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what some bands find and take."""
    minima, rows = parameters["minima"], parameters["rows"]
    bands, run, threads = minima // rows, Dedup(wish, facts, machine), wish.threads
    lanes = -(-minima // LANES) * LANES
    seconds = run.seconds(run.compared * lanes, "minimum", threads=threads)
    seconds += run.seconds(run.distinct * bands, "key", threads=threads)
    held, keys = run.held(), KEY_BYTES * bands * run.distinct
    mapped = keys if keys >= in_memory(wish.memory) else 0.0
    heap = held.heap + keys - mapped + GROUPED_BYTES * run.distinct
    candidates = _candidates(run, rows, bands)
    recall, notes = recall_of(wish, facts, lambda jaccard: band_chance(jaccard, rows, bands))
    matching = Stage(seconds, heap, held.mapped + mapped, held.disk + mapped)
    work = {"keys": float(bands), "comparisons": candidates}
    found = run.estimate(matching, candidates, recall=recall, work=work, notes=notes)
    least = held_bytes(facts.features * wish.rows, wish.rows)
    return Candidate(method="minhash", parameters={"minima": minima, "rows": rows}, estimate=found.sure_within(least))


def _bands(wish: Wish, least: float, wanted: Spread | None, rows: int) -> int:
    """Return the fewest bands that reach the recall: of the pairs that there are, or of those at the threshold."""
    most = bands_for(least, wish.recall, rows)
    if wanted is None:
        return most
    low, high = 1, min(most, MOST)
    while low < high:  # the mean chance grows with every band
        middle = (low + high) // 2
        reached = wanted.mean(lambda jaccard, bands=middle: band_chance(jaccard, rows, bands)) >= wish.recall
        low, high = (low, middle) if reached else (middle + 1, high)
    return low


def _candidates(run: Dedup, rows: int, bands: int) -> float:
    """Return how many pairs share a band, those below the threshold included, as far as they are known."""
    known = run.facts.similarities
    if known is None:
        return run.pairs
    values: F64 = np.where(known.values < 1, known.values, 0.0)  # equal documents are no candidates
    expected = float((band_chance(values, rows, bands) * known.weights).sum())
    return min(max(expected, run.pairs), 4 * run.listed)
