"""Which threshold? The documents are read, a sample of them is held against all, and who would go is counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.documents.fetch import fetch_texts
from sosie.documents.reading import Reading
from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import MARGIN, affordable, draw
from sosie.evaluation.sampling.search import sought
from sosie.evaluation.thresholds.going import Going, count_going, estimate_going
from sosie.evaluation.thresholds.neighbours import GRID, LEAST, Near, Neighbours, nearest_of
from sosie.evaluation.thresholds.valley import Valley, find_valley, histogram
from sosie.features.collect import Collection
from sosie.features.shingles import Shingles
from sosie.jobs import stages
from sosie.jobs.auto import check_limit, choose_method
from sosie.jobs.parameters import DedupParameters
from sosie.jobs.stages import Collapsed
from sosie.jobs.warm import prepare
from sosie.jobs.work import open_inputs, working
from sosie.matches.candidates import Exact
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Measure
from sosie.planner.constants.documents import CHECK_BUDGET
from sosie.report.examples import Example
from sosie.report.panels import CHARACTERS
from sosie.report.threshold_advice import NearPairs, ThresholdAdvice
from sosie.report.timing import Progress, Silent, Timing
from sosie.storage.resident import within_machine
from sosie.storage.room import Room
from sosie.storage.size import as_size
from sosie.types import I64, VerifiedPairs

SAMPLE = 2000
THRESHOLDS = tuple(Fraction(step, 20) for step in (10, 12, 14, 16, 18, 19))
USUAL = Fraction(4, 5)
JOINED = 1 << 28  # features that the join of all documents may look at; beyond, who goes is estimated


def plan_threshold(
    documents: Documents | Source,
    *,
    shingles: Shingles = Shingles(),
    similarity: Measure = "jaccard",
    sample: int = SAMPLE,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
) -> ThresholdAdvice:
    """Say which threshold suits documents: how near their nearest ones are, who would go, and pairs to look at.

    `sample` documents are drawn at random and held against all others, exactly; fewer where each resembles very many.
    Who goes at six thresholds is counted, or estimated from the sample where that would take long or does not fit in
    `memory`. Nothing is written; `write_page` of the answer makes a page of it.

    >>> notes = [f"note {i} {i * i} {i + 7} is about {3 * i} and {5 * i}" for i in range(9)]
    >>> found = plan_threshold([*notes, notes[0] + " too", notes[3]])
    >>> found.identical, found.valley, [each.documents for each in found.going]
    (2, None, [2, 2, 2, 2, 1, 1])
    """
    return advise(
        documents,
        shingles=shingles,
        similarity=similarity,
        sample=sample,
        seed=seed,
        memory=memory,
        threads=threads,
    )


def advise(
    source: Documents | Source,
    *,
    shingles: Shingles = Shingles(),
    similarity: Measure = "jaccard",
    sample: int = SAMPLE,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ThresholdAdvice:
    """Do what `plan_threshold` says, and show how far it is."""
    if sample < 1:
        raise UsageError(f"a sample has at least 1 document, got {sample}")
    limit = within_machine(as_size(memory))
    check_limit(limit)
    job = DedupParameters(shingles=shingles, similarity=similarity)
    timing, inputs = Timing(progress or Silent()), open_inputs(job, as_source(source), None, threads, limit)
    reading = inputs.reading
    with working(job, inputs, None, limit, threads) as work:
        pages = ["pages"] if reading.has_pages else []
        prepare(*job.needs, "evaluate result", *pages, progress=timing.progress, threads=threads, memory=limit)
        with timing.stage("read") as stage:
            collection = stages.read(reading, job, None, work, stage)
        work.watch([*vars(collection.features).values(), *vars(collection.rejects).values()])
        with timing.stage("collapse"):
            collapsed = stages.collapse(collection, stages.weigh(collection, job, work.room), job.keep, False)
        compared = _Compared(job, collection, collapsed, work.room, limit)
        with timing.stage("sample"):
            found = compared.sampled(sample, seed)
            counts = histogram(found.similarity)
            valley, related = _valleys(counts)
        threshold = USUAL if valley is None else Fraction(str(valley.threshold))
        thresholds = _six(threshold)
        with timing.stage("count"):
            going = compared.going(found, thresholds)
        numbers = collection.numbers(reading.documents)
        first = numbers[collapsed.groups.representatives]
        near = tuple(_near(found.near[GRID.index(each)], each, first) for each in thresholds)
        with timing.stage("texts"):
            ids, texts = _looked_up(reading, near, threads)
    return ThresholdAdvice(
        measure=similarity,
        shingles=shingles.to_dict(),
        documents=len(collection),
        rejected=len(collection.rejects.rows),
        wordless=int(collection.wordless.sum()),
        sampled=len(found.similarity),
        seed=seed,
        nearest=tuple(counts.tolist()),
        identical=int((found.similarity == 1).sum()),
        valley=valley,
        related=related,
        threshold=float(threshold),
        going=tuple(going),
        near=near,
        ids=ids,
        texts=texts,
        stages=tuple(timing.finished),
    )


class _Compared:
    """A collection, its groups of identical documents, and how they are compared."""

    def __init__(
        self, job: DedupParameters, collection: Collection, collapsed: Collapsed, room: Room, limit: int | None
    ) -> None:
        self.job, self.collection, self.collapsed, self.room, self.limit = job, collection, collapsed, room, limit
        self.distinct = Comparison(collapsed.sets, collapsed.similarity)

    def sampled(self, size: int, seed: int) -> Neighbours:
        """Hold a sample against all."""
        rows, groups = len(self.collection), self.collapsed.groups
        drawn = draw(rows, size, seed)
        if len(groups):
            whole = Comparison(sets_of(self.collection.features)[0], self.collapsed.similarity)
            drawn = affordable(whole, groups, drawn, LEAST + MARGIN, CHECK_BUDGET)
        return nearest_of(self.distinct, groups, drawn, rows, self.room.threads)

    def going(self, found: Neighbours, thresholds: list[Fraction]) -> list[Going]:
        """Count who goes at each threshold where that can be done in time and memory, else estimate it."""
        documents, groups = len(self.collection), self.collapsed.groups
        verified = self._pairs(found.probes, thresholds[0])
        if verified is None:
            return estimate_going(self.distinct, found, thresholds, documents, self.room.threads)
        return count_going(self.distinct, groups, verified, thresholds, documents)

    def _pairs(self, probes: I64, least: Fraction) -> VerifiedPairs | None:
        """Return all pairs of groups that reach a similarity; None where they take too long, or too much to list."""
        features, rows = len(self.collection.features.hashes), len(self.collection)
        try:
            method = choose_method(replace(self.job, threshold=least), features, rows, self.limit)
        except UsageError:  # what no method can do in this memory can be estimated
            return None
        if not isinstance(method, Exact):
            return None
        steps = sought(self.distinct, probes, least).steps
        if float(steps.sum()) * len(self.collapsed.groups) > float(JOINED) * max(len(probes), 1):
            return None
        candidates = stages.match(self.collapsed, method, least, self.room)
        verified = stages.verify(self.collapsed, candidates, least, self.job.clusters, self.room.threads)
        return None if verified.counters.get("bounded_lists") else verified


def _valleys(counts: I64) -> tuple[Valley | None, Valley | None]:
    """Return the valley that a threshold can be in, and one below that, if that is the clearer one."""
    valley = find_valley(counts)
    if valley is None or valley.threshold >= THRESHOLDS[0]:
        return valley, None
    return find_valley(counts, after=valley.high), valley


def _six(threshold: Fraction) -> list[Fraction]:
    """Return six thresholds, the given one among them: it stands for the one of the usual ones that is nearest."""
    nearest = min(THRESHOLDS, key=lambda each: (abs(each - threshold), each == USUAL))
    return sorted(threshold if each == nearest else each for each in THRESHOLDS)


def _near(near: Near, threshold: Fraction, first: I64) -> NearPairs:
    """Return pairs of groups as pairs of documents: `first` is that of each group."""
    below, above = (tuple(_examples(side, first)) for side in (near.below, near.above))
    return NearPairs(float(threshold), below, above)


def _examples(pairs: VerifiedPairs, first: I64) -> list[Example]:
    totals = [None] * len(pairs) if pairs.total is None else pairs.total.tolist()
    columns = (first[pairs.a].tolist(), first[pairs.b].tolist(), pairs.similarity.tolist(), pairs.shared.tolist())
    return [Example(*each) for each in zip(*columns, totals, strict=True)]


def _looked_up(
    reading: Reading, near: tuple[NearPairs, ...], threads: int | None
) -> tuple[dict[int, Any], dict[int, str]]:
    """Return the ids of the documents in these pairs, and their texts, read again."""
    shown = [pair for each in near for pair in (*each.below, *each.above)]
    rows = np.unique(np.array([row for pair in shown for row in (pair.a, pair.b)], np.int64))
    ids = dict(zip(rows.tolist(), reading.ids.take(rows).to_pylist(), strict=True)) if len(rows) else {}
    return ids, fetch_texts(reading, rows, threads, limit=CHARACTERS + 1)
