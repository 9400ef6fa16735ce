"""PSM 8.3: total recall. What a radius finds of the similar pairs, R(h), times what probes find of that, R'.

usage: python -m experiments.psm_total [--texts FILE] [--sample N] [--radius 3 4 6 8] [--cosine .9] [--write]

All pairs of a sample of texts are compared: by the cosine of their tf-idf vectors, by their 64-bit signatures, and by
probes. Half of the texts choose the number of probes for a recall of 95 %, the others are looked up with it.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from experiments.collection import add_texts, read_texts
from experiments.psm_data import publish, table
from sosie import Matches, ProbeIndex, ProbeSearch, Shingles, Signatures, Simhash
from sosie.evaluation.signatures.cosines import cosines, distances, each_pair
from sosie.evaluation.signatures.estimates import hamming_quality
from sosie.features.weighting import weights

BITS = 64


class Sample(NamedTuple):
    """Signatures with volatility, and the cosine of every two of the texts."""

    signed: Signatures
    cosines: Any


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_texts(parser)
    parser.add_argument("--sample", type=int, default=8_000)
    parser.add_argument("--radius", type=int, nargs="+", default=[3, 4, 6, 8])
    parser.add_argument("--cosine", type=float, default=0.9)
    parser.add_argument("--write", action="store_true", help="write into docs/experiments")
    given = parser.parse_args()
    texts = read_texts(given)
    shingles = Shingles(width=1)
    signer = Simhash(bits=BITS, weighting="tf-idf", shingles=shingles).fit(texts.texts)
    features = shingles.extract(texts.sample(given.sample), counts=True)
    signed = signer.sign(features, volatility=True)
    assert len(signed) == len(features), "texts without words have no signature"
    sample = Sample(signed, cosines(features, weights(features, "tf-idf", signer.frequencies)))
    a, b = each_pair(len(signed))
    quality = hamming_quality(sample.cosines[a, b], distances(signed.words)[a, b], BITS, given.cosine)
    rows = [[radius, *line(sample, radius, given.cosine, float(quality.recall[radius]))] for radius in given.radius]
    header = ["h", "R(h)", "probes", "R'", "R(h) R'", "total recall, measured", "pairs within h that were looked up"]
    similar = int(np.sum(sample.cosines[a, b] >= given.cosine))
    said = (
        f"{texts.name}: {len(a):,} pairs of {len(signed):,} sampled (one draw, seed 0), {similar:,} of them with a "
        f"cosine of at least {given.cosine}."
    )
    publish("psm-total", f"{said}\n\n{table(header, rows)}", given.write)


def line(sample: Sample, radius: int, cosine: float, recall: float) -> list[str]:
    """Return what is found of the similar pairs of the half that had no say in the number of probes."""
    halves = np.random.default_rng(0).permutation(len(sample.signed)) % 2
    chooses, asked = (np.flatnonzero(halves == half) for half in (0, 1))
    index = ProbeIndex(sample.signed)
    effort = index.calibrate(sample.signed.take(chooses), radius, exclude_self=True)
    queries = sample.signed.take(asked)
    found = index.within(queries, radius, effort=effort, exclude_self=True)
    exact = index.within(queries, radius, effort=ProbeSearch(2**30), exclude_self=True)
    relative = len(found.rows) / len(exact.rows)
    whole = int(np.sum(sample.cosines[asked] >= cosine)) - len(asked)  # each is similar to itself
    total = similar(sample, asked, found, cosine) / whole
    figures = [recall, relative, recall * relative, total]
    shown = [f"{figure:.3f}" for figure in figures]
    return [shown[0], str(effort.probes), *shown[1:], f"{len(exact.rows):,}"]


def similar(sample: Sample, asked: Any, found: Matches, cosine: float) -> int:
    """Return how many matches have at least a cosine."""
    queries = np.repeat(asked, np.diff(found.offsets))
    return int(np.sum(sample.cosines[queries, found.rows] >= cosine))


if __name__ == "__main__":
    main()
