"""What documents say that are to be de-duplicated: counted where all are at hand, else told by a sample of them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sosie.documents.reading import Reading
from sosie.documents.sampled import BUDGET, Sampled, sample_documents
from sosie.documents.source import Documents, Source, as_source
from sosie.features.shingles import Shingles
from sosie.features.weighting import Weighting, weigh
from sosie.features.whole import Evidence, WholeText
from sosie.jobs.planning.alike import Alike, alike
from sosie.jobs.planning.feature_groups import FeatureGroup, FeatureGroups, exact_work, prefix_groups
from sosie.jobs.warm import prepare
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.sets.threshold import as_fraction
from sosie.planner.corpus import Corpus
from sosie.planner.facts import Facts, Spread
from sosie.planner.memory import prefix_share
from sosie.report.timing import Silent
from sosie.storage.room import Room
from sosie.text.column import as_column
from sosie.text.words import words
from sosie.types import F64, Features

ROWS = 1 << 14  # of features at hand, whose prefixes are looked at
FEWEST = 1000  # ... of a small collection, ...
PART = 8  # ... and of another one at most its eighth
MARGIN = 0.1  # how far below the threshold pairs are still compared by the exact join


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the facts are wanted for: what similar means."""

    threshold: Fraction = Fraction(4, 5)
    measure: Measure = "jaccard"
    weighting: Weighting = "binary"
    evidence: Evidence = Shingles()


def facts_of_documents(
    documents: Documents | Source,
    *,
    threshold: float | str | Fraction = 0.8,
    similarity: Measure = "jaccard",
    weighting: Weighting = "binary",
    shingles: Evidence = Shingles(),
    budget: int = BUDGET,
    threads: int | None = None,
) -> Facts:
    """Return what a sample says of documents, `budget` bytes from places all over them; they are not read otherwise.

    `Facts.corpus` has how many there are, counted or estimated, and what there is to compare at this threshold.

    >>> facts = facts_of_documents(["a rose is a rose", "a rose is a rose", "something else entirely"])
    >>> facts.corpus.documents, round(facts.corpus.copies, 2), facts.counted
    (3, 0.33, True)
    """
    asked = Asked(threshold=as_fraction(threshold), measure=similarity, weighting=weighting, evidence=shingles)
    reading = as_source(documents).batches(threads)
    prepare("inspect", progress=Silent(), threads=threads)
    sampled = sample_documents(reading, budget, threads)
    rows = np.random.default_rng(0).permutation(len(sampled)) if not sampled.is_whole else np.arange(len(sampled))
    features = _extracted(sampled, asked, threads)
    similarity_of = _similarity(features, asked)
    rate = 1.0 if sampled.is_whole else len(sampled) / max(sampled.documents, 1)
    sets = sets_of(features)[0]
    found = alike(sets, similarity_of, rate=rate, drawn=max(len(features), 1), threads=threads)
    some = np.sort(rows[:ROWS])
    chosen = features.take(some)
    groups = prefix_groups(sets_of(chosen)[0], asked.threshold, _similarity(chosen, asked), threads)
    share = rate * len(some) / max(len(features), 1)
    corpus = Corpus(
        documents=sampled.documents,
        sampled=len(sampled),
        is_counted=sampled.is_counted,
        file_bytes=sampled.file_bytes,
        format=sampled.kind[0],
        compression=sampled.kind[1],
        html=reading.columns.html is not None,
        largest=tuple(_named(group, share, sampled, some, asked) for group in groups.largest),
        notes=sampled.notes,
    )
    text_bytes = float(as_column(sampled.texts).offsets[-1]) / max(len(sampled), 1) if len(sampled) else 0.0
    return _facts(corpus, found, groups, share, asked, (len(features.hashes) / max(len(features), 1), text_bytes))


