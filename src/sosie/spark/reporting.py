"""The report of a de-duplication on Spark: the same as one machine's, from what was counted on the way."""

from __future__ import annotations

from collections.abc import Iterable

from sosie.report.check import SEED
from sosie.report.report import Counts, InputCount, Parameters, Report
from sosie.report.summary import warnings
from sosie.report.timing import StageCost
from sosie.spark.blocks import WORDLESS, Blocks
from sosie.spark.resolve import Resolved
from sosie.spark.work import Work


def report_on(
    blocks: Blocks,
    resolved: Resolved,
    parameters: Parameters,
    inputs: Iterable[InputCount],
    stages: Iterable[StageCost],
    work: Work,
    *,
    rejected: int,
    wordless: int,
    passed_over: int = 0,
) -> Report:
    """Return what there is to say: how it was done, what was counted, and what the stages took.

    Where comparisons were left out, no recall is predicted.
    """
    found, clusters = resolved.found.pairs, resolved.found.clusters
    gone, bare = ~clusters.kept, resolved.involved.known["state"].to_numpy() == WORDLESS
    sizes, dropped = clusters.members, int((~clusters.kept).sum())
    numbers = Counts(
        documents=blocks.rows,
        kept=blocks.rows - dropped - rejected,
        dropped=dropped,
        rejected=rejected,
        without_features=wordless,
        pairs=len(found),
        clusters=int((sizes > 1).sum()),
        largest_cluster=int(sizes.max(initial=min(blocks.rows, 1))),
        dropped_without_features=int((gone & bare).sum()),
        folders_passed_over=passed_over or None,
    )
    whole = not found.counters.get("bounded_lists") and found.recall is not None
    return Report(
        parameters=parameters,
        inputs=tuple(inputs),
        against=None,
        counts=numbers,
        text_bytes=blocks.counts["bytes"],
        features=blocks.features - blocks.counts["stand_ins"],
        predicted_recall=round(found.recall, 6) if whole and found.recall is not None else None,
        counters=dict(found.counters),
        warnings=tuple(warnings(numbers, found.counters)),
        measured=None,
        seed=SEED,
        stages=tuple(stages),
        threads=work.cores,
        engine=work.described(),
    )
