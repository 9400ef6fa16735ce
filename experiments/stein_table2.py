"""STEIN Table 2: how precise embeddings are at high similarities, at 50 and 25 dimensions.

usage: python -m experiments.stein_table2 [--texts COLLECTION ...] [--write]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.embeddings import Sample, cosines_of, inner_products, run
from sosie.types import F64, Bools

THRESHOLDS = (0.8, 0.85, 0.9, 0.95)
THEIRS = {
    ("Y*", 50): (0.58, 0.71, 0.84, 0.95),
    ("fuzzy", 50): (0.17, 0.45, 0.69, 0.85),
    ("SVD", 50): (0.35, 0.45, 0.57, 0.73),
    ("Y*", 25): (0.29, 0.38, 0.51, 0.74),
    ("fuzzy", 25): (0.01, 0.02, 0.09, 0.59),
    ("SVD", 25): (0.16, 0.22, 0.34, 0.56),
}


@dataclass(frozen=True)
class Answer:
    """What an embedding says of all pairs at a threshold: a pair is returned if its similarity is above `cut`."""

    similarity: F64
    cut: float

    def cell(self, similar: Bools) -> str:
        """Return precision, recall, and the precision of as many pairs as are similar, the most similar ones first."""
        returned, count = self.similarity > self.cut, int(similar.sum())
        first = np.argpartition(-self.similarity, max(count - 1, 0))[:count]
        both = int((returned & similar).sum())
        values = (_share(both, int(returned.sum())), _share(both, count), _share(int(similar[first].sum()), count))
        return "**{}** {} {}".format(*values)


def answers(sample: Sample, dimensions: int) -> dict[str, list[Answer]]:
    """Return what each embedding says at each threshold; Y* is made for each of them anew."""
    svd, fuzzy = sample.svd(dimensions), cosines_of(sample.fuzzy(dimensions))
    optimum = [inner_products(sample.threshold(dimensions, theta)) for theta in THRESHOLDS]
    return {
        "Y*": [Answer(found, 0.5) for found in optimum],
        "Y*, above theta": [Answer(found, theta) for found, theta in zip(optimum, THRESHOLDS, strict=True)],
        "fuzzy": [Answer(fuzzy, theta) for theta in THRESHOLDS],
        "SVD": [Answer(cosines_of(svd), theta) for theta in THRESHOLDS],
        "SVD, inner products": [Answer(inner_products(svd), theta) for theta in THRESHOLDS],
    }


def measured(sample: Sample, write: bool) -> str:
    """Return the table of one sample."""
    true = sample.cosines
    pairs = ", ".join(f"{(true > theta).sum():,} above {theta}" for theta in THRESHOLDS)
    lines = [
        f"**{sample.name}**: {len(sample.texts):,} documents, {len(true):,} pairs, of these {pairs}.",
        "",
        "| embedding | dim. | " + " | ".join(f"({theta}; 1]" for theta in THRESHOLDS) + " | STEIN |",
        "|---|---|" + "---|" * (len(THRESHOLDS) + 1),
    ]
    for dimensions in (50, 25):
        for name, given in answers(sample, dimensions).items():
            cells = [answer.cell(true > theta) for answer, theta in zip(given, THRESHOLDS, strict=True)]
            theirs = " ".join(f"{value:.2f}" for value in THEIRS.get((name, dimensions), ()))
            lines.append(f"| {name} | {dimensions} | " + " | ".join(cells) + f" | {theirs} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def main() -> None:
    """Measure and print; write if asked."""
    run("Table 2", measured)


if __name__ == "__main__":
    main()
