"""PSM, Figure 1: how the sums W_1 behind the first bit of a simhash are distributed, and the differences of two.

usage: python -m experiments.psm_figure1 [--texts FILE.parquet] [--documents N] [--sample N] [--write]
"""

from __future__ import annotations

import argparse

import numpy as np

from experiments.collection import add_texts, read_texts
from experiments.figure import panels, save
from sosie.features.shingles import Shingles
from sosie.signatures.simhash import Simhash

BIN = 1 / 150  # as in the paper


def main() -> None:
    """Print the moments and draw the histograms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_texts(parser)
    parser.add_argument("--sample", type=int, default=200_000)
    parser.add_argument("--write", action="store_true", help="draw the figure of docs/images/experiments")
    options = parser.parse_args()
    collection = read_texts(options)
    texts = collection.sample(options.sample)
    signer = Simhash(bits=64, weighting="tf-idf", shingles=Shingles(width=1)).fit(collection.texts)
    sums = signer.sign(texts, volatility=True).volatility
    assert sums is not None
    first = sums[:, 0].astype(np.float64)
    other = np.random.default_rng(0).permutation(first)
    print(f"{collection.name}, {len(first):,} sampled; tf-idf of single words, L2 norm 1\n")
    print("| | paper | W_1(u) | W_1(u) - W_1(v) |\n|---|---|---|---|")
    rows = {
        "mean": ("0", np.mean),
        "variance": ("1 and 2", np.var),
        "kurtosis (Gauss 3, Laplace 6)": ("Laplace-like, then more Gaussian", _kurtosis),
    }
    for name, (paper, measure) in rows.items():
        print(f"| {name} | {paper} | {measure(first):.3f} | {measure(first - other):.3f} |")
    figure, axes = panels(2)
    for axis, values, title in zip(axes, (first, first - other), ("W_1(u)", "Y = W_1(u) - W_1(v)"), strict=True):
        edges = np.arange(-5, 5 + BIN, BIN)
        axis.plot(edges[:-1] + BIN / 2, np.histogram(values, edges, density=True)[0], lw=0.8, label="measured")
        spread = np.std(values)
        axis.plot(edges, np.exp(-(edges**2) / (2 * spread**2)) / (spread * np.sqrt(2 * np.pi)), label="Gauss")
        scale = spread / np.sqrt(2)
        axis.plot(edges, np.exp(-np.abs(edges) / scale) / (2 * scale), label="Laplace")
        axis.set(title=title, xlabel="sum", ylabel="density")
        axis.legend(frameon=False)
    if options.write:
        save(figure, "psm-figure1")


def _kurtosis(values: np.ndarray) -> float:
    centred = values - np.mean(values)
    return float(np.mean(centred**4) / np.mean(centred**2) ** 2)


if __name__ == "__main__":
    main()
