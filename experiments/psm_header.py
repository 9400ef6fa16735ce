"""PSM Figure 5: how many probes a header of t bits needs for a recall of 95 %, and what a query then takes.

usage: python -m experiments.psm_header [--log-rows 20] [--bits 14 16 18 20] [--queries 20000] [--texts FILE] [--write]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.psm_data import RADIUS, collection, draws, microseconds, named, options, picture, publish, table
from sosie import ProbeIndex

PAPER = {16: (6, 3), 26: (23, 15)}  # 60 million rows; all, first


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__, log_rows=20, asked=20_000, seeds=3)
    parser.add_argument("--bits", type=int, nargs="+")
    given = parser.parse_args()
    bits = given.bits or list(range(given.log_rows - 8, given.log_rows + 1, 2))
    chosen: dict[int, list[tuple[int, int]]] = {t: [] for t in bits}
    times: dict[int, list[tuple[float, float]]] = {t: [] for t in bits}
    for seed in range(given.seeds):
        data = collection(given, given.log_rows, seed)
        for t in bits:
            index = ProbeIndex(data.rows, header=t)
            every = index.calibrate(data.sample, RADIUS)
            all_us = microseconds(index.within, data.queries, effort=every)
            first = index.calibrate(data.sample, RADIUS, first=True)
            any_us = microseconds(index.any_within, data.queries, effort=first)
            chosen[t].append((every.probes, first.probes))
            times[t].append((all_us, any_us))
    rows = [[t, *map(span, zip(*chosen[t], strict=True)), *means(times[t]), *PAPER.get(t, ("", ""))] for t in bits]
    header = ["t", "probes, all", "first", "us per query, all", "first", "paper: probes, all", "first"]
    size = f"2^{given.log_rows} rows, {len(data.queries):,} queries, one thread."
    publish(named("psm-header", given), f"{size} {draws(given)} {data.said}\n\n{table(header, rows)}", given.write)
    picture(named("header", given), 2, lambda panels: draw(panels, mean(chosen), mean(times)), given.write)


def span(counts: Iterable[int]) -> str:
    """Return the least and the most of some draws."""
    least, *_, most = sorted([*counts] * 2)
    return str(least) if least == most else f"{least} to {most}"


def means(draws: Sequence[tuple[float, float]]) -> list[str]:
    """Return the mean of some draws, for all and for the first."""
    return [f"{np.mean(each):.2f}" for each in zip(*draws, strict=True)]


def mean(values: Mapping[int, Sequence[tuple[float, float]]]) -> dict[int, Sequence[float]]:
    """Return the means by the bits of a header."""
    return {t: np.mean(draws, axis=0).tolist() for t, draws in values.items()}


def draw(panels: Any, chosen: Mapping[int, Sequence[float]], times: Mapping[int, Sequence[float]]) -> None:
    """Draw the probes, beside those of the paper, and the times."""
    for axes, values, name in zip(panels, (chosen, times), ("probes", "us per query"), strict=True):
        for which, label in enumerate(("all", "first")):
            axes.plot(list(values), [pair[which] for pair in values.values()], "o-", label=label)
        axes.set(xlabel="bits of the header", ylabel=f"{name}, recall 95 %")
    for which, label in enumerate(("all", "first")):
        panels[0].plot(list(PAPER), [pair[which] for pair in PAPER.values()], "x--", label=f"paper, {label}", alpha=0.6)
    for axes in panels:
        axes.set_ylim(0)


if __name__ == "__main__":
    main()
