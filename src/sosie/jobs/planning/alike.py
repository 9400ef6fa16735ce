"""How alike the documents of a collection are: a sample of its similar pairs, drawn by what both documents have.

The least feature of a document, by its hash, is the minimum of a random order: two documents have it in common with the
chance J, their Jaccard similarity (Broder 1997). So documents are grouped by it, which costs one sort, and a pair that
is found so stands for 1 / J pairs. Of a large collection only documents are taken whose least feature is below some
bound: two with a union of u features then are with the chance 1 - (1 - bound)^u, whatever else there is. A random
sample of documents would hold hardly any pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.kernels.sets.similarity import Sets
from sosie.kernels.tables.keys import group_by_key
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.matches.verify import similarities
from sosie.planner.facts import Spread
from sosie.types import F64, I64

DRAWN = 1 << 16  # documents
PER_GROUP = 24  # documents of a group that are compared with each other
LEAST = 0.2  # similarity below which one pair stands for too many others
STEPS = 200  # similarities that are told apart


@dataclass(frozen=True, eq=False)
class Alike:
    """What pairs of documents there are in a collection: Jaccard similarities with their numbers, and copies.

    `measured` are the similarities of the same pairs by another measure, where one was asked for. `copies` is the share
    of documents that have the features of an earlier one.
    """

    jaccard: F64
    measured: F64
    weights: F64
    copies: float

    def spread(self) -> Spread:
        """Return the similarities, those that are nearly the same as one."""
        step = np.where(self.measured >= 1, STEPS, np.floor(np.clip(self.measured, 0, 1) * STEPS))
        step = step.astype(np.int64)
        weights = np.bincount(step, self.weights, STEPS + 1)
        sums = np.bincount(step, self.weights * self.measured, STEPS + 1)
        seen = np.bincount(step, minlength=STEPS + 1).astype(np.float64)
        there = np.flatnonzero(seen)
        return Spread((sums[there] / weights[there]).astype(np.float64), weights[there].astype(np.float64), seen[there])

    def pairs(self, least: float) -> float:
        """Return about how many pairs of documents with different features are at least so similar."""
        return float(self.weights[(self.measured >= least - 1e-9) & (self.jaccard < 1)].sum())


def alike(
    sets: Sets, similarity: Similarity = JACCARD, *, rate: float = 1.0, drawn: int = DRAWN, threads: int | None = None
) -> Alike:
    """Return what pairs there are in a collection of which these rows are a sample, each with the chance `rate`.

    >>> sets = Sets(np.array([1, 2, 3, 1, 2, 3, 9], np.uint64), np.array([0, 3, 6]), np.array([3, 6, 7]))
    >>> found = alike(sets)
    >>> found.jaccard.tolist(), found.weights.tolist(), round(found.copies, 2)
    ([1.0], [1.0], 0.33)
    """
    sizes = sets.stops - sets.starts
    rows = np.flatnonzero(sizes > 0)
    least = sets.hashes[sets.starts[rows]]
    bound, below = 1.0, np.ones(len(rows), np.bool_)
    if len(rows) > drawn:
        cut = np.partition(least, drawn)[drawn]
        bound, below = float(cut) / 2.0**64, least < cut
    rows, least = rows[below], least[below]
    offsets, members = group_by_key(np.ascontiguousarray(least))
    a, b, times = _inside(offsets, rows[members])
    jaccard = similarities(sets, a, b, JACCARD, threads)
    union = (sizes[a] + sizes[b]) / (1 + jaccard)
    chance = jaccard * (1 - (1 - bound) ** union if bound < 1 else 1.0) * rate**2
    measured = jaccard if similarity is JACCARD else similarities(sets, a, b, similarity, threads)
    there = jaccard >= LEAST
    weights = times[there] / chance[there]
    copies = _copies(a[jaccard >= 1], b[jaccard >= 1], len(rows), rate)
    return Alike(jaccard[there], measured[there], weights, copies)


def _inside(offsets: I64, members: I64) -> tuple[I64, I64, F64]:
    """Return the pairs inside groups, of large ones some, and how many each of them stands for."""
    sizes = np.diff(offsets)
    first, second, times = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float64)]
    rng = np.random.default_rng(0)
    small = sizes <= PER_GROUP
    for size in np.unique(sizes[small]).tolist():
        starts = offsets[:-1][sizes == size]
        i, j = np.triu_indices(size, 1)
        first.append(members[starts[:, None] + i].ravel())
        second.append(members[starts[:, None] + j].ravel())
        times.append(np.ones(len(starts) * len(i)))
    i, j = np.triu_indices(PER_GROUP, 1)
    for group in np.flatnonzero(~small).tolist():
        some = np.sort(rng.choice(int(sizes[group]), PER_GROUP, replace=False)) + offsets[group]
        first.append(members[some[i]])
        second.append(members[some[j]])
        times.append(np.full(len(i), sizes[group] * (sizes[group] - 1) / 2 / len(i)))
    return np.concatenate(first), np.concatenate(second), np.concatenate(times)


def _copies(a: I64, b: I64, count: int, rate: float) -> float:
    """Return the share of documents that equal an earlier one, from the equal pairs of a sample.

    In a sample of documents two equal ones may be all that there are, or few of many: where most groups are of two,
    they are taken for the former, and each stands for 1 / rate^2.
    """
    if not count or not len(a):
        return 0.0
    later, partners = np.unique(b, return_counts=True)
    if rate >= 1:
        return len(later) / count
    documents = count / rate
    groups = np.unique(a[~np.isin(a, later)])
    pairs_alone = int(np.count_nonzero(partners == 1))
    if len(later) <= 1.25 * len(groups):
        return min(pairs_alone / rate**2 / documents, 0.95)
    return min(len(later) / rate / documents, 0.95)
