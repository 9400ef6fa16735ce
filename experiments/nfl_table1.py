"""NFL, Table 1: the mean absolute error of the cosine by method, bits and similarity, and the time of a signature.

usage: python -m experiments.nfl_table1 [--texts FILE.parquet ...] [--sample N] [--write]

Features are words with BM25 weights, as in the paper. Errors are means over five seeds, a bias has its standard error.
The cosine of minhash is estimated as in the paper, by the share of equal minima; beside it stands the estimate of
Hamming distances. Times are CPU times of one thread, from features to signature, the least of five.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from experiments.collection import Collection, read_texts
from experiments.slice_page import publish
from sosie.evaluation.signatures.cosines import cosines, each_pair
from sosie.evaluation.signatures.estimates import LEAST, CosineError, cosine_error, signer_error
from sosie.features.frequencies import DocumentFrequencies, collection_frequencies
from sosie.features.shingles import Shingles
from sosie.features.weighting import weights
from sosie.signatures.minhash import Minhash, MinhashSigner
from sosie.signatures.projection import VECTORS, RandomProjection
from sosie.signatures.signer import Signer
from sosie.signatures.simhash import Simhash
from sosie.signatures.spec import Spec
from sosie.types import F64, Bools, Features

WORDS = Shingles(width=1)
WEIGHTED: dict[str, Any] = {"shingles": WORDS, "weighting": "bm25"}
PAPER = {  # errors, and milliseconds on a Core 2 Duo of 2.26 GHz
    ("minhash, equal minima", 64): (0.061, 0.168, 0.215, 0.28),
    ("simhash", 64): (0.236, 0.299, 0.273, 0.25),
    ("gaussian", 64): (0.154, 0.152, 0.123, 1.17),
    ("gaussian", 100): (0.124, 0.122, 0.101, 2.03),
    ("gaussian", 200): (0.088, 0.086, 0.069, 4.52),
    ("gaussian", 500): (0.056, 0.055, 0.045, 10.93),
    ("gaussian", 1000): (0.040, 0.039, 0.033, 20.91),
    ("minhash, equal minima", 992): (0.050, 0.056, 0.075, 1.82),
}
BITS = (64, 100, 200, 500, 1000, 2000, 4000)
SEEDS = 5
FREQUENT = 0.01  # of the documents; words that more of them have are left out of a second Jaccard similarity


@dataclass(frozen=True)
class Measured:
    """What one method of one width did: errors and biases by interval, a row for each seed."""

    name: str
    bits: int
    errors: F64
    biases: F64
    milliseconds: float = np.nan


@dataclass(frozen=True)
class Sample:
    """Features of the sampled documents, their weights and the cosines of every two."""

    features: Features
    weights: F64
    true: F64

    def matrix(self, values: F64) -> tuple[Any, int]:
        """Return documents by words as a sparse matrix, and the number of words."""
        words, columns = np.unique(self.features.hashes, return_inverse=True)
        shape = (len(self.features), len(words))
        return csr_array((values, columns, self.features.offsets), shape), len(words)


def specs(seed: int) -> Iterator[tuple[str, int, Spec]]:
    """Yield the methods by name and bits."""
    for minima, bits in ((2, 64), (31, 992)):
        spec = Minhash(minima=minima, rows=1, b=32, shingles=WORDS, seed=seed)
        yield "minhash, equal minima", bits, spec
        yield "minhash, Hamming", bits, spec
    yield "1-bit minhash, Hamming", 992, Minhash(minima=992, rows=1, b=1, shingles=WORDS, seed=seed)
    for bits in BITS:
        yield "simhash", bits, Simhash(bits=bits, seed=seed, **WEIGHTED)
    for vectors in VECTORS:
        for bits in BITS:
            yield vectors, bits, RandomProjection(bits=bits, vectors=vectors, seed=seed, **WEIGHTED)


def measure(sample: Sample, frequencies: DocumentFrequencies) -> list[Measured]:
    """Sign the sample by every method with every seed; then what they are held against."""
    rare = frequencies.lookup(sample.features.hashes) <= FREQUENT * frequencies.documents
    found = [_exact_jaccard(sample, "exact Jaccard", np.ones(len(rare), np.bool_))]
    found.append(_exact_jaccard(sample, f"exact Jaccard, words of at most {FREQUENT:.0%}", rare))
    for same in zip(*(specs(seed) for seed in range(SEEDS)), strict=True):
        signers = [spec.fit(frequencies) for _, _, spec in same]
        by_minima = same[0][0] == "minhash, equal minima"
        error = equal_minima_error if by_minima else signer_error
        errors = [error(signer, sample.features, sample.true) for signer in signers]
        found.append(_measured(*same[0][:2], errors, _milliseconds(signers[0], sample.features)))
    return [*found, _float_gaussian(sample, 64), _float_gaussian(sample, 1000)]


def _measured(name: str, bits: int, errors: list[CosineError], milliseconds: float = np.nan) -> Measured:
    return Measured(
        name, bits, np.array([each.error for each in errors]), np.array([each.bias for each in errors]), milliseconds
    )


def equal_minima_error(signer: MinhashSigner, features: Features, cosines: F64) -> CosineError:
    """Take the share of equal minima for the cosine, as the paper does (4.2)."""
    signed = signer.minima(features)
    rows = np.delete(np.arange(len(features)), signed.unsigned)
    shares = np.array([(signed.rows == each).mean(axis=1) for each in signed.rows])
    a, b = each_pair(len(rows))
    return cosine_error(cosines[rows[a], rows[b]], shares[a, b])


def _exact_jaccard(sample: Sample, name: str, kept: Bools) -> Measured:
    """Take the true Jaccard similarity of the kept words for the cosine: minhash of infinitely many bits."""
    matrix, _ = sample.matrix(kept.astype(np.float64))
    shared = (matrix @ matrix.T).toarray()
    sizes = shared.diagonal()
    pairs = each_pair(len(sizes))
    jaccard = shared / np.maximum(sizes[:, None] + sizes - shared, 1)
    return _measured(name, 0, [cosine_error(sample.true[pairs], jaccard[pairs])])


def _float_gaussian(sample: Sample, bits: int) -> Measured:
    """Project on vectors of 64-bit floating point numbers from NumPy, as a stored matrix."""
    matrix, words = sample.matrix(sample.weights)
    pairs, errors = each_pair(len(sample.features)), []
    for seed in range(SEEDS):
        signs = (matrix @ np.random.default_rng(seed).standard_normal((words, bits)) > 0).astype(np.float64)
        agree = signs @ signs.T + (1 - signs) @ (1 - signs).T
        errors.append(cosine_error(sample.true[pairs], np.cos(np.pi * (1 - agree[pairs] / bits))))
    return _measured("float Gaussian", bits, errors)


def _milliseconds(signer: Signer, features: Features) -> float:
    """Return the CPU time of a signature on one thread, the least of five."""
    times = []
    for _ in range(5):
        start = time.process_time()
        signer.sign(features, threads=1)
        times.append(time.process_time() - start)
    return 1000 * min(times) / len(features)


def report(collection: Collection, size: int) -> tuple[str, list[Measured]]:
    """Return a section of the page, and the numbers behind it."""
    frequencies = collection_frequencies(collection.texts, WORDS)
    features = WORDS.extract(collection.sample(size), counts=True)
    weighed = weights(features, "bm25", frequencies)
    sample = Sample(features, weighed, cosines(features, weighed))
    found = measure(sample, frequencies)
    true = sample.true[each_pair(len(features))]
    pairs = [np.count_nonzero(true >= least) for least in LEAST]
    starts = features.offsets[:-1][features.sizes > 0]
    heaviest = np.median(np.maximum.reduceat(weighed**2, starts) / np.add.reduceat(weighed**2, starts))
    lines = [
        f"### {collection.name}",
        "",
        f"{len(features):,} documents of {features.sizes.mean():.0f} distinct words; {pairs[0]:,} pairs of mean cosine "
        f"{true.mean():.3f}, {pairs[1]:,} of them >= .1 and {pairs[2]:,} >= .2. The heaviest word of a "
        f"document has {heaviest:.2f} of its squared norm (median).",
        "",
        "| method | bits | all pairs | >= .1 | >= .2 | bias >= .2 | ms | paper: all | >= .1 | >= .2 | ms |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(_row(each) for each in found),
        "",
    ]
    return "\n".join(lines), found


def _row(found: Measured) -> str:
    theirs = PAPER.get((found.name, found.bits))
    paper = [*(f"{error:.3f}" for error in theirs[:3]), f"{theirs[3]:.2f}"] if theirs else [""] * 4
    spread = found.biases[:, 2].std(ddof=1) / len(found.biases) ** 0.5 if len(found.biases) > 1 else np.nan
    bias = f"{found.biases[:, 2].mean():+.3f}" + ("" if np.isnan(spread) else f" +- {spread:.3f}")
    taken = "" if np.isnan(found.milliseconds) else f"{found.milliseconds:.4f}"
    ours = [*(f"{error:.4f}" for error in found.errors.mean(axis=0)), bias, taken]
    name = f"random projection, {found.name}" if found.name in VECTORS else found.name
    return "| " + " | ".join([name, str(found.bits or ""), *ours, *paper]) + " |"


def draw(found: list[Measured], name: str) -> None:
    """Draw errors and time by bits, ours beside the paper's."""
    from experiments.figure import COLOURS, panels, save

    figure, axes = panels(3)
    theirs = {bits: row for (method, bits), row in PAPER.items() if method == "gaussian"}
    axes[0].loglog(BITS, np.sqrt(np.pi / 2 / np.array(BITS)), color="0.6", ls=":", label="sqrt(pi / (2 bits))")
    for axis, title, interval in zip(axes, ("all pairs", "pairs with a cosine >= .2", "time"), (0, 2, 3), strict=True):
        for colour, method in zip(COLOURS, (*VECTORS, "simhash"), strict=False):
            ours = [each for each in found if each.name == method]
            values = [each.milliseconds if interval == 3 else each.errors[:, interval].mean() for each in ours]
            axis.loglog([each.bits for each in ours], values, marker=".", color=colour, label=method)
        axis.loglog([*theirs], [row[interval] for row in theirs.values()], "x", color="0.3", label="gaussian, paper")
        axis.set(xlabel="bits", title=title, ylabel="milliseconds" if interval == 3 else "mean absolute error")
        axis.set_xticks(BITS, map(str, BITS))
        if interval < 3:
            axis.set_yticks([0.02, 0.05, 0.1, 0.2], [".02", ".05", ".1", ".2"])
        axis.minorticks_off()
        axis.legend(frameon=False, fontsize=8, loc="center left" if interval == 3 else "upper right")
    figure.suptitle(name, fontsize=10)
    print(f"Plot: {save(figure, 'nfl-table1').name}")


def main() -> None:
    """Print the table for every collection; draw it for the first that is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", nargs="*", default=[], help="Parquet files with a column text")
    parser.add_argument("--sample", type=int, default=1064)
    parser.add_argument("--write", action="store_true", help="rewrite the tables of docs/experiments/nfl.md, and draw")
    options = parser.parse_args()
    sections, drawn = [], None
    for texts in (None, *options.texts):
        collection = read_texts(argparse.Namespace(texts=texts, documents=options.sample))
        section, found = report(collection, options.sample)
        sections.append(section)
        drawn = drawn if drawn and texts != options.texts[0] else (found, collection.name)
    publish("nfl.md", "nfl-table-1", "\n".join(sections).rstrip(), options.write)
    if options.write and drawn:
        draw(*drawn)


if __name__ == "__main__":
    main()
