"""The probe index: rows within a small radius, found by likely flips in one header (Sood and Loguinov 2011)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sosie.errors import StorageError, UsageError
from sosie.index.base import Index
from sosie.index.calibration import Calibration, choose_probes
from sosie.index.exclude import without_self
from sosie.index.files import State
from sosie.index.flips import FlipModel
from sosie.index.live import forget_bits, live_bits, more_bits
from sosie.index.probe_run import Header, ProbeRun, header_bits
from sosie.index.probe_search import ProbeSearch, Rows
from sosie.index.room import check_room
from sosie.kernels.tables.vosh import WIDEST
from sosie.types import I64, U64, Matches, Signatures

SHORT = 1024  # a run of fewer rows is merged with the next one
_ROWS = 2**32 - 1
_LIMIT = 1 << 16  # probes of a query that are tried when they are chosen


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
        needed = 4 * (1 << bits) + (24 * signatures.words.shape[1] + 8) * rows
        check_room(f"{rows:,} rows sorted by {bits} bits", needed, "choose a smaller header, or use several indexes")
        super().add(signatures)

    def any_within(self, queries: Signatures, radius: int, *, threads: int | None = None) -> Matches:
        """Return for each query one row within the radius, or none; quicker than `within` where most queries have one.

        Probes are made in rounds, the likeliest first. Of a round that meets some rows the lowest is returned, and that
        was the last round.
        """
        self._check_radius(queries, radius)
        if not len(self) or not len(queries):
            return self._nothing(len(queries))
        search = self._search(radius)
        return self._named(self._stating(search.any(queries, threads), queries, search, True))

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
        self._check_radius(queries, radius)
        places, asked = self._places(queries, self._search(radius, 2**WIDEST), exclude_self, threads)
        probes, reached, measured = choose_probes(places, asked, recall, first=first)
        self.probes = probes
        volatile = queries.volatility is not None
        self._calibration = Calibration(probes, reached, measured, radius, first, self.header_bits, volatile)
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
        self._live = more_bits(self._live, before, rows)

    def _forget(self, rows: I64) -> None:
        forget_bits(self._live, rows)

    def _words(self) -> U64:
        words = np.empty((len(self._ids), -(-self.bits // 64)), np.uint64)
        for run in self._runs:
            run.put_words(words, 0)
        return words

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        search = self._search(self.bits)
        found = search.nearest(queries, k, threads)
        return dataclasses.replace(found, recall=1.0) if search.complete else found

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        search = self._search(radius)
        found = search.lowest(queries, threads) if first else search.all(queries, threads)
        return self._stating(found, queries, search, first)

    def _search(self, radius: int, probes: int | None = None) -> ProbeSearch:
        rows = Rows(self._runs, self._live, self._flips)
        return ProbeSearch(rows, self._header(), self.bits, radius, self._probes if probes is None else probes)

    def _stating(self, found: Matches, queries: Signatures, search: ProbeSearch, first: bool) -> Matches:
        """Return matches with their recall, as far as it is known."""
        known, volatile = self._calibration, queries.volatility is not None
        if search.complete:
            return dataclasses.replace(found, recall=1.0)
        if known is None or search.radius > known.radius:
            return found
        if (len(search.header), first, volatile) != (known.header_bits, known.first, known.volatile):
            return found
        return dataclasses.replace(found, recall=known.recall)

    def _places(
        self, queries: Signatures, search: ProbeSearch, exclude_self: bool, threads: int | None
    ) -> tuple[I64, I64]:
        """Return by which of its probes each match of each query is found, and the queries."""
        if not len(self) or not len(queries):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        found = self._named(search.all(queries, threads))
        if exclude_self:
            found = without_self(found, queries.ids)
        asked = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        differences = self._words_of(found.rows) ^ queries.words[asked]
        return search.places(queries, found.offsets, differences, _LIMIT), asked

    def _words_of(self, rows: I64) -> U64:
        """Return the signatures of some rows without putting all in order."""
        wanted, words = np.unique(rows), np.empty((len(rows), -(-self.bits // 64)), np.uint64)
        for run in self._runs:
            at = np.flatnonzero(np.isin(run.table.rows, wanted.astype(np.uint32)))
            order = np.argsort(run.table.rows[at])
            here = (rows >= run.first) & (rows < run.first + run.count)
            words[here] = run.table.words[at[order[np.searchsorted(run.table.rows[at[order]], rows[here])]]]
        return words

    def _check_radius(self, queries: Signatures, radius: int) -> None:
        self._check(queries)
        if not 0 <= radius <= self.bits:
            raise UsageError(f"radius must be between 0 and {self.bits}, got {radius}")

    def _header(self, rows: int | None = None) -> Header:
        """Return the header for so many rows; None: those that are there."""
        if isinstance(self._given, list):
            return Header.of(np.array(self._given))
        bits = self._given or min(header_bits(len(self._ids) if rows is None else rows), self.bits, WIDEST)
        return Header.of(np.arange(self.bits - bits, self.bits))

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
        self._live = live_bits(first, self._removed)


def _checked_header(header: int | Sequence[int] | None, bits: int) -> int | list[int] | None:
    """Return what says which bits form a header, as JSON has it."""
    if header is None:
        return None
    if isinstance(header, int | np.integer):
        if not 1 <= header <= min(bits, WIDEST):
            raise UsageError(f"a header has 1 to {min(bits, WIDEST)} bits, got header={header}")
        return int(header)
    places = [int(place) for place in header]
    if not 1 <= len(places) <= WIDEST or len(set(places)) < len(places) or not 0 <= min(places) <= max(places) < bits:
        raise UsageError(f"a header is made of 1 to {WIDEST} different bits, each from 0 to {bits - 1}, got {places}")
    return places
