"""STEIN Table 2: how precise embeddings are at high similarities, at 50 and 25 dimensions.

usage: python -m experiments.stein_table2 [--texts COLLECTION ...] [--samples N] [--write]

Means over samples of each collection; the points of fuzzy-fingerprinting and of p-stable LSH are those of the product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.embeddings import Drawn, Sample, cosines_of, inner_products, run
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

    def shares(self, similar: Bools) -> tuple[float, float, float]:
        """Return precision, recall, and the precision of as many pairs as are similar, the most similar ones first."""
        returned, count = self.similarity > self.cut, int(similar.sum())
        first = np.argpartition(-self.similarity, max(count - 1, 0))[:count]
        both = int((returned & similar).sum())
        return _share(both, int(returned.sum())), _share(both, count), _share(int(similar[first].sum()), count)


def answers(sample: Sample, dimensions: int) -> dict[str, list[Answer]]:
    """Return what each embedding says at each threshold; Y* is made for each of them anew."""
    svd, fuzzy, lsh = sample.svd(dimensions), cosines_of(sample.fuzzy(dimensions)), cosines_of(sample.lsh(dimensions))
    optimum = [inner_products(sample.threshold(dimensions, theta)) for theta in THRESHOLDS]
    return {
        "Y*": [Answer(found, 0.5) for found in optimum],
        "Y*, above theta": [Answer(found, theta) for found, theta in zip(optimum, THRESHOLDS, strict=True)],
        "fuzzy": [Answer(fuzzy, theta) for theta in THRESHOLDS],
        "LSH": [Answer(lsh, theta) for theta in THRESHOLDS],
        "SVD": [Answer(cosines_of(svd), theta) for theta in THRESHOLDS],
        "SVD, inner products": [Answer(inner_products(svd), theta) for theta in THRESHOLDS],
    }


def measured(drawn: Drawn, write: bool) -> str:
    """Return the table of one collection."""
    found: dict[tuple[str, int], list[list[tuple[float, float, float]]]] = {}
    for sample in drawn.samples:
        for dimensions in (50, 25):
            for name, given in answers(sample, dimensions).items():
                cells = [answer.shares(sample.cosines > t) for answer, t in zip(given, THRESHOLDS, strict=True)]
                found.setdefault((name, dimensions), []).append(cells)
    similar = np.array([[(sample.cosines > theta).sum() for theta in THRESHOLDS] for sample in drawn.samples])
    pairs = ", ".join(
        f"{least:,} to {most:,} above {theta}"
        for least, most, theta in zip(similar.min(axis=0), similar.max(axis=0), THRESHOLDS, strict=True)
    )
    documents = len(drawn.samples[0].texts)
    lines = [
        f"**{drawn.name}**: {len(drawn.samples)} samples of {documents:,} documents, "
        f"{len(drawn.samples[0].cosines):,} pairs, of these {pairs}.",
        "",
        "| embedding | dim. | " + " | ".join(f"({theta}; 1]" for theta in THRESHOLDS) + " | STEIN |",
        "|---|---|" + "---|" * (len(THRESHOLDS) + 1),
    ]
    for (name, dimensions), cells in found.items():
        theirs = " ".join(f"{value:.2f}" for value in THEIRS.get((name, dimensions), ()))
        shown = [_cell(np.array(cells)[:, place]) for place in range(len(THRESHOLDS))]
        lines.append(f"| {name} | {dimensions} | " + " | ".join(shown) + f" | {theirs} |")
    return "\n".join(lines)


def _cell(shares: F64) -> str:
    """Return means over the samples, of the precision with its deviation; those that return nothing have none."""
    known = [column[~np.isnan(column)] for column in shares.T]
    means = [f"{column.mean():.2f}" if len(column) else "-" for column in known]
    spread = f" +- {known[0].std(ddof=1):.2f}" if len(known[0]) > 1 else ""
    return f"**{means[0]}**{spread}, {means[1]}, {means[2]}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else np.nan


def main() -> None:
    """Measure and print; write if asked."""
    run("Table 2", measured)


if __name__ == "__main__":
    main()
