"""NFL Table 2 in one language: what signatures of 1000, 2000 and 3000 bits, and exact vectors, cost and find at .3.

usage: python -m experiments.nfl_table2 [--texts FILE.parquet ...] [--sample N] [--documents N] [--write]

A sample of 1,064 documents is joined with all the others of its collection. The truth are the pairs whose BM25 vectors
have a cosine of at least .3; signatures find those within a Hamming radius, by `sosie.join(method="brute")`. The bound
on recall is that of any search among these signatures. Means over five seeds of the signatures, one sample.
"""

from __future__ import annotations

import argparse
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import binom

import sosie
from experiments.collection import Collection, read_texts
from experiments.slice_page import publish, table
from sosie import Features, RandomProjection, Shingles, Signatures
from sosie.features.frequencies import DocumentFrequencies, collection_frequencies
from sosie.features.weighting import weights
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import similarities
from sosie.types import F64, I64

WORDS = Shingles(1)
COSINE = 0.3
SEEDS = 5
BITS = (1000, 2000, 3000)
PAPER = {1000: (28, 0.59, 0.76), 2000: (52, 0.74, 0.81), 3000: (84, 0.86, 0.78)}
PAPER_VECTORS = 450  # ns
TIMED = 1_000_000  # pairs of exact vectors, at most
MOST_PAIRS = 1 << 27
BLOCK = 64  # documents of the sample whose cosines are held at a time
R = TypeVar("R")


@dataclass(frozen=True)
class Found:
    """What a radius finds: pairs, precision and recall by seed, the recall that is to be expected, and its time."""

    bits: int
    radius: int
    pairs: F64
    precision: F64
    recall: F64
    expected: float
    nanoseconds: float


class Join(ABC):
    """A sample and other documents that are joined: how many, their true pairs, and the seconds that these took."""

    name: str
    sizes: tuple[int, int]
    true: I64  # a * sizes[1] + b of each pair, ascending
    cosines: F64
    seconds: float

    @property
    def comparisons(self) -> int:
        """How many pairs there are."""
        return self.sizes[0] * self.sizes[1]

    @abstractmethod
    def signed(self, bits: int, seed: int) -> tuple[Signatures, Signatures]:
        """Sign the sample and the others."""

    @abstractmethod
    def merged(self) -> float:
        """Return the nanoseconds of the cosine of two vectors, merged one pair at a time, over random pairs."""

    def found(self, bits: int, radii: list[int]) -> list[Found]:
        """Join the signatures of every seed within each radius."""
        signed = [self.signed(bits, seed) for seed in range(SEEDS)]
        results = []
        _joined(*(side.take(np.arange(2)) for side in signed[0]), radii[0])  # kernels are compiled before
        for radius in radii:
            seconds, counts = 0.0, []
            for sample, others in signed:
                spent, pairs = cpu_seconds(lambda s=sample, o=others, r=radius: _joined(s, o, r))
                seconds += spent
                numbers = pairs.a * self.sizes[1] + pairs.b
                counts.append((len(pairs), np.intersect1d(numbers, self.true, assume_unique=True).size))
            number, right = np.array(counts, np.float64).T
            flips = np.arccos(np.minimum(self.cosines, 1)) / math.pi
            expected = float(binom.cdf(radius, bits, flips).mean())
            spent = 1e9 * seconds / SEEDS / self.comparisons
            results.append(Found(bits, radius, number, right / number, right / len(self.true), expected, spent))
        return results


