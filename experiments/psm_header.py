"""PSM Figure 5: how many probes a header of t bits needs for a recall of 95 %, and what a query then takes.

usage: python -m experiments.psm_header [--log-rows 20] [--bits 14 16 18 20] [--queries 20000] [--write]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.psm_data import RADIUS, collection, microseconds, options, picture, publish, table
from sosie import ProbeIndex

PAPER = {16: (6, 3), 26: (23, 15)}  # 60 million rows; all, first


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__, log_rows=20, asked=20_000)
    parser.add_argument("--bits", type=int, nargs="+")
    given = parser.parse_args()
    data = collection(given.log_rows, given.queries)
    bits = given.bits or list(range(given.log_rows - 8, given.log_rows + 1, 2))
    chosen: dict[int, tuple[int, int]] = {}
    times: dict[int, tuple[float, float]] = {}
    for t in bits:
        index = ProbeIndex(data.rows, header=t)
        every = index.calibrate(data.sample, RADIUS)
        all_us = microseconds(index.within, data.queries, effort=every)
        first = index.calibrate(data.sample, RADIUS, first=True)
        any_us = microseconds(index.any_within, data.queries, effort=first)
        chosen[t], times[t] = (every.probes, first.probes), (all_us, any_us)
    rows = [[t, *chosen[t], *(f"{us:.2f}" for us in times[t]), *PAPER.get(t, ("", ""))] for t in bits]
    header = ["t", "probes, all", "first", "us per query, all", "first", "paper: probes, all", "first"]
    text = f"2^{given.log_rows} rows, {len(data.queries):,} queries, one thread:\n\n{table(header, rows)}"
    publish("psm-header", text, given.write)
    picture("header", 2, lambda panels: draw(panels, chosen, times), given.write)


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
