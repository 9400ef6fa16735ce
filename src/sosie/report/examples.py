"""Which documents a person should look at: the largest clusters, a random sample, what is nearest the threshold."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from sosie.documents.write import DROPPED
from sosie.report.deduplication import Deduplication
from sosie.types import F64, I64, VerifiedPairs

CLUSTERS, MEMBERS, SAMPLE, LOWEST = 10, 3, 20, 10
SEED = 0


@dataclass(frozen=True)
class Example:
    """Two documents by number, and their similarity: as a fraction, too, where that is known."""

    a: int
    b: int
    similarity: float
    shared: int | None = None
    total: int | None = None


@dataclass(frozen=True)
class LargeCluster:
    """A cluster by the document that stays, and its members that are least similar to it."""

    anchor: int
    size: int
    members: list[Example]


@dataclass(frozen=True)
class Examples:
    """What the report shows of a result; the same result always gives the same examples.

    `lowest` are the pairs just above the threshold, `below` those just below, None where they were not looked for.
    """

    clusters: list[LargeCluster]
    sample: list[Example]
    lowest: list[Example]
    below: list[Example] | None = None

    @property
    def rows(self) -> I64:
        """The documents whose texts are needed."""
        pairs = [*self.sample, *self.lowest, *(self.below or [])]
        shown = [*pairs, *(member for cluster in self.clusters for member in cluster.members)]
        return np.unique(np.array([row for example in shown for row in (example.a, example.b)], np.int64))


def choose_examples(result: Deduplication) -> Examples:
    """Choose what to show of a result.

    >>> import sosie
    >>> import pyarrow as pa
    >>> result = sosie.dedup(pa.table({"text": ["one two three four", "something else", "one two three four"]}))
    >>> choose_examples(result).sample
    [Example(a=0, b=2, similarity=1.0, shared=None, total=None)]
    """
    found, near = result.found, result.near
    lowest = _examples(found, _least(found.similarity, LOWEST))
    below = None if near is None else _examples(near, np.arange(len(near)))
    return Examples(_largest(result), _sample(result), lowest, below)


def _largest(result: Deduplication) -> list[LargeCluster]:
    grouped = result.grouped
    sizes = grouped.members
    anchors = np.flatnonzero(sizes > 1)
    largest = anchors[np.argsort(-sizes[anchors], kind="stable")[:CLUSTERS]]
    clusters = []
    for anchor in largest.tolist():
        others = np.flatnonzero(grouped.anchor == anchor)
        others = others[others != anchor]
        chosen = others[_least(grouped.similarity[others], MEMBERS)]
        members = [Example(anchor, row, float(grouped.similarity[row])) for row in chosen.tolist()]
        clusters.append(LargeCluster(anchor, int(sizes[anchor]), members))
    return clusters


def _sample(result: Deduplication) -> list[Example]:
    dropped = np.flatnonzero(result.decisions.state == DROPPED)
    picked = random.Random(SEED).sample(range(len(dropped)), min(SAMPLE, len(dropped)))
    grouped = result.grouped
    return [
        Example(int(grouped.anchor[row]), row, float(grouped.similarity[row]))
        for row in dropped[sorted(picked)].tolist()
    ]


def _examples(pairs: VerifiedPairs, chosen: I64) -> list[Example]:
    return [
        Example(
            int(pairs.a[pair]),
            int(pairs.b[pair]),
            float(pairs.similarity[pair]),
            int(pairs.shared[pair]),
            None if pairs.total is None else int(pairs.total[pair]),
        )
        for pair in chosen.tolist()
    ]


def _least(values: F64, count: int) -> I64:
    """Return where the least values are, ascending; of equal ones the first."""
    if len(values) > count:
        bound = np.partition(values, count - 1)[count - 1]
        near = np.concatenate([np.flatnonzero(values < bound), np.flatnonzero(values == bound)[:count]])
    else:
        near = np.arange(len(values))
    return np.asarray(near[np.lexsort((near, values[near]))[:count]])
