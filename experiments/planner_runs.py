"""What a plan's candidates really take and find: each is run as its parameters say, by the product's own methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sosie import BlockIndex, FlatIndex, MultiIndex, ProbeIndex, Signatures, SliceIndex, SliceSearch, Window, join
from sosie.index.probe_search import ProbeSearch
from sosie.planner.estimate import Candidate
from sosie.planner.wish import Wish
from sosie.types import I64, U64

JOINS = ("brute", "blocks join", "window")
SEARCHES = ("flat", "multi", "blocks", "probes", "slices")


class Rows(NamedTuple):
    """Signatures, and queries that each have a row within the radius among them."""

    rows: Signatures
    queries: Signatures


class Run(NamedTuple):
    """What a candidate took: the CPU time of one thread, with what is built; and what it found, as numbers in order."""

    seconds: float
    found: I64

    def recall(self, true: I64) -> float:
        """Return the share of what there is that was found."""
        return float(np.isin(true, self.found, assume_unique=True).mean()) if len(true) else 1.0


def drawn(rows: int, queries: int, bits: int, radius: int, seed: int = 0) -> Rows:
    """Return random rows, a quarter of which have a copy with 0 to `radius` bits flipped; and so changed queries."""
    rng = np.random.default_rng(seed)
    near = rows // 4
    words = _random(rows, bits, rng)
    words[-near:] = _changed(words[:near], bits, radius, rng)
    asked = _changed(words[rng.integers(0, rows, queries)], bits, radius, rng)
    return Rows(Signatures(words, bits), Signatures(asked, bits))


def _random(rows: int, bits: int, rng: np.random.Generator) -> U64:
    return rng.integers(0, 2**64, (rows, bits // 64), dtype=np.uint64)


def _changed(words: U64, bits: int, radius: int, rng: np.random.Generator) -> U64:
    """Return rows with 0, 1, ... `radius` bits flipped, each number as likely."""
    flips = rng.integers(0, radius + 1, len(words))
    order = np.argsort(rng.random((len(words), bits), np.float32), axis=1) < flips[:, None]
    return words ^ np.packbits(order, axis=1, bitorder="little").view(np.uint64)


def run(candidate: Candidate, wish: Wish, data: Rows) -> Run:
    """Run a candidate on one thread; the better of two runs."""
    work = _joined if wish.task == "join" else _searched
    runs = []
    for _ in range(2):
        start = time.process_time()
        found = work(candidate.method, dict(candidate.parameters), wish.radius or 0, data)
        runs.append((time.process_time() - start, found))
    taken, found = min(runs, key=lambda each: each[0])
    return Run(taken, found())


def _joined(method: str, given: Mapping[str, Any], radius: int, data: Rows) -> Callable[[], I64]:
    by: Any = {"brute": "brute", "blocks join": "blocks"}.get(method)
    if by is None:
        by = Window(**{name: value for name, value in given.items() if name != "method"})
    pairs = join(data.rows, radius=radius, method=by, threads=1)
    return lambda: np.asarray(pairs.a * len(data.rows) + pairs.b)


def _searched(method: str, given: dict[str, Any], radius: int, data: Rows) -> Callable[[], I64]:
    rows, how = data.rows, {}
    if method == "flat":
        index: Any = FlatIndex(rows)
    elif method == "multi":
        index = MultiIndex(rows, **given)
    elif method == "blocks":
        index = BlockIndex(rows, **given)
    elif method == "probes":
        index, how = ProbeIndex(rows, header=given.get("header")), {"effort": ProbeSearch(given["probes"])}
    else:
        index = SliceIndex(rows, given["slice_width"])
        how = {"effort": SliceSearch(given["breadth"], given["candidates"])}
    found = index.within(data.queries, radius, threads=1, **how)
    return lambda: np.sort(np.repeat(np.arange(len(data.queries)), np.diff(found.offsets)) * len(rows) + found.rows)