class Task(Join):
    """A sample, the other documents of its collection, and their true pairs."""

    def __init__(self, collection: Collection, size: int) -> None:
        self.name = collection.name
        self.frequencies: DocumentFrequencies = collection_frequencies(collection.texts, WORDS)
        features = WORDS.extract(collection.texts, counts=True)
        worded = np.flatnonzero(features.sizes)
        drawn = np.sort(np.random.default_rng(0).choice(worded, min(size, len(worded) // 2), replace=False))
        self.sample, self.others = (features.take(rows) for rows in (drawn, np.setdiff1d(worded, drawn)))
        self.sizes = len(self.sample), len(self.others)
        self.seconds, (self.true, self.cosines) = cpu_seconds(self._truth)

    def _truth(self) -> tuple[I64, F64]:
        """Return the true pairs as numbers, and their cosines, from the products of inverted lists."""
        both = Features.joined([self.sample, self.others])
        columns = np.unique(both.hashes, return_inverse=True)[1]
        matrix = csr_array((weights(both, "bm25", self.frequencies), columns, both.offsets))
        norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
        unit = (matrix / np.where(norms > 0, norms, 1)[:, None]).tocsr()
        split, parts = len(self.sample), []
        inverted = unit[split:].T.tocsr()
        for start in range(0, split, BLOCK):
            found: Any = (unit[start : min(start + BLOCK, split)] @ inverted).tocoo()
            near = found.data >= COSINE
            row, column = (each[near].astype(np.int64) for each in found.coords)
            parts.append(((row + start) * len(self.others) + column, found.data[near]))
        pairs, cosines = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(pairs)
        return pairs[order], cosines[order]

    def merged(self) -> float:
        """Return the nanoseconds of the cosine of two vectors, merged one pair at a time, over random pairs."""
        sets, split = sets_of(self.sample, self.others)
        weighed = np.concatenate([weights(each, "bm25", self.frequencies) for each in (self.sample, self.others)])
        measure = Similarity("cosine", weighed)
        draw, count = np.random.default_rng(0), min(TIMED, self.comparisons)
        a = draw.integers(0, len(self.sample), count)
        b = draw.integers(split, split + len(self.others), count)
        similarities(sets, a[:10], b[:10], measure, 1)
        return 1e9 * cpu_seconds(lambda: similarities(sets, a, b, measure, 1))[0] / count

    def signed(self, bits: int, seed: int) -> tuple[Signatures, Signatures]:
        """Sign the sample and the others, with ids of their own."""
        spec = RandomProjection(bits=bits, seed=seed, shingles=WORDS, weighting="bm25")
        signer = spec.fit(self.frequencies)
        ids = np.arange(len(self.sample) + len(self.others))
        split = len(self.sample)
        return signer.sign(self.sample, ids=ids[:split]), signer.sign(self.others, ids=ids[split:])


def _joined(sample: Signatures, others: Signatures, radius: int) -> Any:
    return sosie.join(sample, others, radius=radius, method="brute", max_pairs=MOST_PAIRS, threads=1)


def cpu_seconds(run: Callable[[], R]) -> tuple[float, R]:
    """Return the seconds of a processor that something takes, and its result."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def _mean(values: F64) -> str:
    return f"{values.mean():.3f} +- {values.std(ddof=1):.3f}"


def section(task: Join) -> str:
    """Return the table of a collection."""
    lines = []
    for bits in BITS:
        exact = math.floor(bits * math.acos(COSINE) / math.pi)
        for found in task.found(bits, [bits * 2 // 5, exact]):
            theirs = PAPER[bits] if found.radius != exact else ("", "", "")
            ours = [f"{found.nanoseconds:.1f}", f"{found.pairs.mean():,.0f}", _mean(found.precision)]
            ours += [_mean(found.recall), f"{found.expected:.3f}"]
            lines.append([f"{bits} bits", found.radius, *ours, *theirs])
    exhaustive = 1e9 * task.seconds / task.comparisons
    true = f"{len(task.true):,}"
    lines.append(["vectors, pair by pair", "", f"{task.merged():.1f}", true, "1", "1", "", PAPER_VECTORS, "-", "-"])
    lines.append(["vectors, inverted lists", "", f"{exhaustive:.1f}", true, "1", "1", "", "", "", ""])
    header = ["representation", "radius", "ns", "pairs", "precision", "recall, the bound", "by Eq. 5"]
    header += ["paper: ns", "precision", "recall"]
    quarter = np.quantile(task.cosines, [0.25, 0.5, 0.75]) if len(task.cosines) else np.full(3, np.nan)
    said = (
        f"**{task.name}**: {task.sizes[0]:,} documents joined with {task.sizes[1]:,} others, "
        f"{task.comparisons:,} pairs, of which {len(task.true):,} have a cosine of at least {COSINE}; the quartiles of "
        f"these cosines are {', '.join(f'{each:.2f}' for each in quarter)}."
    )
    return f"{said}\n\n{table(header, lines)}"


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", nargs="*", help="Parquet files with a column text; default: generated texts")
    parser.add_argument("--sample", type=int, default=1064, help="documents that are joined with the others (1,064)")
    parser.add_argument("--documents", type=int, default=20_000, help="of the generated collection (20,000)")
    parser.add_argument("--write", action="store_true", help="rewrite the part of docs/experiments/nfl.md")
    options = parser.parse_args()
    parts = []
    for texts in options.texts or [None]:
        given = argparse.Namespace(texts=texts, documents=options.documents)
        parts.append(section(Task(read_texts(given), options.sample)))
    publish("nfl.md", "nfl-table-2", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
