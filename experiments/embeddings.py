"""What the experiments of STEIN share: samples of collections, their exact cosines, and the embeddings compared."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sosie import Features, Shingles, Source, SvdEmbedding, ThresholdEmbedding
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.signatures.estimates import pairs_of
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import weights
from sosie.signatures.decompose import unit_rows
from sosie.types import F64

DOCS = Path(__file__).resolve().parent.parent / "docs"
DOCUMENTS = 2000
PREFIX = 2  # letters of a prefix


@dataclass(frozen=True)
class Sample:
    """Documents drawn from a collection, and the cosines of their tf-idf weighted words."""

    name: str
    texts: list[str]

    @cached_property
    def features(self) -> Features:
        """The words of the documents, with counts."""
        return Shingles(1).extract(self.texts, counts=True)

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
        """The points of p-stable LSH: projections on Gaussian vectors."""
        return np.asarray(self.vectors @ np.random.default_rng(0).normal(size=(self.vectors.shape[1], dimensions)))

    def fuzzy(self, dimensions: int) -> F64:
        """The deviations of prefix classes: how much more or less of each a document has than all of them together.

        Prefixes of two letters are dealt to classes of about the same frequency, the most frequent ones first.
        """
        words = [text.lower().split() for text in self.texts]
        prefixes = Counter(word[:PREFIX] for text in words for word in text)
        frequency, class_of = np.zeros(dimensions), {}
        for prefix, count in prefixes.most_common():
            class_of[prefix] = int(frequency.argmin())
            frequency[class_of[prefix]] += count
        counts = np.zeros((len(words), dimensions))
        for row, text in enumerate(words):
            for word in text:
                counts[row, class_of[word[:PREFIX]]] += 1
        lengths = counts.sum(axis=1, keepdims=True)
        expected = counts.sum(axis=0) / counts.sum()
        return (counts / lengths - expected) / np.sqrt(expected * (1 - expected) / lengths)


def inner_products(points: F64) -> F64:
    """Return the inner products of all pairs of points."""
    return pairs_of(points @ points.T)


def cosines_of(points: F64) -> F64:
    """Return the cosines of all pairs of points; negative ones count as 0, since similarities are from 0 to 1."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.maximum(inner_products(points / np.where(norms > 0, norms, 1)), 0)


def run(name: str, part_of: Callable[[Sample, bool], str]) -> None:
    """Print the part of each sample that the command line asks for; with --write it also becomes a part of the page.

    `part_of` is told whether its pictures are wanted.
    """
    parser = argparse.ArgumentParser(description=f"{name} of STEIN, ours beside theirs.")
    parser.add_argument("--texts", nargs="*", help="collections with a column text; default: a generated one")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help=f"drawn or generated ({DOCUMENTS:,})")
    parser.add_argument("--write", action="store_true", help="rewrite the part of docs/experiments/stein.md")
    options = parser.parse_args()
    count = options.documents
    samples = [Sample(Path(path).stem, _drawn(path, count)) for path in options.texts or ()] or [_generated(count)]
    text = "\n\n".join(part_of(sample, options.write) for sample in samples)
    print(text)
    if options.write:
        _write_part(name, text)


def _generated(count: int) -> Sample:
    corpus = PlantedCorpus(count, copies=0.02, words=(80, 300))
    return Sample("generated", next(corpus.tables())["text"].to_pylist())


def _drawn(path: str, count: int) -> list[str]:
    """Draw documents with words; the same ones in every run."""
    texts = [text for batch in Source(path, text_column="text").batches() for text in batch.texts.to_pylist()]
    worded = [text for text in texts if text.split()]
    generator = np.random.default_rng(0)
    return [worded[i] for i in np.sort(generator.choice(len(worded), min(count, len(worded)), replace=False))]


def _write_part(name: str, text: str) -> None:
    """Replace the part of the page between two comments that name it."""
    page = DOCS / "experiments" / "stein.md"
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text("utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", "utf-8")
