"""STEIN Figure 3: precision stress and recall stress of embeddings against the similarity threshold.

usage: python -m experiments.stein_figure3 [--texts COLLECTION ...] [--write]
"""

from __future__ import annotations

import numpy as np

from experiments.embeddings import Sample, cosines_of, inner_products, run
from sosie.evaluation.signatures.estimates import Stress, stress

THRESHOLDS = np.arange(0, 0.96, 0.05).round(2).tolist()
SHOWN = (0.2, 0.4, 0.6, 0.8, 0.9)
DIMENSIONS = 50
THETA = 0.8


def curves(sample: Sample) -> dict[str, list[Stress]]:
    """Return the stress of each embedding at each threshold."""
    svd = sample.svd(DIMENSIONS)
    found = {
        "SVD": np.maximum(inner_products(svd), 0),
        "SVD, cosines": cosines_of(svd),
        "fuzzy-fingerprint": cosines_of(sample.fuzzy(DIMENSIONS)),
        "LSH": cosines_of(sample.lsh(DIMENSIONS)),
        f"Y*, theta {THETA}": np.maximum(inner_products(sample.threshold(DIMENSIONS, THETA)), 0),
    }
    return {name: stress(sample.cosines, similarity, THRESHOLDS) for name, similarity in found.items()}


def measured(sample: Sample, write: bool) -> str:
    """Return the table of one sample, and draw its figure if asked for."""
    found = curves(sample)
    image = f"stein-figure3-{sample.name}"
    if write:
        _draw(found, image)
    lines = [
        f"![Precision and recall stress on {sample.name}](../images/experiments/{image}.png)",
        "",
        f"**{sample.name}**, precision stress and recall stress at a threshold:",
        "",
        "| embedding | " + " | ".join(str(t) for t in SHOWN) + " |",
        "|---|" + "---|" * len(SHOWN),
    ]
    for name, each in found.items():
        at = {stressed.threshold: stressed for stressed in each}
        cells = [f"{_shown(at[t].precision_stress)} / {_shown(at[t].recall_stress)}" for t in SHOWN]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _draw(found: dict[str, list[Stress]], name: str) -> None:
    from experiments.figure import panels, save

    figure, (left, right) = panels(2)
    for embedding, each in found.items():
        left.plot(THRESHOLDS, [at.precision_stress for at in each], label=embedding)
        right.plot(THRESHOLDS, [at.recall_stress for at in each], label=embedding)
    left.set(title="precision stress", ylim=(0, 2))
    right.set(title="recall stress", ylim=(0, 1))
    for axes in (left, right):
        axes.set(xlabel="similarity threshold", xlim=(0, 1))
    left.legend(frameon=True, loc="upper right", fontsize=8)
    save(figure, name)


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def main() -> None:
    """Measure and print; write if asked."""
    run("Figure 3", measured)


if __name__ == "__main__":
    main()
