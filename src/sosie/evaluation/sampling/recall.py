"""Recall on a sample: sampled rows are held against all rows, and what exact search finds against what a run found.

Rows with identical features are compared once, as groups; of the pairs only counts for each sampled group are kept,
and the few that are nearest below the threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.search import search, sought
from sosie.matches.equal.groups import Groups
from sosie.types import I64, Bools, Pairs, VerifiedPairs

CONFIDENCE = 1.959964  # standard deviations on both sides of 95 %
MARGIN = Fraction(1, 10)  # how far below the threshold a near miss may be
MISSES = 10
FEWEST = 5  # documents of a sample, however dense the collection is
LEAST = Fraction(1, 10**6)  # any shared feature
LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class SampledRecall:
    """What exact search says about a result, for the pairs of `sampled` random documents of `documents`.

    `true_pairs` are the similar pairs with a sampled document, `found_pairs` those of them that the result lists,
    `wrong_pairs` the listed ones that are not similar. For a de-duplication, of `unsettled_pairs` both documents stay;
    `kept` of the sampled documents stay, and `missed` of these are similar to another document that stays.

    More than 64 identical documents are listed as a star: of such a group all pairs count as listed if one is.
    """

    documents: int
    sampled: int
    true_pairs: int
    found_pairs: int
    wrong_pairs: int
    unsettled_pairs: int | None = None
    kept: int | None = None
    missed: int | None = None

    @property
    def recall(self) -> float | None:
        """The share of the true pairs that was found; None if the sample has none."""
        return self.found_pairs / self.true_pairs if self.true_pairs else None

    @property
    def settled(self) -> float | None:
        """The share of the true pairs of which not both documents stay; None for a join, or without true pairs."""
        if self.unsettled_pairs is None or not self.true_pairs:
            return None
        return 1 - self.unsettled_pairs / self.true_pairs

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the recall (Wilson), as if pairs were independent."""
        return wilson(self.found_pairs, self.true_pairs)

    def described(self) -> dict[str, Any]:
        """Return all numbers as data."""
        said: dict[str, Any] = {
            "documents": self.documents,
            "sampled": self.sampled,
            "true_pairs": self.true_pairs,
            "found_pairs": self.found_pairs,
            "wrong_pairs": self.wrong_pairs,
            "recall": self.recall,
            "interval": list(self.interval),
        }
        if self.kept is not None:
            said |= {"settled": self.settled, "unsettled_pairs": self.unsettled_pairs}
            said |= {"kept": self.kept, "missed": self.missed}
        return said


def draw(count: int, size: int, seed: int) -> I64:
    """Return a random sample of `size` of `count` rows, or all if there are fewer, in the order of drawing."""
    return np.random.default_rng(seed).choice(count, min(size, count), replace=False)


def affordable(compared: Comparison, groups: Groups, drawn: I64, threshold: Fraction, budget: int) -> I64:
    """Return the rows drawn first whose search looks at about `budget` features of other rows; at least FEWEST.

    In a collection where everything resembles everything, each sampled row has as many similar ones as there are rows.
    """
    group = groups.of_rows(len(compared.sizes))[drawn]
    probes, first = np.unique(group, return_index=True)
    probes, first = probes[probes >= 0], first[probes >= 0]
    steps = np.zeros(len(drawn), np.int64)  # rows of one group are searched for once
    steps[first] = sought(compared.of_rows(groups.representatives), probes, _least_near(threshold)).steps
    return drawn[: max(int(np.searchsorted(np.cumsum(steps), budget, side="right")), FEWEST)]


def measure_recall(
    compared: Comparison,
    groups: Groups,
    drawn: I64,
    found: Pairs | VerifiedPairs,
    kept: Bools | None,
    threshold: Fraction,
    threads: int | None = None,
) -> tuple[SampledRecall, VerifiedPairs]:
    """Compare the drawn rows with all rows, exactly: what of that a run found, and what is just below the threshold.

    `groups` are the rows with identical features, `found` the pairs of rows of the run, `kept` who stays (None for a
    join). The second result are at most MISSES pairs of rows within MARGIN below the threshold, the nearest first: both
    stay, and one of them, or a row with the same features, was drawn.
    """
    sampled = np.zeros(len(compared.sizes), np.bool_)
    sampled[drawn] = True
    sample = _Sample(compared, groups, sampled, np.ones(len(sampled), np.bool_) if kept is None else kept)
    right, wrong = sample.listed(found, threshold, threads)
    true, unsettled, missed, near = sample.search(threshold, threads)
    measured = SampledRecall(
        documents=len(sampled),
        sampled=int(sampled.sum()),
        true_pairs=true,
        found_pairs=right,
        wrong_pairs=wrong,
        unsettled_pairs=None if kept is None else unsettled,
        kept=None if kept is None else int((kept & sampled).sum()),
        missed=None if kept is None else missed,
    )
    return measured, near


