"""What the experiments of STEIN share: samples of collections, their exact cosines, and the embeddings compared."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.slice_page import publish
from sosie import Features, FuzzyFingerprint, PStable, Shingles, Source, SvdEmbedding, ThresholdEmbedding
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.signatures.estimates import pairs_of
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import weights
from sosie.signatures.decompose import unit_rows
from sosie.types import F64

DOCUMENTS, SAMPLES = 2000, 5
WORDS = Shingles(1)
PREFIXES = Shingles(2, "prefix")  # of two letters: one letter makes fewer classes than dimensions are asked for


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents of a collection, drawn by a seed that the random functions have, too; and the cosines of their words.

    Words weigh by tf-idf.
    """

    name: str
    texts: list[str]
    seed: int = 0

    @cached_property
    def features(self) -> Features:
        """The words of the documents, with counts."""
        return WORDS.extract(self.texts, counts=True)

    @cached_property
    def cosines(self) -> F64:
        """The cosines of all pairs i < j."""
        return pairs_of((self.vectors @ self.vectors.T).toarray())

    @cached_property
    def vectors(self) -> Any:
        """The unit vectors of the documents, as a sparse matrix."""
        return unit_rows(self.features, weights(self.features, "tf-idf", count_frequencies([self.features])))

    def svd(self, dimensions: int) -> F64:
        """The points of latent semantic indexing."""
        return SvdEmbedding(dimensions=dimensions).fit(self.features).embed(self.features)

    def threshold(self, dimensions: int, theta: float) -> F64:
        """The points of Y* at theta."""
        return ThresholdEmbedding(dimensions=dimensions, theta=theta).fit(self.features).embed(self.features)

    def lsh(self, dimensions: int) -> F64:
        """The projections behind the keys of p-stable LSH."""
        spec = PStable(code_length=dimensions, multiplicity=1, weighting="tf-idf", seed=self.seed)
        return spec.fit(self.features).embed(self.features)

    def fuzzy(self, dimensions: int) -> F64:
        """The deviations behind the keys of fuzzy-fingerprinting: of prefix classes, from what the sample has."""
        spec = FuzzyFingerprint(code_length=dimensions, multiplicity=1, shingles=PREFIXES, seed=self.seed)
        return spec.fit(self.texts).embed(self.texts)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples of one collection, one for each seed, and all texts that they were drawn from."""

    name: str
    texts: list[str]
    samples: list[Sample]


def inner_products(points: F64) -> F64:
    """Return the inner products of all pairs of points."""
    return pairs_of(points @ points.T)


def cosines_of(points: F64) -> F64:
    """Return the cosines of all pairs of points; negative ones count as 0, since similarities are from 0 to 1."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.maximum(inner_products(points / np.where(norms > 0, norms, 1)), 0)


def run(name: str, part_of: Callable[[Drawn, bool], str]) -> None:
    """Print the part of each collection that the command line asks for; with --write it becomes a part of the page.

    `part_of` is told whether its pictures are wanted.
    """
    parser = argparse.ArgumentParser(description=f"{name} of STEIN, ours beside theirs.")
    parser.add_argument("--texts", nargs="*", help="collections with a column text; default: a generated one")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help=f"of a sample, or generated ({DOCUMENTS:,})")
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"of each collection ({SAMPLES})")
    parser.add_argument("--write", action="store_true", help="rewrite the part of docs/experiments/stein.md")
    options = parser.parse_args()
    collections = [(Path(path).stem, _read(path)) for path in options.texts or ()]
    if not collections:
        corpus = PlantedCorpus(2 * options.documents, copies=0.02, words=(80, 300))
        collections.append(("generated", next(corpus.tables())["text"].to_pylist()))
    parts = []
    for stem, texts in collections:
        samples = [Sample(stem, draw(texts, options.documents, seed), seed) for seed in range(options.samples)]
        parts.append(part_of(Drawn(stem, texts, samples), options.write))
    publish("stein.md", name, "\n\n".join(parts), options.write)


def draw(texts: list[str], count: int, seed: int) -> list[str]:
    """Draw so many of the texts, the same ones in every run."""
    chosen = np.random.default_rng(seed).choice(len(texts), min(count, len(texts)), replace=False)
    return [texts[i] for i in np.sort(chosen)]


def _read(path: str) -> list[str]:
    """Return the texts that have words."""
    source = Source(path, text_column="text")
    texts = [text for batch in source.batches() for text in batch.texts.to_pylist()]
    return [texts[i] for i in np.flatnonzero(WORDS.extract(texts).sizes)]
