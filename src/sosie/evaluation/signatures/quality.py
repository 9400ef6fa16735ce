"""How good are signatures on a collection? Every measure of the papers, for any specs, on one sample."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import UsageError
from sosie.evaluation.ratios import ratios_by_rank
from sosie.evaluation.signatures.at_similarity import ROUNDING, AtSimilarity, at_similarity
from sosie.evaluation.signatures.cosines import cosines, distances, each_pair
from sosie.evaluation.signatures.estimates import (
    CosineError,
    HammingQuality,
    Stress,
    cosine_error,
    hamming_quality,
    stress,
)
from sosie.features.frequencies import collection_frequencies
from sosie.features.shingles import Shingles
from sosie.features.weighting import Weighting, weights
from sosie.signatures.spec import Spec
from sosie.types import F64, I64, Features

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # cosines at which keys and estimates are judged


@dataclass(frozen=True)
class Truth:
    """What signatures are measured against: the cosine of which features, of how many documents, and from where on."""

    shingles: Shingles = Shingles(1)
    weighting: Weighting = "tf-idf"
    sample: int = 1000
    similar: float = 0.9
    nearest: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sample < 2 or not 0 < self.similar <= 1 or self.nearest < 1:
            raise UsageError(
                "a sample has at least 2 documents, similar is above 0 and at most 1, and nearest at least 1, got "
                f"{self.sample}, {self.similar} and {self.nearest}"
            )


DEFAULT = Truth()


@dataclass(frozen=True, eq=False)
class Ranking:
    """What the nearest by signatures are worth: the share of the nearest by cosine, and how near they are.

    `ratio` is the cumulative distance ratio (CDR@k, ISSL 6) of cosine distances: at each rank, the sum of the least
    distances there are over that of the rows found, and the mean of that over ranks and documents; 1 is perfect.
    """

    recall: float
    ratio: float


@dataclass(frozen=True, eq=False)
class SignatureQuality:
    """What was measured of one spec: of signatures all but `found`, of keys `found` alone.

    `seconds` is the time to sign the sample on one thread. `error` compares the cosine that a distance stands for with
    the true one; a spec without such an estimate has none.
    """

    spec: Spec
    documents: int
    seconds: float
    error: CosineError | None = None
    radius: HammingQuality | None = None
    ranking: Ranking | None = None
    stress: tuple[Stress, ...] = ()
    found: AtSimilarity | None = None


def evaluate_signatures(
    specs: Iterable[Spec], texts: Any, truth: Truth = DEFAULT, threads: int | None = None
) -> list[SignatureQuality]:
    """Fit each spec to the texts and measure it on a sample of them.

    >>> from sosie.signatures.simhash import Simhash
    >>> texts = [f"number {i} of many texts about {'cats' if i % 2 else 'stock prices'}" for i in range(40)]
    >>> quality, = evaluate_signatures([Simhash(shingles=Shingles(1))], texts, Truth(sample=30, nearest=3))
    >>> quality.documents, len(quality.radius.pairs), 0 < quality.ranking.recall <= 1
    (30, 65, True)
    """
    column = texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, pa.large_string())
    frequencies = collection_frequencies(column, truth.shingles, threads)
    rows = np.flatnonzero(truth.shingles.extract(column, threads=threads).sizes)
    if len(rows) < 2:
        raise UsageError(f"{len(rows)} of these documents have words: two or more are needed to compare")
    drawn = np.random.default_rng(truth.seed).choice(rows, min(truth.sample, len(rows)), replace=False)
    sample = column.take(pa.array(np.sort(drawn)))
    features = truth.shingles.extract(sample, counts=True, threads=threads)
    weighed = weights(features, truth.weighting, frequencies)
    true = cosines(features, weighed)
    return [_quality(spec, column, sample, truth, (features, weighed, true), threads) for spec in specs]


def _quality(
    spec: Spec, texts: Any, sample: Any, truth: Truth, exact: tuple[Features, F64, F64], threads: int | None
) -> SignatureQuality:
    signer: Any = spec.fit(texts if spec.needs_texts else None, threads=threads)
    features, weighed, true = exact
    keyed = "signatures" not in spec.makes
    make = signer.keys if keyed else signer.sign
    make(sample[:2], threads=1)  # kernels are compiled before
    start = time.perf_counter()
    signed = make(sample, threads=1)
    seconds = time.perf_counter() - start
    rows = np.delete(np.arange(len(sample)), signed.unsigned)
    if len(rows) < 2:
        raise UsageError(f"{spec.method} signs {len(rows)} of the {len(sample)} sampled documents: take more of them")
    if keyed:
        kept = features.take(rows)
        places = np.repeat(np.isin(np.arange(len(features)), rows), features.sizes)
        found = at_similarity(signed, kept, weighed[places], LEVELS, sample=len(rows), threads=threads)
        return SignatureQuality(spec, len(rows), seconds, found=found)
    a, b = each_pair(len(rows))
    here = true[np.ix_(rows, rows)]
    far = distances(signed.words)
    radius = hamming_quality(here[a, b], far[a, b], signed.bits, truth.similar)
    ranking = rank(here, far, min(truth.nearest, len(rows) - 1))
    points = signer.embed(sample)[rows] if hasattr(signer, "embed") else None
    estimate = spec.similarity(far[a, b]) if points is None else (points @ points.T)[a, b]
    if estimate is None:
        return SignatureQuality(spec, len(rows), seconds, radius=radius, ranking=ranking)
    error = cosine_error(here[a, b], estimate, least=(0.0, 0.1, 0.2, *LEVELS))
    return SignatureQuality(
        spec, len(rows), seconds, error, radius, ranking, tuple(stress(here[a, b], estimate, LEVELS))
    )


def rank(cosine: F64, far: Any, k: int) -> Ranking:
    """Compare the k nearest rows by distance with those by cosine, none of them the row itself.

    >>> cosine = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    >>> rank(cosine, np.array([[0, 1, 3], [1, 0, 2], [0, 2, 0]]), 1)
    Ranking(recall=0.6666666666666666, ratio=0.9629629629629629)
    """
    own = np.arange(len(cosine))
    best, apart = 1 - cosine, np.array(far, np.float64)
    best[own, own] = apart[own, own] = np.inf
    nearest: I64 = np.argsort(apart, axis=1, kind="stable")[:, :k]
    least = np.sort(best, axis=1)[:, :k]
    reached = np.take_along_axis(best, nearest, axis=1)
    recall = float(np.mean(reached <= least[:, -1:] + ROUNDING))
    least, reached = (np.where(part > ROUNDING, part, 0.0) for part in (least, reached))  # identical texts are at 0
    return Ranking(recall, float(np.mean(ratios_by_rank(least, reached))))


def default_specs(truth: Truth) -> Sequence[str]:
    """Return one of each family, as `parse_spec` reads them."""
    weighting = f"weighting={truth.weighting}"
    wide = ("simhash:bits=64", "simhash:bits=1024", "projection:bits=1000", "p-stable:code_length=24")
    return (*(f"{each},{weighting}" for each in wide), "topsig", "minhash:minima=1024,b=1", "fuzzy-fingerprint")
