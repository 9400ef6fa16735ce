"""A result held against exact search on a sample, from the features at hand, before it is written."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import affordable, draw
from sosie.evaluation.sampling.recall import SampledRecall, measure_recall
from sosie.features.collect import Collection
from sosie.matches.equal.groups import Groups
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.planner.constants.documents import CHECK_BUDGET as BUDGET
from sosie.planner.constants.documents import CHECK_SAMPLE as SAMPLE
from sosie.report.deduplication import Outcome
from sosie.types import Pairs, VerifiedPairs

SEED = 0


def check(
    outcome: Outcome,
    collection: Collection,
    groups: Groups,
    threshold: Fraction,
    threads: int | None = None,
    *,
    similarity: Similarity = JACCARD,
) -> tuple[SampledRecall, VerifiedPairs]:
    """Return the recall measured on a sample, and the sample's near misses as pairs of documents.

    At most SAMPLE documents are drawn, and fewer where they are similar to very many. `groups` are the rows of the
    collection that were compared as one.
    """
    sets, _ = sets_of(collection.features)
    compared = Comparison(sets, similarity)
    numbers = collection.numbers(outcome.reading.documents)
    row_of = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    row_of[numbers] = np.arange(len(numbers))
    found = Pairs(row_of[outcome.found.a], row_of[outcome.found.b])
    drawn = draw(len(collection.documents), SAMPLE, SEED) + len(collection.before)
    drawn = affordable(compared, groups, drawn, threshold, BUDGET)
    kept = np.concatenate([np.ones(len(collection.before), np.bool_), outcome.grouped.kept[collection.documents]])
    before = len(collection.before)
    measured, near = measure_recall(compared, groups, drawn, found, kept, threshold, threads, reference=before)
    return measured, replace(near, a=numbers[near.a], b=numbers[near.b])
