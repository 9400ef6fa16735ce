"""PSM Figure 7: what a query takes as the collection grows, by 4 tables, 10 tables and probes (t = d, recall 95 %).

usage: python -m experiments.psm_growth [--log-rows 16 17 18 19 20] [--queries 10000] [--texts FILE] [--write]

With `first`, tables and probes stop at a match of the query (BPHS_F and PSM_F of the paper): `any_within`.
"""

from __future__ import annotations

from typing import Any

from experiments.psm_data import (
    RADIUS,
    Collection,
    collection,
    exact_index,
    microseconds,
    named,
    options,
    picture,
    publish,
    table,
)
from sosie import ProbeIndex

PAPER = {  # us per query, 60 million rows (Table 2)
    "4 tables, all": 6.5,
    "4 tables, first": 5.4,
    "10 tables, all": 5.3,
    "10 tables, first": 2.6,
    "probes, all": 1.31,
    "probes, first": 0.63,
}


def measured(data: Collection, log_rows: int) -> dict[str, float]:
    """Return the microseconds of each method."""
    times = {}
    for tables in (4, 10):
        exact = exact_index(data.rows, tables)
        times[f"{tables} tables, all"] = microseconds(exact.within, data.queries)
        times[f"{tables} tables, first"] = microseconds(exact.any_within, data.queries)
        del exact
    index = ProbeIndex(data.rows, header=log_rows)
    every = index.calibrate(data.sample, RADIUS)
    times["probes, all"] = microseconds(index.within, data.queries, effort=every)
    first_only = index.calibrate(data.sample, RADIUS, first=True)
    times["probes, first"] = microseconds(index.any_within, data.queries, effort=first_only)
    return times


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__, log_rows=[16, 17, 18, 19, 20], asked=10_000).parse_args()
    times = {}
    for log_rows in given.log_rows:
        data = collection(given, log_rows)
        times[log_rows] = measured(data, log_rows)
    rows = [[f"2^{log_rows}", *(f"{us:.2f}" for us in line.values())] for log_rows, line in times.items()]
    rows.append(["paper, 60 million", *PAPER.values()])
    said = f"Microseconds of a query, {len(data.queries):,} at a time, one thread. One draw (seed 0); the largest:"
    publish(named("psm-growth", given), f"{said} {data.said}\n\n{table(['rows', *PAPER], rows)}", given.write)

    def draw(panels: Any) -> None:
        for name in PAPER:
            style = "-" if "all" in name else "--"
            panels[0].plot(list(times), [line[name] for line in times.values()], f"o{style}", label=name)
        most = max(max(line.values()) for line in times.values())
        panels[0].set(xlabel="log2 of rows", ylabel="us per query", ylim=(0, 1.4 * most))  # the legend is on top

    picture(named("growth", given), 1, draw, given.write)


if __name__ == "__main__":
    main()