def facts_of_features(
    features: Features, asked: Asked, reading: Reading, text_bytes: float, *, threads: int | None = None
) -> Facts:
    """Return what the features of all documents say, of which prefixes are looked at in some rows only."""
    count = len(features)
    size = min(count, max(FEWEST, min(ROWS, count // PART)))
    some = np.sort(np.random.default_rng(0).choice(count, size, replace=False)) if size < count else np.arange(count)
    chosen = features.take(some)
    groups = prefix_groups(sets_of(chosen)[0], asked.threshold, _similarity(chosen, asked), threads)
    found = alike(sets_of(features)[0], _similarity(features, asked, whole=False), threads=threads)
    kinds = [(place.format, place.compression) for place in reading.inputs]
    kind = max(sorted(set(kinds), key=str), key=kinds.count) if kinds else ("jsonl", None)
    corpus = Corpus(
        documents=count,
        sampled=count,
        is_counted=True,
        file_bytes=sum(place.size for place in reading.inputs) / max(count, 1) or None,
        format=kind[0],
        compression=kind[1],
        html=reading.columns.html is not None,
    )
    share = len(some) / max(count, 1)
    return _facts(corpus, found, groups, share, asked, (len(features.hashes) / max(count, 1), text_bytes))


def _facts(
    corpus: Corpus, found: Alike, groups: FeatureGroups, rate: float, asked: Asked, means: tuple[float, float]
) -> Facts:
    """Return the facts: what was counted in a sample, for all documents; `means` are of features and bytes of text."""
    features, text_bytes = means
    least = float(asked.threshold)
    tokens = corpus.documents * (1 - found.copies) * (prefix_share(least, asked.measure) * features + 1)
    work = exact_work(groups, rate, tokens)
    whole = replace(
        corpus,
        copies=found.copies,
        postings=work.postings / max(corpus.documents * (1 - found.copies), 1),
        comparisons=found.pairs(least - MARGIN),
        dense=work.dense,
        pairs=found.pairs(least),
    )
    return Facts(
        counted=True, features=features, text_bytes=text_bytes, similarities=_spread(found, asked), corpus=whole
    )


def _spread(found: Alike, asked: Asked) -> Spread | None:
    """Return the similarities of pairs: Jaccard of sets, the cosine of weights; None where no pair was found.

    By another measure of sets, a pair that does not reach the threshold is one below it, whatever its features say.
    """
    if not len(found.weights):
        return None
    if asked.weighting != "binary" or asked.measure != "cosine":
        return replace(found, measured=found.measured if asked.weighting != "binary" else found.jaccard).spread()
    least = float(asked.threshold)
    below = found.measured < least - 1e-9
    values: F64 = np.where(below, np.minimum(found.jaccard, least**2 - 1e-6), found.jaccard)
    return replace(found, measured=values).spread()


def _extracted(sampled: Sampled, asked: Asked, threads: int | None) -> Features:
    """Return the features of the sample."""
    if isinstance(asked.evidence, WholeText):
        column = as_column(sampled.texts)
        hashes, offsets = asked.evidence.occurrences(column, 0, len(column))
        return Features(hashes, offsets)
    return asked.evidence.extract(sampled.texts, counts=asked.weighting != "binary", threads=threads)


def _similarity(features: Features, asked: Asked, whole: bool = True) -> Similarity:
    """Return how rows are compared; without the `whole`, by term counts, because frequencies are not known yet."""
    if asked.weighting == "binary" or features.counts is None:
        return Similarity(asked.measure)
    if not whole:
        return Similarity(asked.measure, features.counts.astype(np.float64))
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        return Similarity(asked.measure, weigh(features, asked.weighting, Room(scratch)))


def _named(group: FeatureGroup, rate: float, sampled: Sampled, rows: Any, asked: Asked) -> tuple[int, str]:
    """Return about how many documents share a feature, and its words, where they can be told; else its hash."""
    size, shingles = round(group.size / rate), asked.evidence
    if isinstance(shingles, Shingles) and shingles.unit == "word" and not (shingles.stem or shingles.left_out):
        text = sampled.texts[int(rows[group.example])].as_py()
        hashes, _ = shingles.occurrences(as_column([text]), 0, 1)
        there = np.flatnonzero(hashes >> np.uint64(16) == np.uint64(group.key))
        if len(there):
            first = int(there[0])
            return size, " ".join(words(text)[first : first + shingles.width])
    return size, f"{group.key:012x}"
