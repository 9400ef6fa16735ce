"""PSM, Figure 6: precision and recall of a Hamming radius against a cosine of .9, and the cosine at each distance.

usage: python -m experiments.psm_figure6 [--texts FILE.parquet] [--sample N] [--bits N] [--cosine X] [--write]

The paper samples a hundred million pairs at random. Here, the sample holds every pair of the sampled documents.
"""

from __future__ import annotations

import argparse

import numpy as np

from experiments.collection import add_texts, read_texts
from experiments.figure import panels, save
from sosie.evaluation.signatures.cosines import cosines, distances, each_pair
from sosie.evaluation.signatures.estimates import hamming_quality
from sosie.features.shingles import Shingles
from sosie.features.weighting import weights
from sosie.signatures.simhash import Simhash

SHOWN = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def main() -> None:
    """Print what each radius is worth and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_texts(parser)
    parser.add_argument("--sample", type=int, default=5_000)
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--cosine", type=float, default=0.9)
    parser.add_argument("--write", action="store_true", help="draw the figure of docs/images/experiments")
    options = parser.parse_args()
    collection = read_texts(options)
    shingles = Shingles(width=1)
    signer = Simhash(bits=options.bits, weighting="tf-idf", shingles=shingles).fit(collection.texts)
    features = shingles.extract(collection.sample(options.sample), counts=True)
    signed = signer.sign(features)
    assert len(signed) == len(features), "texts without words have no signature"
    a, b = each_pair(len(signed))
    cosine = cosines(features, weights(features, "tf-idf", signer.frequencies))[a, b]
    found = hamming_quality(cosine, distances(signed.words)[a, b], options.bits, options.cosine)
    similar = int(np.sum(cosine >= options.cosine))
    print(
        f"{collection.name}: {len(cosine):,} pairs of {len(signed):,} sampled, {similar:,} of them >= {options.cosine}"
    )
    print("\n| h | pairs at h | precision | recall | mean cosine at h |\n|---|---|---|---|---|")
    for h in (h for h in SHOWN if h <= options.bits):
        row = f"{found.precision[h]:.3f} | {found.recall[h]:.3f} | {found.cosine[h]:.3f}"
        print(f"| {h} | {found.pairs[h]:,} | {row} |")
    print(
        f"\nRecall reaches precision at h = {found.balance}; in the paper at 3, where the cosine falls from .95 to .89."
    )
    figure, (curves, means) = panels(2)
    radius = np.arange(min(options.bits, 24) + 1)
    curves.plot(radius, found.precision[radius], marker=".", label="precision")
    curves.plot(radius, found.recall[radius], marker=".", label="recall")
    curves.axvline(3, color="0.5", ls=":", label="the paper's h = 3")
    curves.set(xlabel="Hamming radius h", title=f"against a cosine of {options.cosine}", ylim=(0, 1.02))
    curves.legend(frameon=False)
    whole = np.arange(options.bits + 1)
    means.plot(whole, found.cosine, marker=".", label="measured")
    means.plot(whole, np.cos(np.pi * whole / options.bits), color="0.5", ls=":", label="cos(pi h / bits)")
    means.set(xlabel="Hamming distance h", title="mean cosine", ylim=(-0.1, 1.02))
    means.legend(frameon=False)
    if options.write:
        save(figure, "psm-figure6")


if __name__ == "__main__":
    main()
