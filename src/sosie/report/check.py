"""A result held against exact search on a sample, from the features at hand, before it is written."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.recall import affordable, draw, measure_recall
from sosie.features.collect import Collection
from sosie.matches.equal.groups import Groups
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import JACCARD, Similarity
from sosie.report.deduplication import Deduplication
from sosie.types import Pairs

SAMPLE, SEED = 1000, 0
BUDGET = 1 << 25  # features that the search may look at: a second or so, where everything resembles everything


def checked(
    result: Deduplication,
    collection: Collection,
    groups: Groups,
    threshold: Fraction,
    threads: int | None = None,
    *,
    similarity: Similarity = JACCARD,
) -> Deduplication:
    """Return the result with the recall measured on a sample in its report, and with the sample's near misses.

    At most SAMPLE documents are drawn, and fewer where they are similar to very many. `groups` are the rows of the
    collection that were compared as one.
    """
    sets, _ = sets_of(collection.features)
    compared = Comparison(sets, similarity)
    numbers = collection.numbers(result.reading.documents)
    row_of = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    row_of[numbers] = np.arange(len(numbers))
    found = Pairs(row_of[result.found.a], row_of[result.found.b])
    drawn = draw(len(collection.documents), SAMPLE, SEED) + len(collection.before)
    drawn = affordable(compared, groups, drawn, threshold, BUDGET)
    kept = np.concatenate([np.ones(len(collection.before), np.bool_), result.grouped.kept[collection.documents]])
    measured, near = measure_recall(compared, groups, drawn, found, kept, threshold, threads)
    measured = replace(measured, documents=len(collection.documents))  # what was drawn from: not the reference
    result.report["measured"] = {"seed": SEED, **measured.described()}
    return replace(result, near=replace(near, a=numbers[near.a], b=numbers[near.b]))
