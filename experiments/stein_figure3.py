"""STEIN Figure 3: precision stress and recall stress of embeddings against the similarity threshold.

usage: python experiments/stein_figure3.py [COLLECTION ...]      rewrites its part of docs/experiments/stein.md
                                                                 and docs/images/experiments/stein-figure3-*.png
"""

from __future__ import annotations

import numpy as np
from embeddings import DOCS, Sample, cosines_of, inner_products, samples, write_part
from plot import Line, Panel, draw

from sosie.evaluation.stress import Stress, stress

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


def written(sample: Sample) -> str:
    """Draw the figure of one sample and return its part of the page."""
    found = curves(sample)
    image = f"stein-figure3-{sample.name}.png"
    precision = [Line(name, THRESHOLDS, [at.precision_stress for at in each]) for name, each in found.items()]
    recall = [Line(name, THRESHOLDS, [at.recall_stress for at in each]) for name, each in found.items()]
    panels = [
        Panel("precision stress", "similarity threshold", "stress", precision, top=2),
        Panel("recall stress", "similarity threshold", "stress", recall, top=1),
    ]
    draw(panels, DOCS / "images" / "experiments" / image)
    lines = [
        f"![Precision and recall stress on {sample.name}](../images/experiments/{image})",
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


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


if __name__ == "__main__":
    write_part("figure 3", "\n\n".join(written(sample) for sample in samples()))
