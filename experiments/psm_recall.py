"""PSM Figure 8: the recall of a fixed number of probes as the collection and its header grow (t = d).

usage: python -m experiments.psm_recall [--log-rows 14 16 18 20] [--queries 20000] [--write]
"""

from __future__ import annotations

from typing import Any

from experiments.psm_data import RADIUS, collection, options, picture, publish, reached, table
from sosie import ProbeIndex, ProbeSearch

PROBES = (1, 2, 5, 10, 20)
PAPER = {("all", 10): 0.93, ("first", 5): 0.90}  # at least, up to 60 million rows


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__, log_rows=[14, 16, 18, 20], asked=20_000).parse_args()
    recall: dict[tuple[str, int], list[float]] = {}
    for log_rows in given.log_rows:
        data = collection(log_rows, given.queries)
        index = ProbeIndex(data.rows, header=log_rows)
        exact = index.within(data.queries, RADIUS, effort=ProbeSearch(2**30))
        for name, first in (("all", False), ("first", True)):
            for count in PROBES:
                share = reached(index, data.queries, ProbeSearch(count), exact, first)
                recall.setdefault((name, count), []).append(share)
    rows = [
        [f"{name}, {count} probes", *(f"{share:.3f}" for share in line), PAPER.get((name, count), "")]
        for (name, count), line in recall.items()
    ]
    header = ["", *(f"2^{log_rows}" for log_rows in given.log_rows), "paper, up to 60 million"]
    publish("psm-recall", f"Share of the exact answer, radius {RADIUS}:\n\n{table(header, rows)}", given.write)

    def draw(panels: Any) -> None:
        for axes, name in zip(panels, ("all", "first"), strict=True):
            for count in PROBES:
                axes.plot(given.log_rows, recall[name, count], "o-", label=f"{count} probes")
            axes.set(title=name, xlabel="log2 of rows = bits of the header", ylabel="recall", ylim=(0.5, 1.0))

    picture("recall", 2, draw, given.write)


if __name__ == "__main__":
    main()
