"""The probe index: rows within a small radius, found by likely flips in one header (Sood and Loguinov 2011)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sosie.errors import StorageError, UsageError
from sosie.index.base import Index
from sosie.index.calibration import Calibration, choose_probes
from sosie.index.exclude import without_self
from sosie.index.files import State
from sosie.index.flips import FlipModel, checked_volatility, flip_costs
from sosie.index.probe_run import Header, ProbeRun, header_bits
from sosie.kernels.arrays import U32, read_only
from sosie.kernels.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.kernels.parallel import ordered_map, thread_count
from sosie.kernels.probe_tables import Asked, headers_of, probe, scan
from sosie.kernels.vosh import WIDEST, flip_places, write_flips
from sosie.kernels.vosh_few import FEW, few_sets, write_few_flips
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import F32, I32, I64, U64, Matches, Signatures, offsets_of

SHORT = 1024  # a run of fewer rows is merged with the next one
_ROWS = 2**32 - 1
_TILE = 1024  # queries of one piece of work,
_FLIPS = 1 << 20  # which has about so many probes
_LIMIT = 1 << 16  # probes of a query that are tried when they are chosen
_ROUND = 4  # each round of a search for any row has so many times the probes of all before it


class _Plan(NamedTuple):
    """What a search does: headers of which bits, how many flips at most, how many probes, and whether that is all."""

    header: Header
    radius: int
    most: int
    probes: int
    complete: bool


class _Tile(NamedTuple):
    """Some queries: their words, and the sums behind their bits if these are known."""

    words: U64
    sums: F32 | None


class ProbeIndex(Index):
    """Approximate search within a small radius, in little more memory than the signatures take (PSM 2011).

    There is one copy of the signatures, sorted by a header of t of their bits that is an address. A query looks at the
    rows with its own header, then at those with some of its bits flipped: `probes` times, the likeliest flips first.
    What is likely the query says: `queries.volatility`, the sums behind its bits (`sign(volatility=True)`). Small sums
    flip first; with `flips` sets of bits are ordered by their probability instead of the sum of |W|. Without
    volatility all bits are equally likely, and far more probes are needed.

    `header` is t, for the top t bits, or the bits themselves, by number (the last one given leads). By default it is
    log2 of the number of rows, rounded, and grows with it. It takes 4 * 2^t bytes; beside it are the signatures, and
    4 bytes for the number of each row. A direct address needs well-mixed bits: `skew` is the mean number of rows that
    a row shares its header with, itself included; by chance that is 1 + rows / 2^t.

    What it relaxes: `within` gives those rows of the exact answer whose header is probed; `first` the lowest of them.
    `search` gives the nearest of all rows in probed buckets, and fewer than k where there are fewer. More probes find
    all that fewer find, and all sets of flips are exact: 2^t - 1 probes; `within` needs no more flips than the radius.
    `any_within` stops at the first row that it meets. `matches.recall` is what `calibrate` measured, for searches
    within the radius it was asked for; None for others, and after the header has grown.

    Added rows form a run, sorted by itself, which is merged with the one before as soon as that is less than twice as
    long; no result depends on the runs. Counters: `probes` made, and `comparisons` with rows found by them.

    >>> sums = np.array([[-0.1] + [2.0] * 63], np.float32)
    >>> index = ProbeIndex(Signatures(np.array([2**64 - 1, 2**64 - 2, 7], np.uint64)), probes=1, header=[0, 1])
    >>> matches = index.within(Signatures(np.array([2**64 - 2], np.uint64), volatility=sums), radius=1)
    >>> matches.rows.tolist(), matches.distances.tolist(), matches.counters["probes"], matches.recall
    ([1, 0], [0, 1], 2, None)
    """

    def __init__(
        self,
        signatures: Signatures,
        probes: int = 16,
        header: int | Sequence[int] | None = None,
        flips: FlipModel | None = None,
    ) -> None:
        self._given = _checked_header(header, signatures.bits)
        self._flips = flips
        self.probes = probes
        self._runs: list[ProbeRun] = []
        self._live = np.empty(0, np.uint64)
        super().__init__(signatures)

    @property
    def probes(self) -> int:
        """How many sets of flips are tried, beside the header as it is; another number has no known recall."""
        return self._probes

    @probes.setter
    def probes(self, probes: int) -> None:
        if probes < 0:
            raise UsageError(f"probes must be at least 0, got {probes}")
        self._probes = probes
        self._calibration: Calibration | None = None

    @property
    def calibration(self) -> Calibration | None:
        """What `calibrate` found, None before."""
        return self._calibration

    @property
    def header_bits(self) -> int:
        """The number of bits in a header."""
        return len(self._header())

    @property
    def skew(self) -> float:
        """The mean number of rows that a row shares its header with: sum of squares of buckets over rows."""
        rows = sum(run.count for run in self._runs)
        return sum(run.squares() for run in self._runs) / max(rows, 1)

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        if rows > _ROWS:
            raise UsageError(f"a ProbeIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        bits = len(self._header(rows))
        needed, there = 4 * (1 << bits) + (16 * signatures.words.shape[1] + 4) * rows, physical_memory()
        if needed > there:
            raise UsageError(
                f"sorting {rows:,} rows by {bits} bits needs about {show_size(needed)} of memory, and this machine has "
                f"{show_size(there)}: choose a smaller header, or use several indexes"
            )
        super().add(signatures)

    def any_within(self, queries: Signatures, radius: int, *, threads: int | None = None) -> Matches:
        """Return for each query one row within the radius, whichever is met first, or none: quicker than `within`.

        Probes are made in rounds, and of a round that meets something the lowest row is returned.
        """
        plan = self._plan(self._checked(queries, radius))
        if not len(self) or not len(queries):
            return self._nothing(len(queries))
        parts = self._by_tile(lambda tile: self._meet(tile, plan), queries, plan, threads)
        return self._named(_joined(parts, self._stated(queries, plan, True)))

    def calibrate(
        self,
        queries: Signatures,
        radius: int,
        recall: float = 0.95,
        *,
        first: bool = False,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Calibration:
        """Choose how many probes find the share `recall` of all matches of a sample of queries, and use it from now on.

        With `first`, something is to be found for that share of the queries that have a match. The sample should be
        like the queries to come; all its matches are looked for. Half of it chooses the number of probes, the other
        half measures the recall that is stated from then on. With `exclude_self`, rows that have the id of their query
        are no matches.
        """
        if not 0 < recall <= 1:
            raise UsageError(f"recall must be above 0 and at most 1, got {recall}")
        plan = self._plan(self._checked(queries, radius), _ROWS)
        places, asked = self._places(queries, plan, exclude_self, threads)
        probes, reached, measured = choose_probes(places, asked, recall, first=first)
        self.probes = probes
        volatile = queries.volatility is not None
        self._calibration = Calibration(probes, reached, measured, radius, first, len(plan.header), volatile)
        return self._calibration

    def _append(self, words: U64) -> None:
        before = sum(run.count for run in self._runs)
        begin, rows, runs = before, before + len(words), list(self._runs)
        while runs and runs[-1].count < max(SHORT, 2 * (rows - begin)):
            begin = runs.pop().first
        if begin < before:
            longer = np.empty((rows - begin, words.shape[1]), np.uint64)
            for run in self._runs[len(runs) :]:
                run.put_words(longer, begin)
            longer[before - begin :] = words
            words = longer
        self._runs = [*runs, ProbeRun.of(words, begin, self._header())]
        self._live = _live(rows, self._removed)

    def _forget(self, rows: I64) -> None:
        np.bitwise_and.at(self._live, rows // 64, ~(np.uint64(1) << (rows % 64).astype(np.uint64)))

    def _words(self) -> U64:
        words = np.empty((len(self._ids), -(-self.bits // 64)), np.uint64)
        for run in self._runs:
            run.put_words(words, 0)
        return words

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        plan = self._plan(self.bits)

        def nearest(tile: _Tile) -> Matches:
            found = self._find(tile, plan)
            sizes = np.minimum(np.diff(found.offsets), k)
            offsets = offsets_of(sizes)
            places = np.arange(offsets[-1]) + np.repeat(found.offsets[:-1] - offsets[:-1], sizes)
            return Matches(offsets, found.rows[places], found.distances[places], None, found.counters)

        parts = self._by_tile(nearest, queries, plan, threads)
        return _joined(parts, 1.0 if plan.complete else None)

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        plan = self._plan(radius)
        parts = self._by_tile(lambda tile: self._find(tile, plan, first), queries, plan, threads)
        return _joined(parts, self._stated(queries, plan, first))

    def _checked(self, queries: Signatures, radius: int) -> int:
        self._check(queries)
        if not 0 <= radius <= self.bits:
            raise UsageError(f"radius must be between 0 and {self.bits}, got {radius}")
        return radius

    def _header(self, rows: int | None = None) -> Header:
        """Return the header for so many rows; None: those that are there."""
        if isinstance(self._given, list):
            return Header.of(np.array(self._given))
        bits = self._given or min(header_bits(len(self._ids) if rows is None else rows), self.bits, WIDEST)
        return Header.of(np.arange(self.bits - bits, self.bits))

    def _plan(self, radius: int, probes: int | None = None) -> _Plan:
        header = self._header()
        most = min(radius, len(header))
        sets = sum(math.comb(len(header), flipped) for flipped in range(most + 1))
        probes = self._probes if probes is None else probes
        return _Plan(header, radius, most, min(probes + 1, sets), probes + 1 >= sets)

    def _stated(self, queries: Signatures, plan: _Plan, first: bool) -> float | None:
        known = self._calibration
        if plan.complete:
            return 1.0
        if known is None or plan.radius > known.radius or len(plan.header) != known.header_bits:
            return None
        return known.recall if (first, queries.volatility is not None) == (known.first, known.volatile) else None

    def _by_tile(
        self, run: Callable[[_Tile], Matches], queries: Signatures, plan: _Plan, threads: int | None
    ) -> list[Matches]:
        sums, size = checked_volatility(queries), min(_TILE, 1 + _FLIPS // plan.probes)

        def task(start: int) -> Matches:
            here = slice(start, start + size)
            words = read_only(queries.words[here])
            return run(_Tile(words, None if sums is None else read_only(sums[here])))

        starts = range(0, len(queries), size)
        return list(ordered_map(task, starts, min(thread_count(threads), len(starts))))

    def _find(self, tile: _Tile, plan: _Plan, first: bool = False) -> Matches:
        """Find all rows that the probes of some queries lead to, or the lowest of each, on one thread."""
        if plan.complete and plan.probes > len(self._ids):
            found = [scan(run.table, read_only(self._live), tile.words, plan.radius) for run in self._runs]
        else:
            found = self._probe(tile, plan, self._flipped(tile, plan, plan.probes))
        hits = _by_row([hits for hits, _ in found], first)
        counters = {"comparisons": sum(work for _, work in found), "probes": len(tile.words) * plan.probes}
        return Matches(*sort_hits(hits, len(tile.words), self.bits), None, counters)

    def _meet(self, tile: _Tile, plan: _Plan) -> Matches:
        """Find one row of each query, in rounds of more and more probes, on one thread."""
        waiting, met = np.arange(len(tile.words)), []
        start, stop, work, probes = 0, 1, 0, 0
        while len(waiting) and start < plan.probes:
            part = _Tile(read_only(tile.words[waiting]), None if tile.sums is None else read_only(tile.sums[waiting]))
            found = self._probe(part, plan, np.ascontiguousarray(self._flipped(part, plan, stop)[:, start:]))
            hits = _by_row([hits for hits, _ in found], True)
            work, probes = work + sum(work for _, work in found), probes + len(waiting) * (stop - start)
            met.append(Hits(waiting[hits.queries].astype(np.int32), hits.rows, hits.distances))
            waiting = np.delete(waiting, hits.queries)
            start, stop = stop, min(_ROUND * stop, plan.probes)
        found_rows = sort_hits(concat_hits(met), len(tile.words), self.bits)
        return Matches(*found_rows, None, {"comparisons": work, "probes": probes})

    def _flipped(self, tile: _Tile, plan: _Plan, probes: int) -> U32:
        if probes == 1:
            return np.zeros((len(tile.words), 1), np.uint32)
        flips = np.empty((len(tile.words), probes), np.uint32)
        if probes <= FEW:
            write_few_flips(self._costs(tile, plan), few_sets(probes, len(plan.header), plan.most), flips)
        else:
            write_flips(self._costs(tile, plan), plan.most, flips)
        return flips

    def _costs(self, tile: _Tile, plan: _Plan) -> I32:
        if tile.sums is None:
            return np.ones((len(tile.words), len(plan.header)), np.int32)
        return flip_costs(tile.sums, plan.header.places, self._flips)

    def _probe(self, tile: _Tile, plan: _Plan, flips: U32) -> list[tuple[Hits, int]]:
        moves, live = plan.header.moves, read_only(self._live)
        asked = Asked(tile.words, headers_of(tile.words, moves), flips)
        return [probe(run.table, live, asked, moves, plan.radius, len(plan.header)) for run in self._runs]

    def _places(self, queries: Signatures, plan: _Plan, exclude_self: bool, threads: int | None) -> tuple[I64, I64]:
        """Return by which of its probes each match of each query is found, and the queries."""
        if not len(self) or not len(queries):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        found = self._named(_joined(self._by_tile(lambda tile: self._find(tile, plan), queries, plan, threads), 1.0))
        if exclude_self:
            found = without_self(found, queries.ids)
        sums = checked_volatility(queries)
        tile = _Tile(queries.words, None if sums is None else read_only(sums))
        asked = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        words = read_only(self._words()[found.rows] ^ queries.words[asked])
        limit = min(plan.probes - 1, _LIMIT)
        differences = headers_of(words, plan.header.moves)
        return flip_places(self._costs(tile, plan), plan.most, found.offsets, differences, limit), asked

    def _state(self) -> State:
        parameters = {
            "probes": self._probes,
            "header": self._given,
            "flip_step": None if self._flips is None else self._flips.step,
            "calibration": None if self._calibration is None else dataclasses.asdict(self._calibration),
            "runs": [{"first": run.first, "count": run.count} for run in self._runs],
        }
        arrays = {f"run{i}_{name}": array for i, run in enumerate(self._runs) for name, array in run.arrays().items()}
        return parameters, arrays if self._flips is None else {**arrays, "flip_costs": self._flips.costs}

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self._given = _checked_header(parameters["header"], self.bits)
        step = parameters["flip_step"]
        self._flips = None if step is None else FlipModel.restored(step, arrays["flip_costs"])
        self.probes = parameters["probes"]
        if parameters["calibration"] is not None:
            self._calibration = Calibration(**parameters["calibration"])
        self._runs, first, shape = [], 0, (self.header_bits, -(-self.bits // 64))
        for i, run in enumerate(parameters["runs"]):
            if run["first"] != first or not 0 < run["count"] <= len(self._ids) - first:
                raise StorageError("the runs do not follow each other")
            named = {name: arrays[f"run{i}_{name}"] for name in ("words", "rows", "starts")}
            self._runs.append(ProbeRun.restored(first, run["count"], shape, named))
            first += run["count"]
        if first != len(self._ids):
            raise StorageError("the runs do not hold all rows")
        self._live = _live(first, self._removed)


def _checked_header(header: int | Sequence[int] | None, bits: int) -> int | list[int] | None:
    """Return what says which bits form a header, as JSON has it."""
    if header is None:
        return None
    if isinstance(header, int):
        if not 1 <= header <= min(bits, WIDEST):
            raise UsageError(f"a header has 1 to {min(bits, WIDEST)} bits, got header={header}")
        return header
    places = [int(place) for place in header]
    if not 1 <= len(places) <= WIDEST or len(set(places)) < len(places) or not 0 <= min(places) <= max(places) < bits:
        raise UsageError(f"a header is made of 1 to {WIDEST} different bits, each from 0 to {bits - 1}, got {places}")
    return places


def _live(rows: int, removed: I64) -> U64:
    """Return a bit for each row that has not been removed."""
    live = np.full(-(-rows // 64), ~np.uint64(0))
    np.bitwise_and.at(live, removed // 64, ~(np.uint64(1) << (removed % 64).astype(np.uint64)))
    return live


def _by_row(found: list[Hits], first: bool) -> Hits:
    """Return matches by row, or only the lowest row of each query."""
    hits = concat_hits(found)
    hits = take_hits(hits, np.argsort(hits.rows, kind="stable"))
    return take_hits(hits, np.unique(hits.queries, return_index=True)[1]) if first else hits


def _joined(parts: list[Matches], recall: float | None) -> Matches:
    offsets = offsets_of(np.concatenate([np.diff(found.offsets) for found in parts]))
    rows, distances = (np.concatenate([getattr(found, name) for found in parts]) for name in ("rows", "distances"))
    counters = {name: sum(found.counters[name] for found in parts) for name in ("comparisons", "probes")}
    return Matches(offsets, rows, distances, None, counters, recall)
