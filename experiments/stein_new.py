"""STEIN Remark 5: what embeddings that were fitted to some documents make of new ones.

usage: python -m experiments.stein_new [--texts COLLECTION ...] [--samples N] [--write]

Fitted to a sample, and asked for the pairs above .8 that its documents make with as many others.
"""

from __future__ import annotations

import numpy as np

from experiments.embeddings import WORDS, Drawn, draw, run
from experiments.slice_page import table
from sosie import Features, Simhash, SvdEmbedding, ThresholdEmbedding
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import weights
from sosie.signatures.decompose import unit_rows
from sosie.types import F64, Bools, Signatures

THETA, DIMENSIONS, BITS = 0.8, 50, 256


def measured(drawn: Drawn, write: bool) -> str:
    """Return what is found of the pairs of one collection, means over its samples."""
    results = []
    for sample in drawn.samples:
        known = set(sample.texts)
        rest = [text for text in drawn.texts if text not in known]
        results.append(asked(sample.features, WORDS.extract(draw(rest, len(sample.texts), sample.seed), counts=True)))
    pairs = [result.pop("pairs") for result in results]
    rows = [[name, _spread([result[name] for result in results])] for name in results[0]]
    said = (
        f"**{drawn.name}**: fitted to {len(drawn.samples[0].texts):,} documents, {len(drawn.samples)} samples; "
        f"{min(pairs):,.0f} to {max(pairs):,.0f} pairs above {THETA} with as many others."
    )
    return f"{said}\n\n{table(['', 'share'], rows)}"


def asked(fitted: Features, new: Features) -> dict[str, float]:
    """Return the number of similar pairs between fitted and new documents, and the share that each way finds."""
    both = Features.joined([fitted, new])
    frequencies = count_frequencies([fitted])
    vectors = unit_rows(both, weights(both, "tf-idf", frequencies))
    split = len(fitted)
    similar = (vectors[:split] @ vectors[split:].T).toarray() > THETA
    optimum = ThresholdEmbedding(dimensions=DIMENSIONS, theta=THETA, bits=BITS).fit(fitted)
    svd = SvdEmbedding(dimensions=DIMENSIONS, bits=BITS).fit(fitted)
    simhash = Simhash(bits=BITS, shingles=WORDS, weighting="tf-idf").fit(frequencies)
    products = optimum.embed(fitted) @ optimum.embed(new).T
    found = {"pairs": float(similar.sum()), "points of Y*: recall, inner product above 1/2": _recall(products, similar)}
    for name, signer in (("Y*", optimum), ("simhash", simhash), ("SVD", svd)):
        near = -distances(signer.sign(fitted), signer.sign(new))
        found[f"signatures of {name}: precision of as many as are similar"] = _precision(near, similar)
    return found


def distances(a: Signatures, b: Signatures) -> F64:
    """Return the Hamming distances of all rows of the one with all of the other."""
    found = np.zeros((len(a), len(b)))
    for word in range(a.words.shape[1]):
        found += np.bitwise_count(a.words[:, word, None] ^ b.words[:, word])
    return found


def _recall(products: F64, similar: Bools) -> float:
    return float((products[similar] > 0.5).mean()) if similar.any() else np.nan


def _precision(near: F64, similar: Bools) -> float:
    """Return the precision of as many pairs as are similar, the nearest first; of equally near ones any count alike."""
    count = int(similar.sum())
    if not count:
        return np.nan
    least = np.partition(near.ravel(), -count)[-count]
    above, level = near > least, near == least
    share = (count - above.sum()) / level.sum()
    return float((similar[above].sum() + share * similar[level].sum()) / count)


def _spread(values: list[float]) -> str:
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return "-"
    return f"{known.mean():.2f}" + (f" +- {known.std(ddof=1):.2f}" if len(known) > 1 else "")


def main() -> None:
    """Measure and print; write if asked."""
    run("New documents", measured)


if __name__ == "__main__":
    main()
