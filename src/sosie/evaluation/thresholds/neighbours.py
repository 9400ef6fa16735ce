"""How near the nearest other document is, for a random sample of documents: each is held against all, exactly.

Identical documents are one group. Of the pairs that the search meets only this is kept: how similar the nearest is to
each sampled group, which earlier group is the first at each threshold, and the few pairs nearest to each threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.search import search
from sosie.matches.equal.groups import Groups
from sosie.matches.order import merged
from sosie.types import F64, I64, Bools, VerifiedPairs

LEAST = Fraction(3, 10)  # pairs below are not looked for: there, almost everything shares a phrase with something
GRID = tuple(Fraction(step, 20) for step in range(10, 20))  # what may be a threshold: 0.5, 0.55 and so on to 0.95
SHOWN = 2  # pairs on each side of a threshold
_KEPT = 32  # on each side, of which those are chosen
_NOBODY = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Near:
    """The pairs of groups nearest below a threshold, the most similar first; and at or above it, the least similar."""

    below: VerifiedPairs
    above: VerifiedPairs


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What was found for sampled rows, and for the groups that they are of, the probes.

    `similarity` has for each row that of its nearest other row, 0 where that is below LEAST. `probe` is the place of
    its group among the `probes`, -1 for a row without features; `again` says whether it is not the first of its group.
    `first[t, i]` is the first group before probe i that reaches GRID[t], and the group of the probe where none does.
    """

    similarity: F64
    probe: I64
    again: Bools
    probes: I64
    first: I64
    near: list[Near]


def nearest_of(distinct: Comparison, groups: Groups, drawn: I64, rows: int, threads: int | None = None) -> Neighbours:
    """Hold the groups of the drawn rows, of so many `rows`, against all groups, which `distinct` compares.

    Groups are in keep order.

    >>> from sosie.kernels.sets.similarity import Sets
    >>> sets = Sets(np.array([1, 2, 3, 1, 2, 3, 4, 9], np.uint64), np.array([0, 3, 7]), np.array([3, 7, 8]))
    >>> groups = Groups(np.array([0, 1, 2, 3]), np.array([0, 1, 2, 4]))
    >>> found = nearest_of(Comparison(sets), groups, np.arange(4), 4)
    >>> found.similarity.tolist(), found.first[0].tolist()
    ([0.75, 0.75, 1.0, 1.0], [0, 0, 2])
    """
    group = groups.of_rows(rows)[drawn]
    probes = np.unique(group[group >= 0])
    probe = np.where(group < 0, -1, np.searchsorted(probes, group))
    best, first, near = np.zeros(len(probes)), np.full((len(GRID), len(probes)), _NOBODY), _nothing()

    def summarise(pairs: VerifiedPairs) -> tuple[F64, I64, list[Near]]:
        most = np.zeros(len(probes))
        np.maximum.at(most, np.searchsorted(probes, pairs.a), pairs.similarity)
        reach = [distinct.reaches(pairs, threshold) for threshold in GRID]
        return most, _first(probes, pairs, reach), [_nearest(pairs, each) for each in reach]

    for most, earliest, nearest in search(distinct, probes, LEAST, summarise, threads):
        best, first = np.maximum(best, most), np.minimum(first, earliest)
        near = [_joined(one, other) for one, other in zip(near, nearest, strict=True)]
    known, sizes = np.append(best, 0.0)[probe], np.append(groups.sizes, 1)[group]
    return Neighbours(
        similarity=np.where(sizes > 1, 1.0, known),
        probe=probe,
        again=(group >= 0) & (np.append(groups.representatives, -1)[group] != drawn),
        probes=probes,
        first=np.where(first == _NOBODY, probes, first),
        near=[Near(*(_different(side) for side in (each.below, each.above))) for each in near],
    )


def first_before(distinct: Comparison, probes: I64, least: Fraction, threads: int | None = None) -> I64:
    """Return for each similarity of GRID and each probe the first group before it that reaches it, else the probe.

    Of similarities below `least` nothing is said: there it is the probe.
    """
    first = np.full((len(GRID), len(probes)), _NOBODY)

    def summarise(pairs: VerifiedPairs) -> I64:
        reach = [distinct.reaches(pairs, max(threshold, least)) for threshold in GRID]
        return _first(probes, pairs, reach)

    for earliest in search(distinct, probes, least, summarise, threads):
        first = np.minimum(first, earliest)
    first[[threshold < least for threshold in GRID]] = _NOBODY
    return np.where(first == _NOBODY, probes, first)


def _first(probes: I64, pairs: VerifiedPairs, reach: list[Bools]) -> I64:
    """Return the first group before each probe among those of its pairs that reach each threshold."""
    first, at = np.full((len(reach), len(probes)), _NOBODY), np.searchsorted(probes, pairs.a)
    earlier = pairs.b < pairs.a
    for row, reaches in zip(first, reach, strict=True):
        wanted = earlier & reaches
        np.minimum.at(row, at[wanted], pairs.b[wanted])
    return first


def _nothing() -> list[Near]:
    none = np.empty(0, np.int64)
    pairs = VerifiedPairs(none, none, np.empty(0), none, none)
    return [Near(pairs, pairs) for _ in GRID]


def _nearest(pairs: VerifiedPairs, reaches: Bools) -> Near:
    """Return the pairs nearest to a threshold, given which reach it."""
    below, above = pairs.take(np.flatnonzero(~reaches)), pairs.take(np.flatnonzero(reaches))
    return Near(_least(below, -below.similarity), _least(above, above.similarity))


def _least(pairs: VerifiedPairs, how_far: F64) -> VerifiedPairs:
    """Return the first pairs by how far they are, the lower row first, each once; of equally far ones by their rows."""
    most = 2 * _KEPT  # a pair of two probes is there twice
    packed = np.minimum(pairs.a, pairs.b) << 32 | np.maximum(pairs.a, pairs.b)
    if len(packed) > most:
        bound = np.partition(how_far, most - 1)[most - 1]
        nearer, tied = np.flatnonzero(how_far < bound), np.flatnonzero(how_far == bound)
        if len(tied) > most:
            tied = tied[np.argpartition(packed[tied], most - 1)[:most]]
        some = np.concatenate([nearer, tied])
        pairs, how_far, packed = pairs.take(some), how_far[some], packed[some]
    order = np.lexsort((packed, how_far))
    again = np.concatenate([np.zeros(min(len(order), 1), np.bool_), np.diff(packed[order]) == 0])
    order = order[~again][:_KEPT]
    return replace(pairs.take(order), a=packed[order] >> 32, b=packed[order] & 0xFFFFFFFF)


def _joined(one: Near, other: Near) -> Near:
    below, above = merged(one.below, other.below), merged(one.above, other.above)
    return Near(_least(below, -below.similarity), _least(above, above.similarity))


def _different(pairs: VerifiedPairs) -> VerifiedPairs:
    """Return the first pairs that have no document in common; where there are too few, others with them."""
    seen: set[int] = set()
    chosen: list[int] = []
    others: list[int] = []
    for place, (a, b) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)):
        (others if seen & {a, b} else chosen).append(place)
        seen |= {a, b}
    return pairs.take(np.array(sorted([*chosen, *others][:SHOWN]), np.int64))
