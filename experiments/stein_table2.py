"""STEIN Table 2: how precise embeddings are at high similarities, at 50 and 25 dimensions.

usage: python experiments/stein_table2.py [COLLECTION ...]      rewrites its part of docs/experiments/stein.md
"""

from __future__ import annotations

import numpy as np
from embeddings import Sample, cosines_of, inner_products, samples, write_part

from sosie.evaluation.stress import stress
from sosie.types import F64

THRESHOLDS = (0.8, 0.85, 0.9, 0.95)
THEIRS = {
    ("Y*", 50): (0.58, 0.71, 0.84, 0.95),
    ("fuzzy", 50): (0.17, 0.45, 0.69, 0.85),
    ("SVD", 50): (0.35, 0.45, 0.57, 0.73),
    ("Y*", 25): (0.29, 0.38, 0.51, 0.74),
    ("fuzzy", 25): (0.01, 0.02, 0.09, 0.59),
    ("SVD", 25): (0.16, 0.22, 0.34, 0.56),
}


def embedded(sample: Sample, dimensions: int) -> dict[str, list[F64]]:
    """Return the similarities of all pairs by each embedding, as they are compared with each threshold."""
    svd = sample.svd(dimensions)
    return {
        "Y*": [inner_products(sample.threshold(dimensions, theta)) for theta in THRESHOLDS],
        "fuzzy": [cosines_of(sample.fuzzy(dimensions))] * len(THRESHOLDS),
        "SVD": [cosines_of(svd)] * len(THRESHOLDS),
        "SVD, inner products": [inner_products(svd)] * len(THRESHOLDS),
    }


def of_the_first(similarity: F64, found: F64, threshold: float) -> float:
    """Return the precision of as many pairs as are similar, those of the largest similarity as embedded first."""
    similar = similarity > threshold
    count = int(similar.sum())
    return float(similar[np.argpartition(-found, count - 1)[:count]].mean()) if count else float("nan")


def measured(sample: Sample) -> str:
    """Return the table of one sample."""
    true = sample.cosines
    pairs = ", ".join(f"{(true > t).sum():,} above {t}" for t in THRESHOLDS)
    lines = [
        f"**{sample.name}**: {len(sample.texts):,} documents, {len(true):,} pairs, of these {pairs}.",
        "",
        "| embedding | dim. | " + " | ".join(f"({t}; 1]" for t in THRESHOLDS) + " | STEIN |",
        "|---|---|" + "---|" * (len(THRESHOLDS) + 1),
    ]
    for dimensions in (50, 25):
        for name, found in embedded(sample, dimensions).items():
            cells = []
            for threshold, similarity in zip(THRESHOLDS, found, strict=True):
                (at,) = stress(true, similarity, [threshold])
                first = of_the_first(true, similarity, threshold)
                cells.append(f"**{shown(at.precision)}** {shown(at.recall)} {shown(first)}")
            theirs = " ".join(f"{value:.2f}" for value in THEIRS.get((name, dimensions), ()))
            lines.append(f"| {name} | {dimensions} | " + " | ".join(cells) + f" | {theirs} |")
    return "\n".join(lines)


def shown(value: float) -> str:
    """Return a share with two digits; a dash if there is none."""
    return "-" if np.isnan(value) else f"{value:.2f}"


if __name__ == "__main__":
    write_part("table 2", "\n\n".join(measured(sample) for sample in samples()))
