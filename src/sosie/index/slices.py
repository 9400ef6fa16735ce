"""The index of inverted signature slice lists (TOPK 2013; ISSL 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.errors import StorageError, UsageError
from sosie.index.base import State
from sosie.index.hamming import HammingIndex
from sosie.index.ids import RowIds
from sosie.index.slice_search import STOPS, SliceSearch
from sosie.index.slice_store import SliceRows, SliceShape, slice_table
from sosie.index.untrusted import whole
from sosie.kernels.slices.expand import BREADTH as FARTHEST
from sosie.kernels.slices.expand import WORK
from sosie.kernels.slices.rules import CERTAIN, EARLY, Rules
from sosie.kernels.slices.sums import no_proofs, no_scores
from sosie.kernels.slices.top import UNFILLED, slice_certain, slice_top
from sosie.kernels.slices.within import slice_within
from sosie.kernels.tables.hits import concat_hits, room_for_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.planner.methods.slices import BREADTH, WIDTH
from sosie.types import I32, Counters, Matches, Signatures

_ROOM = 1 << 16  # matches that are collected, beside those of one more query, before they are put aside
_Found = tuple[I64, I64, I32, I64]  # sizes by query, rows, distances, work


class SliceIndex(HammingIndex):
    """Approximate search of up to 4096 bits: rows are found in the lists of values near each slice of a query.

    The bits are cut into slices of at most `width` bits (2 to 28). One more bit for every doubling of the rows keeps
    the lists short; the lists take 4 bytes for every slice of every row and for every value of every slice. `effort`
    says how far a search goes (by default 3 bits) that has no effort of its own.

    What it relaxes: `search` compares rows that were seen in some list only, so it may miss some of the k nearest, or
    give fewer than k; `within` gives a part of the exact answer. Distances and order are always true. Both are exact
    at full effort, `breadth=None`, with any rule to stop; `search` where every query stopped by another rule than
    early, and `within` with radius < (breadth + 1) * slices, too. Then the recall is 1, otherwise it is unknown.

    Counters: `lists` and `postings` that were read, `candidates` that were chosen, `comparisons` made (rows that are in
    no list yet included), the largest `breadth`, and `stopped_all`, `stopped_certain`, `stopped_early`: how many
    queries stopped by which rule.

    Rows added later are looked at one by one while they are less than a sixteenth of those in the lists, or few beside
    the number of lists; then all lists are made anew. When that happens never changes a result.

    >>> index = SliceIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64), bits=1 * 64), width=16)
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist(), matches.counters["lists"] == 4 * (1 + 16 + 120 + 560)
    ([0, 1], [1, 1], True)
    """

    def __init__(self, signatures: Signatures, width: int = WIDTH, effort: SliceSearch | None = None) -> None:
        self._shape = SliceShape(signatures.bits, width)
        self._own_effort = SliceSearch(min(BREADTH, self.width)) if effort is None else effort
        self._own_effort.check(self.width)
        super().__init__(signatures)

    @property
    def effort(self) -> SliceSearch:
        """How far a search goes that says nothing else; by default 3 bits in each slice."""
        return self._own_effort

    @property
    def slices(self) -> int:
        """The number of slices of a signature."""
        return len(self._shape.edges) - 1

    @property
    def width(self) -> int:
        """The width of the widest slice."""
        return int(np.diff(self._shape.edges).max())

    def _nothing_stored(self) -> SliceRows:
        return self._shape.nothing

    def _appended(self, state: State, ids: RowIds, values: U64) -> SliceRows:
        return self._shape.appended(state.stored, len(state.ids), ids, values)

    def _check_room(self, rows: int) -> None:
        self._shape.check_room(rows)

    def _words(self, state: State) -> U64:
        stored: SliceRows = state.stored
        return stored.words[: len(state.ids)]

    def _chosen(self, effort: Any) -> SliceSearch:
        if effort is None:
            return self._own_effort
        if not isinstance(effort, SliceSearch):
            raise UsageError(f"the effort of a SliceIndex is a SliceSearch, got {effort!r}")
        effort.check(self.width)
        return effort

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        stored: SliceRows = state.stored
        arrays: dict[str, Any] = {"words": self._words(state)}
        if stored.lists is not None:
            arrays |= {"list_offsets": stored.lists.offsets, "list_rows": stored.lists.rows}
        parameters = {"width": self._shape.width, "listed": stored.listed, "effort": asdict(self._own_effort)}
        return {**super()._saved(state)[0], **parameters}, arrays

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        super()._restored(ids, parameters, arrays)
        self._shape = SliceShape(self.bits, whole("width", parameters["width"], 1, self.bits + 28))
        if any(type(value) not in (int, str, type(None)) for value in parameters["effort"].values()):
            raise StorageError("the effort is not in whole numbers")
        self._own_effort = SliceSearch(**parameters["effort"])
        self._own_effort.check(self.width)
        return self._shape.restored(len(ids), parameters, arrays)

    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        table, reach, rows = slice_table(state), effort.reach(self.width), len(state.ids)
        compared = min(max(effort.candidates, k), rows)
        shape = k, len(state), self.bits, self.slices
        rules = Rules(*shape, STOPS[effort.stop], compared, effort.distance == "optimistic")

        def run(part: U64) -> _Found:
            best = np.full((len(part), k), UNFILLED)
            if rules.stop == EARLY:
                work = slice_top(table, read_only(part), reach, compared, no_scores(rows), best)
            else:
                work = slice_certain(table, read_only(part), reach, rules, no_proofs(rows), best)
            found = best != UNFILLED
            keys = best[found]
            return found.sum(axis=1), keys & (2**48 - 1), (keys >> 48).astype(np.int32), work

        found = _joined([*ordered_map(run, _parts(queries.words, threads), threads)])
        all_told = reach.admit == self.width or found.counters["candidates"] == len(queries) * len(state)
        return replace(found, recall=1.0 if all_told or not found.counters["stopped_early"] else None)

    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        table, reach = slice_table(state), effort.reach_within(self.width, self.slices, radius)
        rows = len(state.ids)
        exact = radius < (reach.breadth + 1) * self.slices

        def run(part: U64) -> _Found:
            work = np.zeros(len(WORK), np.int64)
            work[CERTAIN if exact else EARLY] = len(part)
            sums, room, pieces, query = no_scores(rows), room_for_hits(_ROOM + rows), [], 0
            while query < len(part):
                query, count = slice_within(table, read_only(part), query, (radius, reach, first), sums, room, work)
                pieces.append(take_hits(room, slice(count)))
            offsets, found, distances = sort_hits(concat_hits(pieces), len(part), self.bits)
            return np.diff(offsets), found, distances, work

        matches = _joined([*ordered_map(run, _parts(queries.words, threads), threads)])
        return replace(matches, recall=1.0 if exact else None)


def _parts(queries: U64, threads: int | None) -> list[U64]:
    """Cut the queries into a few parts for each thread."""
    return np.array_split(queries, min(len(queries), 4 * thread_count(threads)))


def _joined(found: list[_Found]) -> Matches:
    sizes, rows, distances, work = zip(*found, strict=True)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return Matches(offsets, np.concatenate(rows), np.concatenate(distances), None, _counters(np.array(work)))


def _counters(work: I64) -> Counters:
    total = work.sum(axis=0)
    total[FARTHEST] = work[:, FARTHEST].max()
    return dict(zip(WORK, total.tolist(), strict=True))