class _Sample:
    """Sampled rows, counted by group: `counts` has size, sampled, staying, and sampled and staying, for each group."""

    def __init__(self, compared: Comparison, groups: Groups, sampled: Bools, stays: Bools) -> None:
        self.compared, self.groups, self.sampled, self.stays = compared, groups, sampled, stays
        flags = np.stack([np.ones(len(sampled), np.bool_), sampled, stays, sampled & stays], axis=1)[groups.rows]
        ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(flags, axis=0)])
        self.counts: I64 = ends[groups.offsets[1:]] - ends[groups.offsets[:-1]]
        self.probes = np.flatnonzero(self.counts[:, 1])

    def listed(self, found: Pairs | VerifiedPairs, threshold: Fraction, threads: int | None) -> tuple[int, int]:
        """Count the listed pairs with a sampled row: those that are similar, and those that are not."""
        group = self.groups.of_rows(len(self.sampled))
        large = np.append(self.counts[:, 0] > self.groups.star, False)[group]
        there = np.flatnonzero((found.a >= 0) & (found.b >= 0) & (found.a != found.b))
        counted = self.sampled | large
        there = there[counted[found.a[there]] | counted[found.b[there]]]
        listed = np.unique(_packed(found.a[there], found.b[there]))
        a, b = listed >> 32, listed & LOW
        stands_for = (self.sampled[a] | self.sampled[b]).astype(np.int64)
        star = np.flatnonzero((large[a] | large[b]) & (group[a] >= 0) & (group[b] >= 0))
        stars, first = np.unique(_packed(group[a[star]], group[b[star]]), return_index=True)
        stands_for[star] = 0
        stands_for[star[first]] = self._with_sampled(stars >> 32, stars & LOW)
        listed, stands_for = listed[stands_for > 0], stands_for[stands_for > 0]
        similar = self.compared.similar(listed >> 32, listed & LOW, threshold, threads)
        right = int(stands_for[np.searchsorted(listed, _packed(similar.a, similar.b))].sum())
        return right, int(stands_for.sum()) - right

    def _with_sampled(self, x: I64, y: I64) -> I64:
        """Return how many pairs of rows there are between two groups, or inside one, with a sampled row."""
        sizes, others = self.counts[:, 0], self.counts[:, 0] - self.counts[:, 1]
        between = sizes[x] * sizes[y] - others[x] * others[y]
        inside = (sizes[x] * (sizes[x] - 1) - others[x] * (others[x] - 1)) // 2
        return np.where(x == y, inside, between)

    def search(self, threshold: Fraction, threads: int | None) -> tuple[int, int, int, VerifiedPairs]:
        """Count similar pairs with a sampled row, those with two staying rows, and sampled rows in one of the latter.

        A pair of two sampled rows is seen from both and counted once.
        """
        distinct, probes, counts = self.compared.of_rows(self.groups.representatives), self.probes, self.counts

        def summarise(pairs: VerifiedPairs) -> tuple[I64, VerifiedPairs]:
            reached = distinct.reaches(pairs, threshold)
            both_stay = (counts[pairs.a, 2] > 0) & (counts[pairs.b, 2] > 0)
            probe, row = np.searchsorted(probes, pairs.a[reached]), pairs.b[reached]
            # float64 holds whole numbers below 2^53 exactly
            sums = [np.bincount(probe, counts[row, column], len(probes)) for column in range(4)]
            return np.stack(sums, axis=1).astype(np.int64), _nearest(pairs.take(~reached & both_stay))

        similar = counts[probes] - 1  # a group is similar to itself, but a row is not a pair
        near = []
        for sums, misses in search(distinct, probes, _least_near(threshold), summarise, threads):
            similar += sums
            near.append(misses)
        m, n = counts[probes, 1], counts[probes, 3]
        pairs = int((m * similar[:, 0]).sum()) - int((m * similar[:, 1]).sum()) // 2
        unsettled = int((n * similar[:, 2]).sum()) - int((n * similar[:, 3]).sum()) // 2
        missed = int((n * (similar[:, 2] > 0)).sum())
        return pairs, unsettled, missed, self._rows(_nearest(_concatenated(near)))

    def _rows(self, pairs: VerifiedPairs) -> VerifiedPairs:
        """Return pairs of groups as pairs of rows: of each group the first that stays."""
        rows = self.groups.representatives
        member = np.flatnonzero(self.stays[self.groups.rows])[::-1]
        owner = np.searchsorted(self.groups.offsets, member, side="right") - 1
        rows[owner] = self.groups.rows[member]  # the last one written is the first
        a, b = rows[pairs.a], rows[pairs.b]
        return replace(pairs, a=np.minimum(a, b), b=np.maximum(a, b))


def _least_near(threshold: Fraction) -> Fraction:
    return max(threshold - MARGIN, LEAST)


def _packed(a: I64, b: I64) -> I64:
    """Return pairs as one number each, the lower row first."""
    return np.minimum(a, b) << 32 | np.maximum(a, b)


def _nearest(pairs: VerifiedPairs) -> VerifiedPairs:
    """Return the most similar pairs, each once; of equal ones the first."""
    packed, first = np.unique(_packed(pairs.a, pairs.b), return_index=True)
    order = np.lexsort((packed, -pairs.similarity[first]))[:MISSES]
    return replace(pairs.take(first[order]), a=packed[order] >> 32, b=packed[order] & LOW)


def _concatenated(parts: list[VerifiedPairs]) -> VerifiedPairs:
    none = np.empty(0, np.int64)
    a, b, shared = (np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in ("a", "b", "shared"))
    similarity = np.concatenate([np.empty(0), *(part.similarity for part in parts)])
    totals = [part.total for part in parts if part.total is not None]
    total = np.concatenate([none, *totals]) if len(totals) == len(parts) else None
    return VerifiedPairs(a, b, similarity, shared, total)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a proportion (Wilson 1927).

    >>> tuple(round(bound, 4) for bound in wilson(9, 10))
    (0.5958, 0.9821)
    """
    if not trials:
        return 0.0, 1.0
    share, z2 = successes / trials, CONFIDENCE**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = CONFIDENCE / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)
