"""Recall on a sample: sampled rows are held against all rows, and what exact search finds against what a run found.

Rows with identical features are compared once, as groups; of the pairs only counts for each sampled group are kept,
and the few that are nearest below the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import least_near
from sosie.evaluation.sampling.interval import recall_interval, seen_from_pairs
from sosie.evaluation.sampling.search import search
from sosie.matches.equal.groups import Groups
from sosie.types import F64, I64, Bools, Pairs, VerifiedPairs

MISSES = 10
LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class SampledRecall:
    """What exact search says about a result, for the pairs of `sampled` random documents of `documents`.

    `true_pairs` are the similar pairs with a sampled document, `found_pairs` those of them that the result lists,
    `wrong_pairs` the listed ones that are not similar. For a de-duplication, of `unsettled_pairs` both documents stay;
    `kept` of the sampled documents stay, and `missed` of these are similar to another document that stays. Of the true
    pairs, `reference_pairs` have their other end in a reference, `found_reference_pairs` of these were found.

    `interval` holds the recall of the whole result in 95 % of samples. More than 64 identical documents are listed as a
    star: of such a group all pairs count as listed if one is.
    """

    documents: int
    sampled: int
    true_pairs: int
    found_pairs: int
    wrong_pairs: int
    unsettled_pairs: int | None = None
    kept: int | None = None
    missed: int | None = None
    reference_pairs: int = 0
    found_reference_pairs: int = 0
    interval: tuple[float, float] = (0.0, 1.0)

    @property
    def recall(self) -> float | None:
        """The share of the similar pairs that was found, estimated from the sample; None if it has no similar pair.

        A pair is in the sample if one of its ends is, so one with an end in a reference, where nothing is drawn, is
        there about half as often as others: it counts for two, or a little less where much of a collection is drawn.
        """
        weight = _one_ended(self.sampled, self.documents)
        true, found = self.true_pairs + weight * self.reference_pairs, self.found_pairs
        return (found + weight * self.found_reference_pairs) / true if true else None

    @property
    def settled(self) -> float | None:
        """The share of the true pairs of which not both documents stay; None for a join, or without true pairs."""
        if self.unsettled_pairs is None or not self.true_pairs:
            return None
        return 1 - self.unsettled_pairs / self.true_pairs

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
        if self.reference_pairs:
            said |= {"reference_pairs": self.reference_pairs, "found_reference_pairs": self.found_reference_pairs}
        return said


def measure_recall(
    compared: Comparison,
    groups: Groups,
    drawn: I64,
    found: Pairs | VerifiedPairs,
    kept: Bools | None,
    threshold: Fraction,
    threads: int | None = None,
    *,
    reference: int = 0,
) -> tuple[SampledRecall, VerifiedPairs]:
    """Compare the drawn rows with all rows, exactly: what of that a run found, and what is just below the threshold.

    `groups` are the rows with identical features, `found` the pairs of rows of the run, `kept` who stays (None for a
    join). The first rows are those of the `reference`, of which none is drawn. The second result are at most MISSES
    pairs of rows, the nearest below the threshold: both stay, and one of them, or a row with the same features, was
    drawn.
    """
    sampled = np.zeros(len(compared.sizes), np.bool_)
    sampled[drawn] = True
    stays = np.ones(len(sampled), np.bool_) if kept is None else kept
    sample = _Sample(compared, groups, sampled, stays, reference)
    right, wrong, listed = sample.listed(found, threshold, threads)
    true, similar, unsettled, missed, near = sample.search(threshold, threads)
    measured = SampledRecall(
        documents=len(sampled) - reference,
        sampled=int(sampled.sum()),
        true_pairs=true,
        found_pairs=right,
        wrong_pairs=wrong,
        unsettled_pairs=None if kept is None else unsettled,
        kept=None if kept is None else int((kept & sampled).sum()),
        missed=None if kept is None else missed,
        reference_pairs=int(similar.in_reference.sum()),
        found_reference_pairs=int(listed.in_reference.sum()),
    )
    return replace(measured, interval=_interval(measured, similar, listed, sample.known(found))), near


def _interval(measured: SampledRecall, similar: _Partners, listed: _Partners, known: _Partners) -> tuple[float, float]:
    """Return the interval of the recall, given the partners of the sampled rows, and those known of all rows.

    A row that is drawn adds each of its pairs to the sample, but those whose other end is drawn as well are there
    already; a pair with the reference counts for more, see `SampledRecall.recall`.
    """
    weight = _one_ended(measured.sampled, measured.documents)
    total = measured.true_pairs + weight * measured.reference_pairs
    return recall_interval(
        similar.added(weight),
        listed.added(weight),
        pairs=(total, measured.found_pairs + weight * measured.found_reference_pairs),
        inside=measured.true_pairs - measured.reference_pairs,
        documents=measured.documents,
        known=seen_from_pairs(known.added(weight)),
    )


def _one_ended(sampled: int, documents: int) -> float:
    """Return by how much a pair that can be drawn from one end only counts for more than one with two."""
    return 1 - sampled / documents if documents else 0.0


@dataclass(frozen=True, eq=False)
class _Partners:
    """How many partners each of some rows has, and how many of them are in the reference."""

    all: I64
    in_reference: I64

    def added(self, weight: float) -> F64:
        """Return what each row adds to the pairs of a sample, on average: less what the other end has added."""
        return np.asarray(weight * self.all + self.in_reference, np.float64)


class _Sample:
    """Sampled rows, counted by group: `counts` has for each group size, sampled, staying, sampled and staying, and rows
    of the reference.
    """

    def __init__(self, compared: Comparison, groups: Groups, sampled: Bools, stays: Bools, reference: int) -> None:
        self.compared, self.groups, self.sampled, self.stays = compared, groups, sampled, stays
        self.reference = reference
        inside = np.arange(len(sampled)) < reference
        flags = np.stack([np.ones_like(inside), sampled, stays, sampled & stays, inside], axis=1)[groups.rows]
        ends = np.concatenate([np.zeros((1, flags.shape[1]), np.int64), np.cumsum(flags, axis=0)])
        self.counts: I64 = ends[groups.offsets[1:]] - ends[groups.offsets[:-1]]
        self.probes = np.flatnonzero(self.counts[:, 1])
        self.group = groups.of_rows(len(sampled))

    def listed(
        self, found: Pairs | VerifiedPairs, threshold: Fraction, threads: int | None
    ) -> tuple[int, int, _Partners]:
        """Count the listed pairs with a sampled row: those that are similar, those that are not, the former by row."""
        group = self.group
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
        whole = np.zeros(len(listed), np.bool_)
        whole[star] = True
        listed, whole, stands_for = (part[stands_for > 0] for part in (listed, whole, stands_for))
        similar = self.compared.similar(listed >> 32, listed & LOW, threshold, threads)
        at = np.searchsorted(listed, _packed(similar.a, similar.b))
        right = int(stands_for[at].sum())
        return right, int(stands_for.sum()) - right, self._partners(similar.a, similar.b, whole[at])

    def _partners(self, a: I64, b: I64, whole: Bools) -> _Partners:
        """Return the partners of the sampled rows in these pairs; a `whole` one stands for all pairs of both groups."""
        count, rows = len(self.sampled), np.flatnonzero(self.sampled)
        ends, others = np.concatenate([a[~whole], b[~whole]]), np.concatenate([b[~whole], a[~whole]])
        alone = (np.bincount(part, minlength=count)[rows] for part in (ends, ends[others < self.reference]))
        x, y = self.group[a[whole]], self.group[b[whole]]
        of, other = np.concatenate([x, y[x != y]]), np.concatenate([y, x[x != y]])
        columns = []
        for partners, column in zip(alone, (0, 4), strict=True):
            # float64 holds whole numbers below 2^53 exactly
            of_group = np.bincount(of, self.counts[other, column], len(self.groups)).astype(np.int64)
            if column == 0:
                of_group[x[x == y]] -= 1  # a row is no partner of itself
            columns.append(partners + np.append(of_group, 0)[self.group[rows]])
        return _Partners(*columns)

    def known(self, found: Pairs | VerifiedPairs) -> _Partners:
        """Return how many partners each row that could be drawn has at least, if what is listed is right."""
        a, b, count = found.a, found.b, len(self.sampled)
        there = (a >= 0) & (b >= 0)
        if not there.all():
            a, b = a[there], b[there]
        listed = np.bincount(a, minlength=count) + np.bincount(b, minlength=count)
        outside = np.zeros(count, np.int64)
        if self.reference:
            outside += np.bincount(a[b < self.reference], minlength=count)
            outside += np.bincount(b[a < self.reference], minlength=count)
        same = np.append(self.counts, np.zeros((1, self.counts.shape[1]), np.int64), axis=0)[self.group]
        listed, outside = np.maximum(listed, same[:, 0] - 1), np.maximum(outside, same[:, 4])
        return _Partners(listed[self.reference :], outside[self.reference :])

    def _with_sampled(self, x: I64, y: I64) -> I64:
        """Return how many pairs of rows there are between two groups, or inside one, with a sampled row."""
        sizes, others = self.counts[:, 0], self.counts[:, 0] - self.counts[:, 1]
        between = sizes[x] * sizes[y] - others[x] * others[y]
        inside = (sizes[x] * (sizes[x] - 1) - others[x] * (others[x] - 1)) // 2
        return np.where(x == y, inside, between)

    def search(self, threshold: Fraction, threads: int | None) -> tuple[int, _Partners, int, int, VerifiedPairs]:
        """Count similar pairs with a sampled row, also by row, those with two staying rows, and sampled rows in these.

        A pair of two sampled rows is seen from both and counted once.
        """
        distinct, probes, counts = self.compared.of_rows(self.groups.representatives), self.probes, self.counts

        def summarise(pairs: VerifiedPairs) -> tuple[I64, VerifiedPairs]:
            reached = distinct.reaches(pairs, threshold)
            both_stay = (counts[pairs.a, 2] > 0) & (counts[pairs.b, 2] > 0)
            probe, row = np.searchsorted(probes, pairs.a[reached]), pairs.b[reached]
            # float64 holds whole numbers below 2^53 exactly
            sums = [np.bincount(probe, counts[row, column], len(probes)) for column in range(5)]
            return np.stack(sums, axis=1).astype(np.int64), _nearest(pairs.take(~reached & both_stay))

        similar = counts[probes] - np.array([1, 1, 1, 1, 0])  # a group is similar to itself, but a row is not a pair
        near = []
        for sums, misses in search(distinct, probes, least_near(threshold), summarise, threads):
            similar += sums
            near.append(misses)
        m, n = counts[probes, 1], counts[probes, 3]
        pairs = int((m * similar[:, 0]).sum()) - int((m * similar[:, 1]).sum()) // 2
        unsettled = int((n * similar[:, 2]).sum()) - int((n * similar[:, 3]).sum()) // 2
        missed = int((n * (similar[:, 2] > 0)).sum())
        partners = np.zeros((len(self.groups) + 1, 5), np.int64)
        partners[probes] = similar
        partners = partners[self.group[self.sampled]]
        by_row = _Partners(partners[:, 0], partners[:, 4])
        return pairs, by_row, unsettled, missed, self._rows(_nearest(_concatenated(near)))

    def _rows(self, pairs: VerifiedPairs) -> VerifiedPairs:
        """Return pairs of groups as pairs of rows: of each group the first that stays."""
        rows = self.groups.representatives
        member = np.flatnonzero(self.stays[self.groups.rows])[::-1]
        owner = np.searchsorted(self.groups.offsets, member, side="right") - 1
        rows[owner] = self.groups.rows[member]  # the last one written is the first
        a, b = rows[pairs.a], rows[pairs.b]
        return replace(pairs, a=np.minimum(a, b), b=np.maximum(a, b))


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
