"""From the blocks of documents to verified pairs, by any method; what `jobs.stages` does on one machine."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.errors import UsageError
from sosie.features.tags import NO_KEY, draw_key
from sosie.jobs.auto import Chosen, choose_join, chosen, wish_of
from sosie.jobs.parameters import DedupParameters
from sosie.matches.candidates import SIMHASH_RECALL, Exact, Identical, Method, simhash_radius
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.spark.blocks import Blocks, Extraction
from sosie.spark.candidates import Candidates
from sosie.spark.copies import Copies
from sosie.spark.headers import header_candidates
from sosie.spark.keys import key_candidates
from sosie.spark.prefixes import Sizes, prefix_candidates
from sosie.spark.tiles import tile_candidates
from sosie.spark.verified import COLLIDED
from sosie.spark.work import Work
from sosie.types import I64, VerifiedPairs

ROWS = 10_000_000  # for which a method is planned: how many there are is known later

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_job(job: DedupParameters) -> None:
    """Refuse what is done on one machine only."""
    if job.weighted:
        raise UsageError("on Spark features do not weigh: leave the weighting out, or use sosie.dedup")
    if job.similarity == "containment":
        raise UsageError("on Spark documents are compared by Jaccard or cosine: for containment use sosie.dedup")


def choose_method(job: DedupParameters) -> Chosen:
    """Return the method: "auto" is exact, since no machine has to hold all lists, and minhash where less is asked.

    It does not depend on the machine: what runs elsewhere is planned with the usual constants.
    """
    if not isinstance(job.method, str):
        return Chosen(job.method)
    name = job.method if job.method != "auto" else "exact" if job.recall == 1 else "minhash"
    if name == "exact":
        return Chosen(Exact(shingles=job.shingles))
    return chosen(replace(job, method=name), wish_of(job, ROWS), Facts(), Machine())


def extraction_of(job: DedupParameters, method: Method, *, empty: bool = True) -> Extraction:
    """Return what is made of each text: features, and what the method signs."""
    signer: Any = method.fit() if isinstance(method, Minhash | Simhash) else None
    key = NO_KEY if job.identical else draw_key()
    secret = secrets.randbits(64), secrets.randbits(64)
    return Extraction(job.evidence, key, secret, job.whole, empty, signer)


def match(
    work: Work, blocks: Blocks, job: DedupParameters, by: Chosen, copies: Copies, without: I64, worded: int
) -> Candidates:
    """Return the candidate pairs of groups of identical documents; `worded` documents have features."""
    method = by.method
    groups, left_out = worded - len(copies.rows), np.union1d(copies.rows, without)
    assert not isinstance(method, Identical), "what is identical is in one group"
    if isinstance(method, Minhash):
        return key_candidates(work, blocks, left_out, method.bands, groups, copies.first_pairs)
    if isinstance(method, Exact):
        return prefix_candidates(work, blocks, left_out, Sizes(job.similarity, job.threshold), groups)
    radius = simhash_radius(method, Similarity(job.similarity), job.threshold) if by.radius is None else by.radius
    if choose_join(groups, method.bits, radius) == "blocks":
        found = header_candidates(work, blocks, left_out, method.bits, radius)
    else:
        found = tile_candidates(work, blocks, left_out, method.bits, radius)
    return replace(found, counters={"comparisons": found.pairs, "radius": radius})


def recall_of(job: DedupParameters, by: Chosen) -> float:
    """Return the chance that a pair exactly at the threshold is found."""
    method, similarity = by.method, Similarity(job.similarity)
    if isinstance(method, Minhash):
        return method.recall(float(similarity.least_jaccard(job.threshold)))
    if not isinstance(method, Simhash):
        return 1.0
    if by.radius is None or job.recall == 1:
        return SIMHASH_RECALL
    return float(method.chances(np.array([float(similarity.least_cosine(job.threshold))]), by.radius)[0])


def collected(work: Work, verified: DataFrame, candidates: Candidates, measure: Measure) -> VerifiedPairs:
    """Return verified pairs on the driver, ordered, with what was counted."""
    table = work.collect(verified)
    a, b, similarity, shared, total = (table[name].to_numpy() for name in table.column_names)
    order = np.lexsort((b, a))
    order = order[shared[order] > 0]
    counters = {**candidates.counters, "candidates": candidates.pairs}
    if collisions := int(b[shared == COLLIDED].sum()):
        counters["collisions"] = collisions
    totals = None if measure == "cosine" else total[order]
    return VerifiedPairs(a[order], b[order], similarity[order], shared[order], totals, counters)
