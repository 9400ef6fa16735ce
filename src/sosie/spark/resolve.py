"""From blocks to pairs and clusters: what the stages of `jobs.stages` do on one machine, on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.clusters.grouping import anchored
from sosie.jobs.auto import Chosen
from sosie.jobs.parameters import DedupParameters
from sosie.kernels.sets.cluster import components
from sosie.matches.candidates import Identical
from sosie.report.timing import Timing
from sosie.spark.attributes import attributes_of
from sosie.spark.blocks import Blocks
from sosie.spark.copies import Copies
from sosie.spark.crowded import Crowd, with_crowd
from sosie.spark.grouping import Grouped, Involved, between_groups, grouped, in_order, settled
from sosie.spark.matching import collected, match, recall_of
from sosie.spark.verified import similarities, verify_candidates
from sosie.spark.work import Work
from sosie.types import I64, Clusters, VerifiedPairs

NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Resolved:
    """Who stays and who goes of the documents that are in any pair; all others stay."""

    involved: Involved
    found: Grouped


def bare_rows(job: DedupParameters, blocks: Blocks) -> int:
    """Return how many rows have no features, so that they are similar to nothing: rejected ones among them."""
    wordless = 0 if job.whole or job.identical else blocks.counts["wordless"]
    return blocks.counts["rejected"] + wordless


def resolve(
    work: Work,
    blocks: Blocks,
    job: DedupParameters,
    by: Chosen,
    copies: Copies,
    without: I64,
    worded: int,
    timing: Timing,
    order: Any = None,
) -> Resolved:
    """Match, verify and cluster documents, of which `worded` have features; some rows are left out.

    `order` decides who stays, where a column does and the blocks do not know it: it has a value for each row.
    """
    pairs = VerifiedPairs(NONE, NONE, np.empty(0), NONE, NONE, {"comparisons": 0, "candidates": 0}, 1.0)
    crowd = None
    if not isinstance(by.method, Identical):
        with timing.stage("match"):
            candidates = match(work, blocks, job, by, copies, without, worded)
        with timing.stage("verify"):
            verified = verify_candidates(work, blocks, candidates, job.threshold, job.similarity)
            pairs = replace(collected(work, verified, candidates, job.similarity), recall=recall_of(job, by))
            crowd = Crowd(work, candidates) if candidates.listed else None
    with timing.stage("cluster"):
        members = NONE if crowd is None else crowd.rows
        rows = np.unique(np.concatenate([copies.rows, copies.of, pairs.a, pairs.b, members]))
        known = attributes_of(work, blocks, rows)
        involved = in_order(known if order is None else known.append_column("keep", order.take(rows)))
        groups = grouped(involved, copies.first_of(involved.rows), job.keep)
        placed = replace(pairs, a=involved.places(pairs.a), b=involved.places(pairs.b))
        between = between_groups(placed, groups, len(involved.rows))
        first, connected = copies.first_of(involved.rows[groups.representatives]), job.clusters == "transitive"
        if crowd is not None:
            of = worded - len(copies.rows)
            between = with_crowd(work, blocks, job, crowd, first, between, collection=of)
        if connected:
            clusters = _transitive(work, blocks, job, first, between)
        else:
            clusters = anchored(len(groups), between)
        sizes: Any = involved.known["size"].to_numpy()
        return Resolved(involved, settled(between, groups, clusters, sizes.astype(np.int64), worded))


def _transitive(work: Work, blocks: Blocks, job: DedupParameters, rows: I64, pairs: VerifiedPairs) -> Clusters:
    """Return the connected components of groups, and how similar each is to the one that stays: `rows` are theirs."""
    anchor = np.empty(len(rows), np.int64)
    components(pairs.a, pairs.b, anchor)
    gone = np.flatnonzero(anchor != np.arange(len(anchor)))
    to_anchor = np.ones(len(anchor))
    if len(gone):
        to_anchor[gone] = similarities(work, blocks, rows[gone], rows[anchor[gone]], job.similarity)
    return Clusters(anchor, to_anchor)
