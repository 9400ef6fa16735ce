"""PSM Figure 8: the recall of a fixed number of probes as the collection and its header grow (t = d).

usage: python -m experiments.psm_recall [--log-rows 14 16 18 20] [--queries 20000] [--texts FILE] [--write]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.psm_data import RADIUS, collection, draws, named, options, picture, publish, reached, table
from sosie import ProbeIndex, ProbeSearch
from sosie.shown import counted

PROBES = (1, 2, 5, 10, 20)
PAPER = {("all", 10): 0.93, ("first", 5): 0.90}  # at least, up to 60 million rows


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__, log_rows=[14, 16, 18, 20], asked=20_000, seeds=3).parse_args()
    recall: dict[tuple[str, int], list[list[float]]] = {}
    for log_rows in given.log_rows:
        shares: dict[tuple[str, int], list[float]] = {}
        for seed in range(given.seeds):
            data = collection(given, log_rows, seed)
            index = ProbeIndex(data.rows, header=log_rows)
            exact = index.within(data.queries, RADIUS, effort=ProbeSearch(2**30))
            for name, first in (("all", False), ("first", True)):
                for count in PROBES:
                    share = reached(index, data.queries, ProbeSearch(count), exact, first)
                    shares.setdefault((name, count), []).append(share)
        for key, drawn in shares.items():
            recall.setdefault(key, []).append(drawn)
    rows = [
        [
            f"{name}, {counted(count, 'probe')}",
            *(f"{np.mean(drawn):.3f}" for drawn in line),
            PAPER.get((name, count), ""),
        ]
        for (name, count), line in recall.items()
    ]
    apart = max(np.ptp(drawn) for line in recall.values() for drawn in line)
    header = ["", *(f"2^{log_rows}" for log_rows in given.log_rows), "paper, up to 60 million"]
    said = f"Share of the exact answer, radius {RADIUS}; draws are up to {apart:.3f} apart. {draws(given)} {data.said}"
    publish(named("psm-recall", given), f"{said}\n\n{table(header, rows)}", given.write)

    def draw(panels: Any) -> None:
        for axes, name in zip(panels, ("all", "first"), strict=True):
            for count in PROBES:
                means = [np.mean(drawn) for drawn in recall[name, count]]
                axes.plot(given.log_rows, means, "o-", label=counted(count, "probe"))
            axes.set(title=name, xlabel="log2 of rows = bits of the header", ylabel="recall", ylim=(0.4, 1.0))

    picture(named("recall", given), 2, draw, given.write)


if __name__ == "__main__":
    main()
