"""The index of inverted signature slice lists (TOPK 2013; ISSL 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.errors import StorageError
from sosie.index.base import Index
from sosie.index.files import State
from sosie.index.slice_search import STOPS, SliceSearch
from sosie.index.slice_store import SliceStore
from sosie.kernels.slices.expand import BREADTH, WORK
from sosie.kernels.slices.rules import CERTAIN, EARLY, Rules
from sosie.kernels.slices.sums import no_proofs, no_scores
from sosie.kernels.slices.top import UNFILLED, slice_certain, slice_top
from sosie.kernels.slices.within import slice_within
from sosie.kernels.tables.hits import concat_hits, room_for_hits, sort_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.types import I32, Counters, Matches, Signatures

_ROOM = 1 << 16  # matches that are collected, beside those of one more query, before they are put aside
_Found = tuple[I64, I64, I32, I64]  # sizes by query, rows, distances, work


class SliceIndex(Index):
    """Approximate search of up to 4096 bits: rows are found in the lists of values near each slice of a query.

    The bits are cut into slices of at most `width` bits (2 to 28). One more bit for every doubling of the rows keeps
    the lists short; the lists take 4 bytes for every slice of every row and for every value of every slice. `effort`
    says how far a search goes (by default 3 bits), and may be replaced at any time.

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

    def __init__(self, signatures: Signatures, width: int = 16, effort: SliceSearch | None = None) -> None:
        self._store = SliceStore(signatures.bits, width)
        self.effort = SliceSearch(min(3, self.width)) if effort is None else effort
        super().__init__(signatures)

    @property
    def effort(self) -> SliceSearch:
        """How far a search goes; by default 3 bits in each slice."""
        return self._effort

    @effort.setter
    def effort(self, effort: SliceSearch) -> None:
        effort.check(self.width)
        self._effort = effort

    @property
    def slices(self) -> int:
        """The number of slices of a signature."""
        return len(self._store.edges) - 1

    @property
    def width(self) -> int:
        """The width of the widest slice."""
        return int(np.diff(self._store.edges).max())

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        self._store.check_room(len(signatures))
        super().add(signatures)

    def _append(self, words: U64) -> None:
        self._store.append(words)

    def _forget(self, rows: I64) -> None:
        self._store.forget(rows)

    def _words(self) -> U64:
        return self._store.words

    def _state(self) -> State:
        parameters, arrays = self._store.state()
        return {**parameters, "effort": asdict(self.effort)}, arrays

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self._store = SliceStore.restored((len(self._ids), self._removed), self.bits, parameters, arrays)
        if any(type(value) not in (int, str, type(None)) for value in parameters["effort"].values()):
            raise StorageError("the effort is not in whole numbers")
        self.effort = SliceSearch(**parameters["effort"])

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        table, effort, reach = self._store.table(len(self)), self.effort, self.effort.reach(self.width)
        compared = max(effort.candidates, k)
        shape = k, len(self), self.bits, self.slices
        rules = Rules(*shape, STOPS[effort.stop], compared, effort.distance == "optimistic")

        def run(part: U64) -> _Found:
            best = np.full((len(part), k), UNFILLED)
            if rules.stop == EARLY:
                work = slice_top(table, read_only(part), reach, compared, no_scores(self._store.rows), best)
            else:
                work = slice_certain(table, read_only(part), reach, rules, no_proofs(self._store.rows), best)
            found = best != UNFILLED
            keys = best[found]
            return found.sum(axis=1), keys & (2**48 - 1), (keys >> 48).astype(np.int32), work

        found = _joined([*ordered_map(run, _parts(queries.words, threads), threads)])
        all_told = reach.admit == self.width or found.counters["candidates"] == len(queries) * len(self)
        return replace(found, recall=1.0 if all_told or not found.counters["stopped_early"] else None)

    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        table, reach = self._store.table(len(self)), self.effort.reach_within(self.width, self.slices, radius)
        exact = radius < (reach.breadth + 1) * self.slices

        def run(part: U64) -> _Found:
            work = np.zeros(len(WORK), np.int64)
            work[CERTAIN if exact else EARLY] = len(part)
            sums, room, pieces, query = no_scores(self._store.rows), room_for_hits(_ROOM + self._store.rows), [], 0
            while query < len(part):
                query, count = slice_within(table, read_only(part), query, (radius, reach, first), sums, room, work)
                pieces.append(take_hits(room, slice(count)))
            offsets, rows, distances = sort_hits(concat_hits(pieces), len(part), self.bits)
            return np.diff(offsets), rows, distances, work

        found = _joined([*ordered_map(run, _parts(queries.words, threads), threads)])
        return replace(found, recall=1.0 if exact else None)


def _parts(queries: U64, threads: int | None) -> list[U64]:
    """Cut the queries into a few parts for each thread."""
    return np.array_split(queries, min(len(queries), 4 * thread_count(threads)))


def _joined(found: list[_Found]) -> Matches:
    sizes, rows, distances, work = zip(*found, strict=True)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return Matches(offsets, np.concatenate(rows), np.concatenate(distances), None, _counters(np.array(work)))


def _counters(work: I64) -> Counters:
    total = work.sum(axis=0)
    total[BREADTH] = work[:, BREADTH].max()
    return dict(zip(WORK, total.tolist(), strict=True))
