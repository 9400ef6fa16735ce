"""From blocks to pairs and clusters: what the stages of `jobs.stages` do on one machine, on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.clusters.grouping import anchored
from sosie.jobs.parameters import DedupParameters
from sosie.matches.candidates import Identical, Method
from sosie.report.timing import Timing
from sosie.spark.attributes import attributes_of
from sosie.spark.blocks import Blocks
from sosie.spark.copies import Copies
from sosie.spark.crowded import Crowd, with_crowd
from sosie.spark.grouping import Grouped, Involved, between_groups, grouped, in_order, settled
from sosie.spark.matching import collected, match, recall_of
from sosie.spark.verified import verify_candidates
from sosie.spark.work import Work
from sosie.types import I64, VerifiedPairs

NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Resolved:
    """Who stays and who goes of the documents that are in any pair; all others stay."""

    involved: Involved
    found: Grouped


def resolve(
    work: Work,
    blocks: Blocks,
    job: DedupParameters,
    method: Method,
    copies: Copies,
    without: I64,
    worded: int,
    timing: Timing,
) -> Resolved:
    """Match, verify and cluster documents, of which `worded` have features; some rows are left out."""
    pairs = VerifiedPairs(NONE, NONE, np.empty(0), NONE, NONE, {"comparisons": 0, "candidates": 0}, 1.0)
    crowd = None
    if not isinstance(method, Identical):
        with timing.stage("match"):
            candidates = match(work, blocks, job, method, copies, without, worded)
        with timing.stage("verify"):
            verified = verify_candidates(work, blocks, candidates, job.threshold, job.similarity)
            pairs = replace(collected(work, verified, candidates, job.similarity), recall=recall_of(job, method))
            crowd = Crowd(work, candidates) if candidates.listed else None
    with timing.stage("cluster"):
        members = NONE if crowd is None else crowd.rows
        rows = np.unique(np.concatenate([copies.rows, copies.of, pairs.a, pairs.b, members]))
        involved = in_order(attributes_of(work, blocks, rows))
        groups = grouped(involved, copies.first_of(involved.rows), job.keep)
        placed = replace(pairs, a=involved.places(pairs.a), b=involved.places(pairs.b))
        between = between_groups(placed, groups, len(involved.rows))
        if crowd is not None:
            collection = worded - len(copies.rows)
            first = copies.first_of(involved.rows[groups.representatives])
            between = with_crowd(
                work,
                blocks,
                crowd,
                first,
                between,
                job.threshold,
                job.similarity,
                collection=collection,
                connected=False,
            )
        clusters = anchored(len(groups), between)
        sizes: Any = involved.known["size"].to_numpy()
        return Resolved(involved, settled(between, groups, clusters, sizes.astype(np.int64), worded))
