"""Who is paired with whom, as a graph: the rows that two have in common, and walks of two steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sosie.types import F64, I64, U64

_PIECE = 1 << 20  # neighbours that are looked at together


class Common(NamedTuple):
    """Rows that both rows of pairs are paired with: for which pair, and where their two edges are in the graph."""

    pair: I64
    first: I64
    second: I64


class Walks(NamedTuple):
    """Walks of two steps: from a row to another, and the places of the two edges in the graph."""

    start: I64
    end: I64
    first: I64
    second: I64


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A graph of rows: those of row a are `rows[offsets[a]:offsets[a + 1]]`, ascending; each edge stands there twice.

    `edges` has both rows of each place, packed; `given` says which of the pairs that the graph was made of it is.
    """

    offsets: I64
    rows: I64
    edges: U64
    given: I64

    @classmethod
    def of(cls, a: I64, b: I64, count: int) -> Neighbours:
        """Make the graph of distinct pairs of `count` rows.

        >>> graph = Neighbours.of(np.array([0, 1]), np.array([2, 2]), 3)
        >>> graph.rows.tolist(), graph.degrees.tolist(), graph.given.tolist()
        ([2, 2, 0, 1], [1, 1, 2], [0, 1, 0, 1])
        """
        edges = _pack(np.concatenate([a, b]), np.concatenate([b, a]))
        order = np.argsort(edges)
        edges = edges[order]
        offsets = np.searchsorted(edges, np.arange(count + 1, dtype=np.uint64) << np.uint64(32))
        rows = (edges & np.uint64(2**32 - 1)).astype(np.int64)
        return cls(offsets, rows, edges, order % max(len(a), 1))

    @property
    def degrees(self) -> I64:
        """How many neighbours each row has."""
        return np.diff(self.offsets)

    def has(self, a: I64, b: I64) -> I64:
        """Return where the edges from a[i] to b[i] are; -1 for those that are not there."""
        sought = _pack(a, b)
        at = np.minimum(np.searchsorted(self.edges, sought), max(len(self.edges) - 1, 0))
        return np.where(self.edges[at] == sought, at, -1) if len(self.edges) else np.full(len(a), -1)

    def common(self, a: I64, b: I64) -> Iterator[Common]:
        """Yield the rows that both a[i] and b[i] are paired with, in pieces; pairs without any are not named.

        >>> graph = Neighbours.of(np.array([0, 0, 1]), np.array([2, 3, 2]), 4)
        >>> [graph.rows[found.first].tolist() for found in graph.common(np.array([0, 0]), np.array([1, 2]))]
        [[2]]
        """
        degrees = self.degrees
        few, many = np.where(degrees[a] <= degrees[b], a, b), np.where(degrees[a] <= degrees[b], b, a)
        ends = np.cumsum(degrees[few])
        cuts = np.searchsorted(ends, np.arange(_PIECE, int(degrees[few].sum()) + _PIECE, _PIECE))
        start = 0
        for cut in cuts:
            stop = min(int(cut) + 1, len(ends))
            if stop > start:
                here = np.arange(start, stop)
                pair = np.repeat(here, degrees[few[here]])
                before = ends[pair] - degrees[few[pair]]
                first = self.offsets[few[pair]] + np.arange(len(pair)) + int(before[0] if len(pair) else 0) - before
                second = self.has(many[pair], self.rows[first])
                known = np.flatnonzero(second >= 0)
                yield Common(pair[known], first[known], second[known])
                start = stop

    def chances(self, found: Common) -> F64:
        """Return the chance that one of `walks` goes from one row of a pair to the other by way of a row they share.

        Half of the places are edges in one direction; a walk in the other one leads to the same pair.
        """
        return np.asarray(2 / len(self.rows) / self.degrees[self.rows[found.first]])

    def walks(self, count: int, seed: int) -> Walks:
        """Draw walks: over one of all edges, in one of its directions, then on over one of the edges there.

        Rows with many neighbours are come by often and left for each of them seldom: whether two rows lie in a small
        crowd or in a large one hardly matters to the chance of a walk between them.
        """
        rng = np.random.default_rng(seed)
        first = rng.integers(0, len(self.rows), count)
        middle = self.rows[first]
        second = self.offsets[middle] + (rng.random(count) * self.degrees[middle]).astype(np.int64)
        start = (self.edges[first] >> np.uint64(32)).astype(np.int64)
        return Walks(start, self.rows[second], first, second)


def _pack(a: I64, b: I64) -> U64:
    return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
