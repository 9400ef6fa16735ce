"""STEIN Figure 4: how similarities are distributed in a collection, and in one compiled to have many high ones.

usage: python -m experiments.stein_figure4 [--texts COLLECTION ...] [--samples N] [--write]

The compilation has as many documents as a sample: drawn ones, each with those most similar to it in the collection. Its
stress is measured as in Figure 3.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from experiments.embeddings import WORDS, Drawn, Sample, run
from experiments.slice_page import table
from experiments.stein_figure3 import crossing, stress_table, stresses
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import weights
from sosie.signatures.decompose import unit_rows
from sosie.types import F64

TOGETHER = 10  # documents of a compilation that are near each other: one that is drawn, and the nearest to it
EDGES = np.arange(0, 1.05, 0.1).round(1)
BLOCK = 100  # drawn documents that are compared with all at a time


def compiled(drawn: Drawn, seed: int) -> Sample:
    """Compile a collection of documents that are like others."""
    features = WORDS.extract(drawn.texts, counts=True)
    vectors = unit_rows(features, weights(features, "tf-idf", count_frequencies([features])))
    wanted = len(drawn.samples[0].texts)
    order, chosen = np.random.default_rng(seed).permutation(len(drawn.texts)), dict[int, None]()
    for start in range(0, len(order), BLOCK):
        cosines = (vectors[order[start : start + BLOCK]] @ vectors.T).toarray()
        for row in np.argsort(-cosines, axis=1, kind="stable")[:, :TOGETHER]:
            chosen.update(dict.fromkeys(row.tolist()))
        if len(chosen) >= wanted:
            break
    return Sample(f"{drawn.name}, compiled", [drawn.texts[row] for row in sorted([*chosen][:wanted])], seed)


def shares(sample: Sample) -> F64:
    """Return the share of all pairs in each interval of similarity."""
    return np.histogram(np.clip(sample.cosines, 0, 1), EDGES)[0] / len(sample.cosines)


def measured(drawn: Drawn, write: bool) -> str:
    """Return the distributions of one collection, and draw them if asked for."""
    compilations = [compiled(drawn, sample.seed) for sample in drawn.samples]
    original = np.array([shares(sample) for sample in drawn.samples]).mean(axis=0)
    special = np.array([shares(sample) for sample in compilations]).mean(axis=0)
    image = f"stein-figure4-{drawn.name}"
    if write:
        _draw(original, special, image)
    names = [f"{low:.1f} to {high:.1f}" for low, high in pairwise(EDGES)]
    rows = [
        [name, f"{a:.2e}", f"{b:.2e}", f"{b / a:.1f}" if a else "-"]
        for name, a, b in zip(names, original, special, strict=True)
    ]
    found = stresses(compilations)
    lines = [
        f"![Similarities in {drawn.name}](../images/experiments/{image}.png)",
        "",
        f"**{drawn.name}**: {len(drawn.samples)} samples of {len(drawn.samples[0].texts):,} documents beside as many "
        f"compilations of {len(compilations[0].texts):,}; the share of all pairs:",
        "",
        table(["cosine", "sample", "compilation", "times"], rows),
        "",
        "Precision stress and recall stress on the compilations:",
        "",
        stress_table(found),
        "",
        crossing(found),
    ]
    return "\n".join(lines)


def _draw(original: F64, special: F64, name: str) -> None:
    from experiments.figure import COLOURS, panels, save

    figure, (axis,) = panels(1)
    centres = EDGES[:-1] + 0.05
    axis.bar(centres - 0.02, original, 0.04, color=COLOURS[0], label="sample")
    axis.bar(centres + 0.02, special, 0.04, color=COLOURS[1], label="compilation")
    axis.set(yscale="log", xlabel="cosine", ylabel="share of all pairs", xlim=(0, 1))
    axis.legend(frameon=False)
    save(figure, name)


def main() -> None:
    """Measure and print; write if asked."""
    run("Figure 4", measured)


if __name__ == "__main__":
    main()
