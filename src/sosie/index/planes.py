"""The plane index: the k nearest at a stated recall, by a cascade over a part of the bit planes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sosie.arrays import aligned_zeros, read_only
from sosie.errors import UsageError
from sosie.index.files import State, check_array
from sosie.index.flat import TILE, FlatIndex
from sosie.index.room import check_room
from sosie.kernels.planes.cascade import Rows, Sought, cascade, seek, settle
from sosie.kernels.planes.cascade_plan import plan_cascade, stage_size
from sosie.kernels.planes.cascade_within import cascade_within
from sosie.kernels.planes.cut_off import Aim
from sosie.kernels.planes.layout import BLOCK
from sosie.kernels.planes.majorities import CHAIN_CHUNK, ask_majorities, chain_of, set_majorities
from sosie.kernels.planes.tighten import DISTANCE
from sosie.kernels.planes.top import UNFILLED
from sosie.kernels.planes.within import room_within
from sosie.kernels.tables.hits import Hits, concat_hits, take_hits
from sosie.parallel import ordered_map, thread_count
from sosie.storage.size import show_size
from sosie.types import I64, U64, Matches, Signatures

SMALL = 32  # blocks up to which every row is compared: that is as fast,
_NARROW = 512  # and so it is for fewer bits than these
_MOST = 128  # nearest rows that a cascade looks for
_RARE = 1.75  # half the deviations from the mean at which random rows are rare
_KNOWN = 64  # rows of the sample that are compared to begin with, at most


class PlaneIndex(FlatIndex):
    """Approximate search for the k nearest of wide signatures, at a recall that is stated and can be chosen.

    `search` counts differing bits over a part of the planes first, drawn by lot, at half the additions
    (`majorities`), and compares in full only rows that have few. How few follows from the distances of the
    nearest rows found, by the laws of sampling (`cut_off`): each query stops where the expected recall is at
    least `recall`, whatever the data are like. `matches.recall` is the expected recall of what was found. At a recall
    of 1 every row is compared; so it is for up to 16384 rows, for fewer than 512 bits, for k above 128, and for queries
    that have no near rows to speak of. `within` is always exact, and counts fewer planes where the radius is small.

    What it relaxes: `search` may miss some of the k nearest, and has others in their place. Distances and order are
    always true; a higher recall compares the same rows and more. `recall` may be replaced at any time.

    Counters: `comparisons` of whole rows, and `planes` that were counted in all rows before, over all queries.

    Signatures are held three times: as planes, as rows, and as majorities. More than the machine's memory is refused.

    >>> index = PlaneIndex(Signatures(np.array([0b000, 0b011, 0b111], np.uint64), bits=1 * 64), recall=0.9)
    >>> matches = index.search(Signatures(np.array([0b001], np.uint64)), k=2)
    >>> matches.rows.tolist(), matches.distances.tolist(), matches.recall
    ([0, 1], [1, 1], 1.0)
    """

    def __init__(self, signatures: Signatures, recall: float = 0.95) -> None:
        self.recall = recall
        self._prepare(signatures.bits)
        self._store = np.empty((0, signatures.words.shape[1]), np.uint64)
        self._majorities = aligned_zeros((0, len(self._chain) // 2, 4, BLOCK // 64))
        super().__init__(signatures)

    def _prepare(self, bits: int) -> None:
        self._chain = read_only(chain_of(bits if bits >= _NARROW else 0))

    @property
    def recall(self) -> float:
        """The share of the k nearest that a search is expected to find, at least."""
        return self._recall

    @recall.setter
    def recall(self, recall: float) -> None:
        if not 0 < recall <= 1:
            raise UsageError(f"recall must be above 0 and at most 1, got {recall}")
        self._recall = recall

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        rows = len(self._ids) + len(signatures)
        needed = rows * (self._planes.shape[1] // 8 + 8 * self._store.shape[1] + self._majorities.shape[1] // 2)
        remedy = f"a FlatIndex needs {show_size(rows * self._planes.shape[1] // 8)}"
        check_room(f"{rows:,} rows of {self.bits} bits in a PlaneIndex", needed, remedy)
        super().add(signatures)

    def _append(self, words: U64) -> None:
        first = self._rows
        super()._append(words)
        if not self._store.flags.writeable or len(self._store) < self._rows:
            store = np.empty((max(self._rows, first + first // 2), words.shape[1]), np.uint64)
            store[:first] = self._store[:first]
            self._store = store
        self._store[first : self._rows] = words
        if len(self._chain):
            span = first // BLOCK, -(-self._rows // BLOCK)
            set_majorities(read_only(self._planes), self._chain, span, self._majorities)

    def _reserve(self, blocks: int) -> None:
        super()._reserve(blocks)
        if len(self._majorities) < len(self._planes) or not self._majorities.flags.writeable:
            majorities = aligned_zeros((len(self._planes), *self._majorities.shape[1:]))
            majorities[: len(self._majorities)] = self._majorities
            self._majorities = majorities

    def _words(self) -> U64:
        return self._store[: self._rows]

    def _state(self) -> State:
        parameters, arrays = super()._state()
        majorities = self._majorities[: -(-self._rows // BLOCK)]
        return {**parameters, "recall": self.recall}, {**arrays, "words": self._words(), "majorities": majorities}

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        super()._restore(parameters, arrays)
        self.recall = parameters["recall"]
        self._prepare(self.bits)
        self._store, self._majorities = arrays["words"], arrays["majorities"]
        check_array(self._store, np.uint64, (self._rows, -(-self.bits // 64)))
        check_array(self._majorities, np.uint64, (len(self._planes), len(self._chain) // 2, 4, BLOCK // 64))

    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        blocks = -(-self._rows // BLOCK)
        if self.recall == 1 or not len(self._chain) or blocks <= SMALL or k > _MOST:
            return super()._top(queries, k, threads)
        known, adders = self._plan(queries.words, k, threads)
        near, far = np.flatnonzero(adders), np.flatnonzero(adders == 0)
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.int32)
        comparisons, expected = 0, 0.0
        if len(near):
            best, comparisons, expected = self._cascade(queries.words[near], known[near], adders[near], k, threads)
            rows[near], distances[near] = best & ((1 << DISTANCE) - 1), best >> DISTANCE
        if len(far):
            found = super()._top(queries.take(far), k, threads)
            rows[far], distances[far] = found.rows.reshape(-1, k), found.distances.reshape(-1, k)
        counters = {
            "comparisons": comparisons + int(np.sum(known != UNFILLED)) + len(far) * len(self),
            "planes": int(np.sum(2 * adders[near] + 1)) + len(far) * self.bits,
        }
        recall = (expected + len(far)) / len(queries)
        return Matches(np.arange(len(queries) + 1) * k, rows.reshape(-1), distances.reshape(-1), None, counters, recall)

    def _scan(self, queries: U64, span: tuple[int, int], radius: int, wanted: I64) -> Hits:
        """Collect matches by a cascade as long as that pays, then over all planes; either is exact."""
        adders = self._adders_within(radius)
        if not adders:
            return super()._scan(queries, span, radius, wanted)
        asked = ask_majorities(queries, self._chain, np.full(len(queries), adders), CHAIN_CHUNK)
        room = room_within(len(queries), BLOCK)
        pieces, block, pays = [], span[0], True
        while pays and block < span[1]:
            task = block, span[1]
            block, count, pays = cascade_within(self._view(), task, asked, read_only(queries), radius, wanted, room)
            pieces.append(take_hits(room, slice(count)))
        if block < span[1]:
            pieces.append(super()._scan(queries, (block, span[1]), radius, wanted))
        return concat_hits(pieces)

    def _adders_within(self, radius: int) -> int:
        """Return the fewest adders over which random rows rarely look as if they were within the radius; 0: none."""
        most = self._majorities.shape[1]
        step = stage_size(most)
        for adders in range(step, most + 1, step) if most else ():
            if radius <= adders - _RARE * math.sqrt(2 * adders):
                return adders
        return 0

    def _view(self) -> Rows:
        blocks = -(-self._rows // BLOCK)
        return Rows(read_only(self._majorities[:blocks]), read_only(self._live[:blocks]), read_only(self._words()))

    def _plan(self, queries: U64, k: int, threads: int | None) -> tuple[I64, I64]:
        """Return rows that are known of each query, and how many adders it should count."""
        rows, most = self._view(), self._majorities.shape[1]

        def run(part: U64) -> tuple[I64, I64]:
            adders, known = np.full(len(part), most), np.empty((len(part), max(_KNOWN, 4 * k)), np.int64)
            asked = ask_majorities(part, self._chain, adders, stage_size(most))
            plan_cascade(rows, part, asked, self.bits, known, adders)
            return known, adders

        tiles = [read_only(queries[start : start + TILE]) for start in range(0, len(queries), TILE)]
        planned = [*ordered_map(run, tiles, min(thread_count(threads), len(tiles)))]
        return np.concatenate([known for known, _ in planned]), np.concatenate([adders for _, adders in planned])

    def _cascade(self, queries: U64, known: I64, adders: I64, k: int, threads: int | None) -> tuple[I64, int, float]:
        """Return the k nearest of each query, how many rows were compared, and the sum of the expected recalls."""
        rows, aim = self._view(), Aim(self.bits, float(self.recall))

        def run(task: tuple[int, int, int]) -> Sought:
            part = slice(task[0], task[0] + TILE)
            asked = ask_majorities(queries[part], self._chain, adders[part], CHAIN_CHUNK)
            sought = seek(read_only(queries[part]), adders[part], known[part], k)
            cascade(rows, task[1:], asked, sought, k, aim)
            return sought

        found = [settle(rows.words, parts, k, aim) for parts in self._by_tile(run, len(queries), threads)]
        best = np.concatenate([near for near, _, _ in found])
        return best, sum(compared for _, compared, _ in found), sum(expected for _, _, expected in found)
