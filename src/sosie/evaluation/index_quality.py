"""How good is a search of an index? What it finds of the nearest rows, and how near that is (TOPK 4; ISSL 6)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import numpy as np

from sosie.errors import UsageError
from sosie.evaluation.ratios import distance_ratios, recall_at
from sosie.index.flat import FlatIndex
from sosie.index.hamming import HammingIndex
from sosie.index.registry import kind_of
from sosie.types import F64, Matches, Signatures


@dataclass(frozen=True, eq=False)
class IndexQuality:
    """What `queries` searches for the `k` nearest of `rows` rows found, beside an exhaustive search of the same rows.

    `recall` is the share of the k nearest that was found, and `ratios[p - 1]` is CDR@p (ISSL 6), of which the last is
    HDR (TOPK, Equation 1). `seconds` and `exhaustive_seconds` are what the searches took together.
    """

    kind: str
    rows: int
    bits: int
    queries: int
    k: int
    effort: Mapping[str, Any]
    recall: float
    ratios: F64
    counters: Mapping[str, int]
    seconds: float
    exhaustive_seconds: float

    @property
    def ratio(self) -> float:
        """CDR@k, which is HDR."""
        return float(self.ratios[-1])

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        said = {**vars(self), "effort": dict(self.effort), "counters": dict(self.counters)}
        return {**said, "ratio": self.ratio, "ratios": [float(each) for each in self.ratios]}


def evaluate_index(
    index: HammingIndex,
    queries: Signatures,
    k: int = 10,
    *,
    effort: Any = None,
    exclude_self: bool = False,
    threads: int | None = None,
) -> IndexQuality:
    """Search an index and, exhaustively, its rows; with `exclude_self`, rows with the id of the query do not count.

    Without an effort the index searches as it was built. An index of fewer than k rows is asked for all of them.

    >>> from sosie.index.slices import SliceIndex, SliceSearch
    >>> rows = Signatures(np.random.default_rng(0).integers(0, 2**63, (500, 2), dtype=np.uint64), 128)
    >>> index, some = SliceIndex(rows, width=8), rows.take(np.arange(20))
    >>> found = evaluate_index(index, some, effort=SliceSearch(1, candidates=30), exclude_self=True)
    >>> found.recall < found.ratio < 1, evaluate_index(index, some, effort=SliceSearch(None)).recall
    (True, 1.0)
    """
    others = len(index) - exclude_self
    if not len(queries) or others < 1:
        raise UsageError(
            f"{len(queries):,} queries and {len(index):,} rows: there is nothing to compare. Index more rows."
        )
    flat, wanted = FlatIndex(index.signatures), min(k, others)
    how: dict[str, Any] = {"exclude_self": exclude_self, "threads": threads}
    seconds, found = _timed(lambda asked: index.search(asked, k, effort=effort, **how), queries)
    exhaustive_seconds, exact = _timed(lambda asked: flat.search(asked, k, **how), queries)
    ratios = np.nanmean(distance_ratios(found, exact, wanted, index.bits), axis=0)
    taken = index.effort if effort is None else effort
    return IndexQuality(
        kind=kind_of(index),
        rows=len(index),
        bits=index.bits,
        queries=len(queries),
        k=wanted,
        effort=asdict(taken) if is_dataclass(taken) and not isinstance(taken, type) else {},
        recall=recall_at(found, exact, wanted),
        ratios=np.cumsum(ratios) / np.arange(1, wanted + 1),
        counters=found.counters,
        seconds=seconds,
        exhaustive_seconds=exhaustive_seconds,
    )


def _timed(search: Callable[[Signatures], Matches], queries: Signatures) -> tuple[float, Matches]:
    """Return the seconds of a search, and what it found; one query goes before, so that kernels are loaded."""
    search(queries.take(np.arange(1)))
    start = time.perf_counter()
    found = search(queries)
    return time.perf_counter() - start, found
