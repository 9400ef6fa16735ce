"""How far has an approximate index to search for a recall? As it was calibrated, else as the planner predicts it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sosie.errors import UsageError
from sosie.index.auto import nearest_facts, sharing
from sosie.index.flat import FlatIndex
from sosie.index.hamming import HammingIndex
from sosie.index.probe_search import Calibration, ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.planner.asked import Asked
from sosie.planner.facts import Facts, Spread
from sosie.planner.methods import probes, slices
from sosie.planner.wish import Wish
from sosie.types import Signatures

_QUERIES = 128  # that are answered exactly, to see how far answers are,
_ROWS = 1 << 18  # among so many rows
_ENOUGH = 20  # matches within a radius; fewer tell nothing
_BEYOND = 4  # times k rows are looked at, to see how many are as far as the k-th


class Reaching(NamedTuple):
    """How far to search, None for an index that is exact, and the recall that this is predicted to have."""

    effort: Any
    recall: float


def effort_for(
    index: HammingIndex,
    queries: Signatures,
    recall: float,
    *,
    k: int | None = None,
    radius: int | None = None,
    exclude_self: bool = False,
) -> Reaching:
    """Return the effort by which a search is to have a recall, of all within a radius or of the k nearest.

    An index that was calibrated for such searches knows what it has, as far as that is enough. Else some of the queries
    are answered exactly, among some of the rows: how far answers are says how many of them are found.

    >>> words = np.random.default_rng(0).integers(0, 2**63, 4000, dtype=np.uint64)
    >>> found = effort_for(ProbeIndex(Signatures(words)), Signatures(words[:100] ^ np.uint64(1 << 60)), 0.9, radius=1)
    >>> found.effort.probes, 0.9 <= found.recall <= 1
    (6, True)
    """
    if not 0 < recall <= 1:
        raise UsageError(f"recall is above 0 and at most 1, as in 0.95; got {recall!r}")
    if not isinstance(index, ProbeIndex | SliceIndex) or not len(index) or not len(queries):
        return Reaching(None, 1.0)
    if isinstance(index, ProbeIndex):
        known, volatile = index.effort, queries.volatility is not None
        if isinstance(known, Calibration) and radius is not None and known.recall >= recall:
            if known.holds(radius, known.first, index.header_bits, volatile):
                return Reaching(known, known.recall)
    wish = Wish(task="search", rows=len(index), others=len(queries), bits=index.bits, k=k, radius=radius, recall=recall)
    asked = Asked(wish, _facts(index, queries, wish, exclude_self))
    if isinstance(index, ProbeIndex):
        return _by_probes(asked, index, recall)
    return _by_slices(asked, index, recall)


def _by_probes(asked: Asked, index: ProbeIndex, recall: float) -> Reaching:
    header = index.header_bits
    flips = probes.flips_for(asked, header, recall)
    if flips is None:
        raise UsageError(
            f"recall {recall:g} takes too many probes of this index: choose a smaller radius or recall, or another kind"
        )
    return Reaching(ProbeSearch(flips), probes.recall_of(asked, header, flips))


def _by_slices(asked: Asked, index: SliceIndex, recall: float) -> Reaching:
    width = index.width
    breadth, candidates = slices.breadth_for(asked, width, recall)
    if breadth is None:  # every list is read then, until nothing else can be nearer
        return Reaching(SliceSearch(None, stop="certain"), 1.0)
    return Reaching(SliceSearch(breadth, candidates), slices.recall_of(asked, width, breadth, candidates))


def _facts(index: HammingIndex, queries: Signatures, wish: Wish, exclude_self: bool) -> Facts:
    """Return how far answers are, by exact search of a part of the rows for some of the queries."""
    k, how = wish.k, {"exclude_self": exclude_self}
    rng, rows = np.random.default_rng(0), index.signatures
    some = np.sort(rng.choice(len(rows), min(len(rows), _ROWS), replace=False))
    part, chosen = rows.take(some), np.sort(rng.choice(len(queries), min(len(queries), _QUERIES), replace=False))
    asked = queries.take(chosen)
    volatile, shared, flat = queries.volatility is not None, sharing(part.words, index.bits), FlatIndex(part)
    if k is None:
        near = flat.within(asked, wish.radius or 0, **how).distances
        distances, weights = np.unique(near, return_counts=True)
        known = Spread(distances.astype(np.float64), weights.astype(np.float64)) if len(near) >= _ENOUGH else None
        return Facts(counted=True, volatile=volatile, sharing=shared, distances=known)
    nearest = max(round(k * len(some) / len(rows)), 1)
    facts = nearest_facts(flat.search(asked, _BEYOND * nearest, **how), min(nearest, len(some)), shared)
    return Facts(
        counted=True,
        volatile=volatile,
        sharing=shared,
        distances=facts.distances,
        nearest=facts.nearest,
        tied=facts.tied,
        background=_background(flat, asked),
    )


def _background(flat: FlatIndex, asked: Signatures) -> Spread:
    """Return how far rows are from queries that have nothing to do with them."""
    rows = flat.signatures.words[:: max(len(flat) // 256, 1)]
    apart = np.bitwise_count(rows[:, None, :] ^ asked.words[None, :, :]).sum(axis=2, dtype=np.int64)
    distances, weights = np.unique(apart, return_counts=True)
    return Spread(distances.astype(np.float64), weights.astype(np.float64))
