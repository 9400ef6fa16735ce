"""Crowded lists: features or keys that very many documents share, of which no pairs were made.

Who stays is the definition's answer here, too: the documents of these lists are looked at together, with what one
machine does for them. There are few of them, or few that differ.
"""

from __future__ import annotations

import numpy as np

from sosie.jobs.parameters import DedupParameters
from sosie.matches.equal.groups import Groups
from sosie.matches.sets.crowded import complete
from sosie.matches.sets.dense import DenseLists, dense_lists
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sides import Sides
from sosie.spark.blocks import Blocks
from sosie.spark.candidates import LIST_TYPES, LISTS, Candidates
from sosie.spark.packed import unpack_all
from sosie.spark.verified import features_of_rows
from sosie.spark.work import Work
from sosie.types import I64, VerifiedPairs


class Crowd:
    """The members of crowded lists: row `rows[i]` is in list `lists[i]`, and has `rests[i]` left there."""

    def __init__(self, work: Work, candidates: Candidates) -> None:
        from pyspark.sql.functions import col

        rows, lists, rests, probes = np.empty((4, 0), np.int64)
        if candidates.listed:
            table = work.collect(candidates.frame.where(col("kind") == LISTS))
            rows, (lists, rests, probes) = unpack_all([each.as_buffer() for each in table["data"]], LIST_TYPES)
        self.rows, self.lists, self.rests, self.probes = rows, lists, rests, probes

    def __len__(self) -> int:
        return len(self.rows)

    def dense(self, group: I64, sizes: I64, count: int) -> DenseLists:
        """Return the lists of groups of documents, given the group of each member and the sizes of all groups."""
        order = np.lexsort((group, self.lists))
        group, lists = group[order], self.lists[order]
        edges = np.flatnonzero(np.concatenate([np.ones(1, np.bool_), lists[1:] != lists[:-1], np.ones(1, np.bool_)]))
        rests = np.where(self.rests[order] > 0, self.rests[order], sizes[group]).astype(np.float64)
        return dense_lists(count, group, edges, rests, self.probes[order] > 0)


def with_crowd(
    work: Work,
    blocks: Blocks,
    job: DedupParameters,
    crowd: Crowd,
    rows: I64,
    pairs: VerifiedPairs,
    *,
    collection: int,
) -> VerifiedPairs:
    """Return verified pairs of groups of identical documents with those of crowded lists.

    The groups are in keep order, and `rows` stand for them; `collection` of them are there in all.
    """
    by_row = np.argsort(rows)
    group = by_row[np.searchsorted(rows, crowd.rows, sorter=by_row)]
    members = np.unique(crowd.rows)
    features = features_of_rows(work, blocks, members)
    starts, stops = np.zeros((2, len(rows)), np.int64)
    place = by_row[np.searchsorted(rows, members, sorter=by_row)]
    starts[place], stops[place] = features.offsets[:-1], features.offsets[1:]
    dense = crowd.dense(group, stops - starts, len(rows))
    return complete(
        rows_of(features.hashes, starts, stops),
        Similarity(job.similarity, None, features.tags),
        job.threshold,
        pairs,
        dense,
        Sides.of(Groups(np.arange(len(rows)), np.arange(len(rows) + 1)), 0),
        connected=job.clusters == "transitive",
        collection=collection,
    )
