"""One search of a probe index: which headers are probed, and what is found there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sosie.arrays import U32, read_only
from sosie.index.answers import joined_matches
from sosie.index.flips import FlipModel, checked_volatility, flip_costs
from sosie.index.probe_run import ProbeHeader, ProbeRun
from sosie.kernels.tables.hits import Hits, concat_hits, sort_hits, take_hits
from sosie.kernels.tables.probes import ProbedQueries, headers_of, probe, scan
from sosie.kernels.tables.vosh import FEW, few_sets, flip_places, write_few_flips, write_flips
from sosie.parallel import ordered_map, thread_count
from sosie.planner.methods.probes import reads_all
from sosie.types import F32, I32, I64, U64, Matches, Signatures, offsets_of

_TILE = 4096  # queries of one piece of work,
_FLIPS = 1 << 20  # which has about so many probes
_ROUNDS = 1, 5  # probes after which a search for any row looks whom it still has to search for


class ProbedRows(NamedTuple):
    """What is searched: sorted runs, a bit for each row that has not been removed, and how bits flip."""

    runs: Sequence[ProbeRun]
    live: U64
    model: FlipModel | None


class ProbeTile(NamedTuple):
    """Some queries: their words, and the sums behind their bits if these are known."""

    words: U64
    sums: F32 | None

    def take(self, which: slice | I64) -> ProbeTile:
        """Return some of them."""
        return ProbeTile(read_only(self.words[which]), None if self.sums is None else read_only(self.sums[which]))


@dataclass(frozen=True)
class Probing:
    """A search within a radius by `wanted` sets of flips, or as many as there are, beside the header as it is."""

    rows: ProbedRows
    header: ProbeHeader
    bits: int
    radius: int
    wanted: int

    @property
    def most(self) -> int:
        """How many bits are flipped at most: more would be further away."""
        return min(self.radius, len(self.header))

    @cached_property
    def sets(self) -> int:
        """How many sets of flips there are, none included."""
        return sum(math.comb(len(self.header), flipped) for flipped in range(self.most + 1))

    @property
    def probes(self) -> int:
        """How many headers of each query are probed."""
        return min(self.wanted + 1, self.sets)

    @property
    def complete(self) -> bool:
        """Whether all matches are found."""
        return self.probes == self.sets

    def all(self, queries: Signatures, threads: int | None) -> Matches:
        """Find all rows that probes lead to."""
        return self._by_tile(lambda tile: self._find(tile, False), queries, threads)

    def lowest(self, queries: Signatures, threads: int | None) -> Matches:
        """Find the lowest of the rows that the probes of each query lead to."""
        return self._by_tile(lambda tile: self._find(tile, True), queries, threads)

    def nearest(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        """Find the k nearest of the rows that the probes of each query lead to."""

        def find(tile: ProbeTile) -> Matches:
            found = self._find(tile, False)
            sizes = np.minimum(np.diff(found.offsets), k)
            offsets = offsets_of(sizes)
            places = np.arange(offsets[-1]) + np.repeat(found.offsets[:-1] - offsets[:-1], sizes)
            return Matches(offsets, found.rows[places], found.distances[places], None, found.counters)

        return self._by_tile(find, queries, threads)

    def any(self, queries: Signatures, threads: int | None) -> Matches:
        """Find one row of each query, in rounds of more and more probes: of a round that meets some, the lowest."""
        return self._by_tile(self._meet, queries, threads)

    def places(self, queries: Signatures, offsets: I64, differences: U64, limit: int) -> I64:
        """Return which probe finds each match, whose signatures differ by `differences`; NEVER if beyond the limit."""
        costs = self._costs(ProbeTile(read_only(queries.words), checked_volatility(queries)))
        wanted = headers_of(read_only(differences), self.header.moves)
        return flip_places(costs, self.most, offsets, wanted, min(self.sets - 1, limit))

    def _by_tile(self, find: Callable[[ProbeTile], Matches], queries: Signatures, threads: int | None) -> Matches:
        every, size = ProbeTile(queries.words, checked_volatility(queries)), min(_TILE, 1 + _FLIPS // self.probes)
        tiles = (every.take(slice(start, start + size)) for start in range(0, len(queries), size))
        return joined_matches(list(ordered_map(find, tiles, min(thread_count(threads), -(-len(queries) // size)))))

    def _find(self, tile: ProbeTile, first: bool) -> Matches:
        if reads_all(self.complete, self.probes, sum(len(run) for run in self.rows.runs)):
            live = read_only(self.rows.live)
            found = [scan(run.table, live, tile.words, self.radius) for run in self.rows.runs]
        else:
            found = self._probe(tile.words, self._flips(tile, self.probes))
        return self._ordered([_by_row(found, first)], len(tile.words), _work(found), len(tile.words) * self.probes)

    def _meet(self, tile: ProbeTile) -> Matches:
        waiting, met, work, probes = np.arange(len(tile.words)), [], 0, 0
        flips = np.zeros((len(tile.words), 1), np.uint32)
        for start, stop in pairwise(sorted({0, *(end for end in _ROUNDS if end < self.probes), self.probes})):
            if start == 1:  # many have met a row by now, and need no flips
                flips = np.concatenate([flips, self._flips(tile.take(waiting), self.probes)[:, 1:]], axis=1)
            found = self._probe(read_only(tile.words[waiting]), np.ascontiguousarray(flips[:, start:stop]))
            work, probes = work + _work(found), probes + len(waiting) * (stop - start)
            hits = _by_row(found, True)
            met.append(Hits(waiting[hits.queries].astype(np.int32), hits.rows, hits.distances))
            left = np.delete(np.arange(len(waiting)), hits.queries)
            waiting, flips = waiting[left], flips[left]
            if not len(waiting):
                break
        return self._ordered(met, len(tile.words), work, probes)

    def _ordered(self, met: list[Hits], queries: int, work: int, probes: int) -> Matches:
        found = sort_hits(concat_hits(met), queries, self.bits)
        return Matches(*found, None, {"comparisons": work, "probes": probes})

    def flips(self, tile: ProbeTile) -> U32:
        """Return the bits that each of all probes flips in the headers of queries, the likeliest first."""
        return self._flips(tile, self.probes)

    def _flips(self, tile: ProbeTile, probes: int) -> U32:
        """Return the bits that each probe flips, the likeliest first."""
        flips = np.zeros((len(tile.words), probes), np.uint32)
        if 1 < probes <= FEW:
            write_few_flips(self._costs(tile), few_sets(probes, len(self.header), self.most), flips)
        elif 1 < probes:
            write_flips(self._costs(tile), self.most, flips)
        return flips

    def _costs(self, tile: ProbeTile) -> I32:
        if tile.sums is None:
            return np.ones((len(tile.words), len(self.header)), np.int32)
        return flip_costs(read_only(tile.sums), self.header.places, self.rows.model)

    def _probe(self, words: U64, flips: U32) -> list[tuple[Hits, int]]:
        asked, live = ProbedQueries(words, headers_of(words, self.header.moves), flips), read_only(self.rows.live)
        bits = len(self.header)
        return [probe(run.table, live, asked, self.header.moves, self.radius, bits) for run in self.rows.runs]


def _by_row(found: list[tuple[Hits, int]], first: bool) -> Hits:
    """Return matches by query and row, or only the lowest row of each query."""
    hits = concat_hits([hits for hits, _ in found])
    order = np.argsort(hits.queries.astype(np.int64) << 32 | hits.rows)  # rows have 32 bits
    if first and len(order):
        order = order[np.flatnonzero(np.diff(hits.queries[order], prepend=-1))]
    return take_hits(hits, order)


def _work(found: list[tuple[Hits, int]]) -> int:
    return sum(work for _, work in found)
