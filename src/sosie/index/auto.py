"""Which kind of index, and with which parameters? What is asked is tried on some of the rows, and the planner chooses.

No other place resolves the kind "auto". Only kinds that find everything are considered: how fast a machine is never
decides what is found.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sosie.errors import UsageError
from sosie.index.flat import FlatIndex
from sosie.index.hamming import HammingIndex
from sosie.index.registry import COMING, make_index
from sosie.parallel import thread_count
from sosie.planner.asked import K
from sosie.planner.choose import choose
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts, Spread
from sosie.planner.limits import missed
from sosie.planner.machine import PROGRAM, Machine, load_machine
from sosie.planner.methods.blocks import word_bytes
from sosie.planner.plan import Plan
from sosie.planner.registry import METHODS
from sosie.planner.wish import Wish
from sosie.shown import show_seconds
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import I64, U64, Matches, Signatures

Coming = Literal["single", "batch"]
_HOW: dict[Coming, str] = {"single": "one by one", "batch": "in a batch"}
EXACT = ("flat", "multi", "blocks")
_ASKED = {"single": 10**5, "batch": 10**6}  # queries, in whose time that of building an index disappears
_SAMPLE = 64  # rows that are asked for, at most,
_LEAST = 8  # at least,
_COMPARED = 1 << 33  # and bits that are compared for it
_BEYOND = 4  # times k rows are looked at, to see how many are as far as the k-th
_LOOKED_AT = 1 << 15  # rows from which it is told how bits are shared
_WIDTHS = (8, 12, 16)
_WINDOWS = 4  # places in a signature where so many neighbouring bits are looked at
_SURE = 20  # pairs that agree; fewer tell nothing


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What will be asked of an index: the `k` nearest, or all within a `radius`; one query at a time, or in batches.

    Without `queries` the index is to be good for both.
    """

    k: int | None = None
    radius: int | None = None
    queries: Coming | None = None

    def __post_init__(self) -> None:
        if self.queries is not None and self.queries not in COMING:
            raise UsageError(f"queries come single or in a batch, got {self.queries!r}")


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The kind that was chosen, its parameters, and the plan for each way in which queries may come.

    `flat` is an index of the rows that was made on the way, in so many seconds.
    """

    kind: str
    parameters: dict[str, Any]
    plans: dict[Coming, Plan] = field(default_factory=dict)
    candidates: dict[Coming, Candidate] = field(default_factory=dict)
    flat: FlatIndex | None = None
    flat_seconds: float = 0.0

    @property
    def reused(self) -> bool:
        """Whether the index is the one that was made on the way."""
        return self.kind == "flat" and self.flat is not None

    def index(self, signatures: Signatures) -> HammingIndex:
        """Return the index of the rows that it was chosen for."""
        if self.flat is not None and self.reused:
            return self.flat
        made: HammingIndex = make_index(self.kind, signatures, self.parameters)
        return made

    def __str__(self) -> str:
        """Say what was chosen and what is expected of it."""
        if not self.candidates:
            return self.kind
        given = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        of = ", ".join(dict.fromkeys(each.method for plan in self.plans.values() for each in plan.best))
        taken = " and ".join(f"{show_seconds(1000 * self.seconds(coming))} {_HOW[coming]}" for coming in self.candidates)
        held = show_size(next(iter(self.candidates.values())).estimate.bytes.heap)
        return f"{self.kind}{f' ({given})' if given else ''} of {of}: 1,000 queries are to take {taken}, exact, with {held}"

    def seconds(self, coming: Coming) -> float:
        """Return what a query is expected to take."""
        return _of_query(self.candidates[coming], coming)

    def to_dict(self) -> dict[str, Any]:
        """Return what was chosen and what is expected of it as plain data."""
        said = {"kind": self.kind, "parameters": self.parameters}
        if not self.candidates:
            return said
        (candidate, *_) = self.candidates.values()
        expected, wish = candidate.estimate, next(iter(self.plans.values())).wish
        return said | {
            "asked": {"k": wish.k, "radius": wish.radius},
            "recall": expected.recall,
            "build_seconds": expected.build,
            "query_seconds": {coming: self.seconds(coming) for coming in self.candidates},
            "bytes": vars(expected.bytes),
            "considered": {
                coming: [[each.method, dict(each.parameters), _of_query(each, coming)] for each in plan.best]
                for coming, plan in self.plans.items()
            },
        }


def choose_index(signatures: Signatures, asking: Asking | None = None, machine: Machine | None = None) -> Chosen:
    """Return the exact kind that is to answer queries like the rows fastest, single ones and batches.

    Where no kind is the fastest for both, it is the one that is farthest from the fastest by the least factor.

    >>> rows = np.random.default_rng(0).integers(0, 2**63, 5000, dtype=np.uint64)
    >>> choose_index(Signatures(rows)).kind, choose_index(Signatures(rows), Asking(radius=3, queries="batch")).kind
    ('flat', 'blocks')
    """
    asking, machine, begin = asking or Asking(), machine or load_machine(), time.perf_counter()
    flat = FlatIndex(signatures)
    made: dict[str, Any] = {"flat": flat, "flat_seconds": time.perf_counter() - begin}
    if not len(signatures):
        return Chosen(kind="flat", parameters={}, **made)
    facts = facts_of_rows(flat, signatures, asking)
    methods = {name: METHODS[name] for name in EXACT}
    plans = {coming: choose(_wish(signatures, asking, coming), facts, machine, methods) for coming in _coming(asking)}
    fitting = {
        coming: {_named(each): each for each in plan.candidates if not missed(plan.wish, each)}
        for coming, plan in plans.items()
    }
    best = {
        coming: min((_of_query(each, coming) for each in found.values()), default=0.0)
        for coming, found in fitting.items()
    }
    names = [_named(each) for plan in plans.values() for each in (plan.chosen, *plan.candidates) if each is not None]
    common = [name for name in dict.fromkeys(names) if all(name in found for found in fitting.values())]
    if not common:  # more than there is memory for: the smallest says how much it would take
        return Chosen(kind="flat", parameters={}, plans=plans, **made)
    worst = {
        name: max(_of_query(found[name], coming) / best[coming] for coming, found in fitting.items()) for name in common
    }
    least = min(worst.values())
    name = next(name for name in common if worst[name] <= 1.05 * least)
    candidates = {coming: found[name] for coming, found in fitting.items()}
    chosen = next(iter(candidates.values()))
    return Chosen(kind=chosen.method, parameters=dict(chosen.parameters), plans=plans, candidates=candidates, **made)


def facts_of_rows(flat: FlatIndex, signatures: Signatures, asking: Asking) -> Facts:
    """Return how far the answers to queries like the rows are, and how bits are shared, by exact search of a sample."""
    rows, bits = len(signatures), signatures.bits
    count = min(rows, _SAMPLE, max(_COMPARED // (rows * bits), _LEAST))
    own = np.sort(np.random.default_rng(0).choice(rows, count, replace=False))
    asked = Signatures(signatures.words[own], bits)
    shared = sharing(signatures.words, bits)
    if asking.radius is not None and asking.k is None:
        found = _others(flat.within(asked, asking.radius), own)
        return Facts(counted=True, sharing=shared, matches=len(found.rows) / count, distances=_spread(found.distances))
    k = min(asking.k or K, max(rows - 1, 1))
    found = _others(flat.search(asked, _BEYOND * k + 1), own)
    return nearest_facts(found, k, shared)


def nearest_facts(found: Matches, k: int, shared: tuple[tuple[int, float], ...] = ()) -> Facts:
    """Return how far the k nearest are, out of what was found of more than k rows of some queries."""
    places = np.arange(len(found.rows)) - np.repeat(found.offsets[:-1], np.diff(found.offsets))
    enough = np.flatnonzero(np.diff(found.offsets) >= k)
    if not len(enough):
        return Facts(counted=True, sharing=shared)
    last = found.distances[found.offsets[:-1][enough] + k - 1]
    limits = np.full(len(found), -1)
    limits[enough] = last
    as_near = np.count_nonzero(found.distances <= np.repeat(limits, np.diff(found.offsets)))
    return Facts(
        counted=True,
        sharing=shared,
        distances=_spread(found.distances[places < k]),
        nearest=_spread(last),
        tied=as_near / (k * len(enough)) - 1,
        matches=float(k),
    )


def sharing(words: U64, bits: int) -> tuple[tuple[int, float], ...]:
    """Return how many times more often than by chance two rows agree in so many neighbouring bits."""
    step = max(len(words) // _LOOKED_AT, 1)
    some, found = words[::step], list[tuple[int, float]]()
    pairs = len(some) * (len(some) - 1) / 2
    for width in (width for width in _WIDTHS if width <= bits):
        starts = np.linspace(0, bits - width, _WINDOWS).astype(np.int64)
        agreeing = sum(_agreeing(some, int(start), width) for start in starts) / _WINDOWS
        if agreeing < _SURE:
            break
        found.append((width, max(agreeing / (pairs * 2.0**-width), 1.0)))
    return tuple(found)


def _agreeing(words: U64, start: int, width: int) -> int:
    """Return how many pairs of rows have the same bits there; a window does not go beyond its word."""
    word, shift = divmod(start, 64)
    shift = min(shift, 64 - width)
    values = (words[:, word] >> np.uint64(shift)) & np.uint64((1 << width) - 1)
    sizes = np.bincount(values.astype(np.int64), minlength=1 << width)
    return int((sizes * (sizes - 1) // 2).sum())


def _wish(signatures: Signatures, asking: Asking, coming: Coming) -> Wish:
    """Return what is asked, of so many queries that building does not count, within the memory beside the rows."""
    rows, bits, radius = len(signatures), signatures.bits, asking.radius
    k = asking.k or (K if radius is None else None)
    memory = max(physical_memory() - word_bytes(rows, bits), PROGRAM)
    return Wish(
        task="search",
        rows=rows,
        others=_ASKED[coming],
        bits=bits,
        radius=radius if k is None else None,
        k=k,
        memory=memory,
        single=coming == "single",
        threads=thread_count(None),
    )


def _coming(asking: Asking) -> tuple[Coming, ...]:
    return ("single", "batch") if asking.queries is None else (asking.queries,)


def _of_query(candidate: Candidate, coming: Coming) -> float:
    expected = candidate.estimate
    return (expected.seconds - expected.build) / _ASKED[coming]


def _named(candidate: Candidate) -> tuple[str, tuple[tuple[str, Any], ...]]:
    return candidate.method, tuple(sorted(candidate.parameters.items()))


def _others(found: Matches, own: I64) -> Matches:
    """Leave out the rows that were asked for."""
    asked = np.repeat(np.arange(len(found)), np.diff(found.offsets))
    kept = found.rows != own[asked]
    sizes = np.bincount(asked[kept], minlength=len(found))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Matches(offsets, found.rows[kept], found.distances[kept])


def _spread(distances: Any) -> Spread | None:
    values, weights = np.unique(distances, return_counts=True)
    return Spread(values.astype(np.float64), weights.astype(np.float64)) if len(values) else None
