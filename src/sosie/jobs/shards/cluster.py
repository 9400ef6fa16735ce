"""The fourth stage of shards: who stays, who goes and because of whom, as tables and a report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sosie.clusters.grouping import anchored
from sosie.jobs.shards.collection import SignedShards
from sosie.jobs.shards.folder import CLUSTERED, GROUPS, ShardFolder, ShardReport, key_from
from sosie.jobs.shards.join import joined
from sosie.matches.equal.groups import Groups
from sosie.matches.equal.sets import expand, listable
from sosie.report.assemble import assemble, report_on
from sosie.report.deduplication import Outcome
from sosie.report.page import write_page
from sosie.report.report import Parameters
from sosie.report.timing import Progress, Silent, Timing
from sosie.types import Clusters, VerifiedPairs


def cluster_shards(folder: ShardFolder, *, threads: int | None = None, progress: Progress | None = None) -> ShardReport:
    """Decide who stays, and write pairs.parquet, clusters.parquet, report.json and report.html; one machine does.

    It holds the pairs, and some 100 bytes for each document, but no features.
    """
    timing, signed, held = Timing(progress or Silent()), SignedShards.of(folder), folder.stage(GROUPS)
    verified, pairs_key = joined(folder)
    key = key_from(CLUSTERED, held.key, pairs_key)
    if done := folder.is_done(CLUSTERED, key):
        counts = dict(folder.stage(CLUSTERED).meta["counts"])
    else:
        reading = signed.reading()
        inputs = [str(place.path) for place in reading.inputs]
        with folder.writing(CLUSTERED, None, inputs) as directory:
            with timing.stage("cluster"):
                groups = Groups(held.arrays["rows"], held.arrays["offsets"])
                recall = signed.meta["by"]["recall"]
                listed, clusters = _decided(signed, groups, replace(verified, recall=recall))
                collection = signed.collection()
                outcome = assemble(collection, listed, clusters, reading, None)
                outcome.write_tables(directory.path)
            parameters = Parameters(**signed.meta["parameters"])
            report = report_on(outcome, collection, parameters, None, timing.finished, threads)
            report.write_json(directory.path)
            write_page(outcome.reported(report, None), directory.path, threads)
            counts = {
                "documents": reading.documents,
                "kept": int(outcome.mask.sum()),
                "pairs": len(listed),
                "rejected": len(collection.rejects),
            }
            arrays = {"anchor": outcome.grouped.anchor, "similarity": outcome.grouped.similarity}
            folder.save(directory, CLUSTERED, key, arrays, {"counts": counts})
    stages = tuple(timing.finished)
    return ShardReport(stage="cluster", shard=None, done_before=done, counts=counts, stages=stages)


def outcome_of(folder: ShardFolder) -> tuple[Outcome, SignedShards, str]:
    """Return what becomes of every document, without the pairs; what was signed; and the key of it."""
    signed, held = SignedShards.of(folder), folder.stage(CLUSTERED)
    none = np.empty(0, np.int64)
    grouped = Clusters(np.array(held.arrays["anchor"]), np.array(held.arrays["similarity"]))
    found = VerifiedPairs(none, none, np.empty(0), none)
    return Outcome(signed.reading(), found, grouped, signed.rejects), signed, held.key


def _decided(signed: SignedShards, groups: Groups, verified: VerifiedPairs) -> tuple[VerifiedPairs, Any]:
    """Return the pairs of rows as they are listed, and the clusters of rows."""
    of_groups = anchored(len(groups), verified)
    rows, sizes = int(signed.rows[-1]), signed.sizes
    clusters = Clusters(np.arange(rows), np.ones(rows))
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    clusters.anchor[groups.rows] = groups.representatives[of_groups.anchor[group]]
    clusters.similarity[groups.rows] = of_groups.similarity[group]
    listed = expand(verified, listable(verified, groups), sizes[groups.representatives])
    return listed, clusters
