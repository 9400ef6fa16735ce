"""A written result held against exact search on a sample: its inputs are read again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.evaluation.result import Numbering, Result, numbered_documents
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.draw import draw
from sosie.evaluation.sampling.recall import SampledRecall, measure_recall
from sosie.features.collect import Collection, collect
from sosie.features.shingles import Shingles
from sosie.features.weighting import weigh
from sosie.features.whole import WholeText
from sosie.matches.equal.sets import collapse
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.storage.room import Room
from sosie.types import Bools, Pairs


def sampled_recall(
    result: Result,
    source: Source,
    *,
    size: int = 1000,
    seed: int = 0,
    threshold: Fraction | None = None,
    shingles: Shingles | None = None,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> SampledRecall:
    """Compare `size` random documents with all documents of the source, exactly, and look them up in the result.

    Threshold and shingles are those of the result's report; they are needed where it does not say (a join).
    """
    if size < 1:
        raise UsageError(f"a sample has at least 1 document, got {size}")
    threshold = _one_of(result.threshold, threshold, "threshold")
    evidence = WholeText() if result.identical else _one_of(result.shingles, shingles, "shingles")
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        reading = source.batches(threads)
        measure, weighting = result.similarity
        room = Room(scratch, threads=threads)
        weighted = weighting != "binary"
        collection = collect(reading, evidence, room, counts=weighted, whole=result.whole, advance=advance)
        similarity = Similarity(measure, weigh(collection.features, weighting, room, collection.stand_ins))
        result.check_documents(reading)
        result.check_features(len(collection.features.hashes) - collection.stand_ins)
        numbering = numbered_documents(reading)
        found, kept = _found(result, collection, numbering)
        sets, _ = sets_of(collection.features)
        groups = collapse(sets, np.arange(len(collection)), similarity.weights)
        groups = replace(groups, star=result.report.get("counters", {}).get("bounded_above", groups.star))
        drawn = draw(len(collection), size, seed)
        return measure_recall(Comparison(sets, similarity), groups, drawn, found, kept, threshold, threads)[0]


def _one_of(said: Any, given: Any, name: str) -> Any:
    """Return a parameter of the report, or as it was given."""
    if said is None and given is None:
        raise UsageError(f"the report does not say the {name} of the run: give the {name}")
    if said is not None and given is not None and said != given:
        raise UsageError(f"the run had the {name} {said}, not {given}: leave it out")
    return given if said is None else said


def _found(result: Result, collection: Collection, numbering: Numbering) -> tuple[Pairs, Bools | None]:
    """Return the pairs of the result as rows of the collection, -1 for rejected ones, and which rows stay."""
    row_of = np.full(len(numbering), -1, np.int64)
    row_of[collection.documents] = np.arange(len(collection))
    a, b = (row_of[numbering.of(result.pairs[side], str(result.path))] for side in ("a", "b"))
    if result.clusters is None:
        return Pairs(a, b), None
    kept = np.ones(len(collection), np.bool_)
    clustered = row_of[numbering.of(result.clusters["id"], str(result.path))]
    kept[clustered] = result.clusters["kept"].to_numpy()
    return Pairs(a, b), kept
