"""The probe index: rows within a small radius, found by likely flips in one header (Sood and Loguinov 2011)."""

from __future__ import annotations

import copy
import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError, UsageError
from sosie.index.answers import without_self
from sosie.index.base import State, check_room
from sosie.index.flips import FlipModel
from sosie.index.hamming import HammingIndex
from sosie.index.ids import RowIds
from sosie.index.probe_run import ProbeHeader, ProbeRun
from sosie.index.probe_search import Calibration, ProbeSearch, choose_probes
from sosie.index.probing import ProbedRows, Probing
from sosie.index.segments import Segments, with_rows_of
from sosie.index.untrusted import check_padding, whole
from sosie.kernels.tables.probes import ProbeTable
from sosie.kernels.tables.vosh import WIDEST
from sosie.planner.constants.search import SHORT_RUN as SHORT
from sosie.planner.methods.probes import least_room, shape
from sosie.types import I64, U64, Matches, Signatures

_ROWS = 2**32 - 1
_MANY = 1 << 20  # probes of a query that nobody asks for, unless for all of them
_LIMIT = 1 << 16  # probes of a query that are tried when they are chosen


class ProbeIndex(HammingIndex):
    """Approximate search within a small radius, in little more memory than the signatures take (PSM 2011).

    There is one copy of the signatures, sorted by a header of t of their bits that is an address. A query looks at the
    rows with its own header, then at those with some of its bits flipped: so many `probes`, the likeliest flips first.
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
    `any_within` stops at the first row that it meets. How many are probed is the `effort` of the index, or of a single
    search: `ProbeSearch(probes)`, by default 16, or what `calibrate` returns. With that, `matches.recall` is what was
    measured, for searches within the radius it was asked for; None for others, and after the header has grown.

    Added rows form a run, sorted by itself, which is merged with the one before as soon as that is less than twice as
    long; no result depends on the runs. Counters: `probes` made, and `comparisons` with rows found by them.

    >>> sums = np.array([[-0.1] + [2.0] * 63], np.float32)
    >>> index = ProbeIndex(Signatures(np.array([2**64 - 1, 2**64 - 2, 7], np.uint64)), ProbeSearch(1), header=[0, 1])
    >>> matches = index.within(Signatures(np.array([2**64 - 2], np.uint64), volatility=sums), radius=1)
    >>> matches.rows.tolist(), matches.distances.tolist(), matches.counters["probes"], matches.recall
    ([1, 0], [0, 1], 2, None)
    """

    def __init__(
        self,
        signatures: Signatures,
        effort: ProbeSearch | None = None,
        header: int | Sequence[int] | None = None,
        flips: FlipModel | None = None,
    ) -> None:
        self._given = _checked_header(header, signatures.bits)
        self._flips = flips
        self._own_effort = self._chosen(ProbeSearch() if effort is None else effort)
        super().__init__(signatures)

    @property
    def effort(self) -> ProbeSearch:
        """How far a search goes that says nothing else, as the index was built with it."""
        return self._own_effort

    @property
    def header_bits(self) -> int:
        """The number of bits in a header."""
        return len(self._header(len(self._state.ids)))

    @property
    def skew(self) -> float:
        """The mean number of rows that a row shares its header with: sum of squares of buckets over rows."""
        runs: Segments[ProbeRun] = self._state.stored
        return sum(run.squares() for run in runs) / max(runs.rows, 1)

    def tuned(self, effort: ProbeSearch | None = None, flips: FlipModel | None = None) -> ProbeIndex:
        """Return an index of the same rows, as they are now, with another effort or another model of flips.

        An effort that was calibrated with other flips says nothing any more: with `flips` alone it is the default.
        """
        other = copy.copy(self)
        other._lock = threading.Lock()
        other._flips = self._flips if flips is None else flips
        if effort is not None:
            other._own_effort = self._chosen(effort)
        elif flips is not None:
            other._own_effort = ProbeSearch()
        return other

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
        """Return how many probes find the share `recall` of all matches of a sample of queries: the effort of searches.

        With `first`, something is to be found for that share of the queries that have a match. The sample should be
        like the queries to come; all its matches are looked for. Half of it chooses the number of probes, the other
        half measures the recall that searches with this effort state. With `exclude_self`, rows that have the id of
        their query are no matches.
        """
        if not 0 < recall <= 1:
            raise UsageError(f"recall must be above 0 and at most 1, got {recall}")
        self._check_radius(queries, radius)
        state = self._state
        search = self._search(state, radius, ProbeSearch(2**WIDEST))
        places, asked = _places(state, queries, search, exclude_self, threads)
        probes, reached, measured = choose_probes(places, asked, recall, first=first)
        volatile = queries.volatility is not None
        return Calibration(probes, reached, measured, radius, first, len(search.header), volatile)

    def _nothing_stored(self) -> Segments[ProbeRun]:
        return Segments()

    def _appended(self, state: State, ids: RowIds, values: U64) -> Segments[ProbeRun]:
        runs: Segments[ProbeRun] = state.stored
        header = self._header(len(ids))

        def build(first: int, merged: tuple[ProbeRun, ...]) -> ProbeRun:
            return ProbeRun.of(with_rows_of(merged, values) if merged else values, first, header)

        return runs.grown(len(values), build, SHORT)

    def _check_room(self, rows: int) -> None:
        if rows > _ROWS:
            raise UsageError(f"a ProbeIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")
        bits = len(self._header(rows))
        needed = least_room(rows, self.bits, bits)
        check_room(f"{rows:,} rows sorted by {bits} bits", needed, "choose a smaller header, or use several indexes")

    def _words(self, state: State) -> U64:
        words = np.empty((len(state.ids), -(-self.bits // 64)), np.uint64)
        for run in state.stored:
            run.put_rows(words, 0)
        return words

    def _chosen(self, effort: Any) -> ProbeSearch:
        if effort is None:
            return self._own_effort
        if not isinstance(effort, ProbeSearch):
            raise UsageError(f"the effort of a ProbeIndex is a ProbeSearch or a Calibration, got {effort!r}")
        return effort

    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        search = self._search(state, self.bits, effort)
        found = search.nearest(queries, k, threads)
        return dataclasses.replace(found, recall=1.0) if search.complete else found

    def _any(self, state: State, queries: Signatures, radius: int, effort: Any, threads: int | None) -> Matches:
        """Find one row for each query, in rounds of probes, the likeliest first; a round that meets some is the last.

        Of these rows the lowest is returned.
        """
        search = self._search(state, radius, effort)
        return _stating(search.any(queries, threads), queries, search, effort, True)

    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        search = self._search(state, radius, effort)
        found = search.lowest(queries, threads) if first else search.all(queries, threads)
        return _stating(found, queries, search, effort, first)

    def _search(self, state: State, radius: int, effort: ProbeSearch) -> Probing:
        rows = ProbedRows(tuple(state.stored), read_only(state.ids.live), self._flips)
        return Probing(rows, self._header(len(state.ids)), self.bits, radius, effort.probes)

    def _header(self, rows: int) -> ProbeHeader:
        """Return the header for so many rows."""
        if isinstance(self._given, list):
            return ProbeHeader.of(np.array(self._given))
        bits = self._given or shape(self.bits, rows)
        return ProbeHeader.of(np.arange(self.bits - bits, self.bits))

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        runs: Segments[ProbeRun] = state.stored
        effort, flips = self._own_effort, self._flips
        parameters = {
            **super()._saved(state)[0],
            "probes": effort.probes,
            "header": self._given,
            "flip_step": None if flips is None else flips.step,
            "calibration": dataclasses.asdict(effort) if isinstance(effort, Calibration) else None,
            "runs": [{"first": run.first, "count": len(run)} for run in runs],
        }
        arrays = runs.arrays()
        return parameters, arrays if flips is None else {**arrays, "flip_costs": flips.costs}

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        super()._restored(ids, parameters, arrays)
        self._given = _saved_header(parameters["header"], self.bits)
        step, known = parameters["flip_step"], parameters["calibration"]
        self._flips = None if step is None else FlipModel(step, arrays["flip_costs"])
        shape = len(self._header(len(ids))), -(-self.bits // 64)
        self._own_effort = ProbeSearch(parameters["probes"]) if known is None else _saved_calibration(known)
        if _MANY < self._own_effort.probes < 2 ** shape[0] - 1:
            raise StorageError(f"{self._own_effort.probes} probes, which would take minutes")

        def restore(first: int, count: int, saved: Any, own: Any) -> ProbeRun:
            run = ProbeRun.restored(first, count, shape, own)
            check_padding(run.table.words, self.bits)
            return run

        return Segments.restored(parameters["runs"], len(ids), arrays, ProbeTable._fields, restore)


def _stating(found: Matches, queries: Signatures, search: Probing, effort: ProbeSearch, first: bool) -> Matches:
    """Return matches with their recall, as far as it is known."""
    if search.complete:
        return dataclasses.replace(found, recall=1.0)
    asked = search.radius, first, len(search.header), queries.volatility is not None
    if isinstance(effort, Calibration) and effort.holds(*asked):
        return dataclasses.replace(found, recall=effort.recall)
    return found


def _places(
    state: State, queries: Signatures, search: Probing, exclude_self: bool, threads: int | None
) -> tuple[I64, I64]:
    """Return by which of its probes each match of each query is found, and the queries."""
    if not len(state) or not len(queries):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    found = state.named(search.all(queries, threads))
    if exclude_self:
        found = without_self(found, queries.ids)
    asked = np.repeat(np.arange(len(found)), np.diff(found.offsets))
    differences = _words_of(state.stored, found.rows, queries.words.shape[1]) ^ queries.words[asked]
    return search.places(queries, found.offsets, differences, _LIMIT), asked


def _words_of(runs: Segments[ProbeRun], rows: I64, width: int) -> U64:
    """Return the signatures of some rows without putting all in order."""
    wanted, words = np.unique(rows), np.empty((len(rows), width), np.uint64)
    for run in runs:
        at = np.flatnonzero(np.isin(run.table.rows, wanted.astype(np.uint32)))
        order = np.argsort(run.table.rows[at])
        here = (rows >= run.first) & (rows < run.first + len(run))
        words[here] = run.table.words[at[order[np.searchsorted(run.table.rows[at[order]], rows[here])]]]
    return words


def _saved_calibration(saved: Mapping[str, Any]) -> Calibration:
    names = {each.name for each in dataclasses.fields(Calibration)}
    if saved.keys() != names:
        raise StorageError(f"a calibration of {', '.join(sorted(saved))}")
    for name in ("probes", "measured", "radius", "header_bits"):
        whole(name, saved[name], 0, 2**62)
    flags = type(saved["first"]) is type(saved["volatile"]) is bool
    if not flags or type(saved["recall"]) is not float or not 0 <= saved["recall"] <= 1:
        raise StorageError("a calibration without a recall from 0 to 1")
    return Calibration(**saved)


def _saved_header(header: Any, bits: int) -> int | list[int] | None:
    """Return a header that comes from a file."""
    for place in header if isinstance(header, list) else [] if header is None else [header]:
        whole("header", place, 0, bits)
    return _checked_header(header, bits)


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
