"""STEIN Figure 3: precision stress and recall stress of embeddings against the similarity threshold.

usage: python -m experiments.stein_figure3 [--texts COLLECTION ...] [--samples N] [--write]

Means over samples of each collection; the points of fuzzy-fingerprinting and of p-stable LSH are those of the product.
"""

from __future__ import annotations

import numpy as np

from experiments.embeddings import Drawn, Sample, cosines_of, inner_products, run
from experiments.slice_page import table
from sosie.evaluation.signatures.estimates import Stress, stress
from sosie.types import F64

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
        "p-stable LSH": cosines_of(sample.lsh(DIMENSIONS)),
        f"Y*, theta {THETA}": np.maximum(inner_products(sample.threshold(DIMENSIONS, THETA)), 0),
    }
    return {name: stress(sample.cosines, similarity, THRESHOLDS) for name, similarity in found.items()}


def stresses(samples: list[Sample]) -> dict[str, F64]:
    """Return precision stress and recall stress of each embedding: an array by kind, sample and threshold."""
    each = [curves(sample) for sample in samples]
    return {
        name: np.array(
            [
                [[getattr(at, kind) for at in found[name]] for found in each]
                for kind in ("precision_stress", "recall_stress")
            ]
        )
        for name in each[0]
    }


def stress_table(found: dict[str, F64]) -> str:
    """Return precision stress / recall stress at some thresholds, means over the samples that have such pairs."""
    places = [THRESHOLDS.index(threshold) for threshold in SHOWN]
    rows = []
    for name, values in found.items():
        means = _means(values)
        rows.append([name, *(f"{_shown(means[0, place])} / {_shown(means[1, place])}" for place in places)])
    return table(["embedding", *(str(threshold) for threshold in SHOWN)], rows)


def crossing(found: dict[str, F64]) -> str:
    """Say from which threshold on prefix classes have less recall stress than the SVD, and than p-stable LSH."""
    fuzzy, said = _means(found["fuzzy-fingerprint"])[1], []
    for other in ("SVD", "p-stable LSH"):
        less = fuzzy < _means(found[other])[1]
        least = next((t for place, t in enumerate(THRESHOLDS) if all(less[place:])), None)
        said.append(f"than {other} " + (f"from {least} on" if least is not None else "at no end of the curve"))
    return f"Prefix classes have less recall stress {', and '.join(said)}."


def measured(drawn: Drawn, write: bool) -> str:
    """Return the table of one collection, and draw its figure if asked for."""
    found = stresses(drawn.samples)
    image = f"stein-figure3-{drawn.name}"
    if write:
        _draw(found, image)
    lines = [
        f"![Precision and recall stress on {drawn.name}](../images/experiments/{image}.png)",
        "",
        f"**{drawn.name}**, precision stress and recall stress at a threshold, {len(drawn.samples)} samples:",
        "",
        stress_table(found),
        "",
        crossing(found),
    ]
    return "\n".join(lines)


def _means(values: F64) -> F64:
    """Return means over the samples that have such pairs, NaN where none has."""
    counted = (~np.isnan(values)).sum(axis=1)
    return np.where(counted > 0, np.nansum(values, axis=1) / np.maximum(counted, 1), np.nan)


def _draw(found: dict[str, F64], name: str) -> None:
    from experiments.figure import panels, save

    figure, axes = panels(2)
    for embedding, values in found.items():
        means = _means(values)
        for kind, axis in enumerate(axes):
            (line,) = axis.plot(THRESHOLDS, means[kind], label=embedding)
            for sample in values[kind]:
                axis.plot(THRESHOLDS, sample, color=line.get_color(), lw=0.5, alpha=0.4)
    axes[0].set(title="precision stress", ylim=(0, 2))
    axes[1].set(title="recall stress", ylim=(0, 1))
    for axis in axes:
        axis.set(xlabel="similarity threshold", xlim=(0, 1))
    axes[1].legend(frameon=True, loc="upper right", fontsize=8)
    save(figure, name)


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def main() -> None:
    """Measure and print; write if asked."""
    run("Figure 3", measured)


if __name__ == "__main__":
    main()
