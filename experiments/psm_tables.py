"""PSM Table 2: probes in one copy of the signatures beside block tables, all matches and any match.

usage: python -m experiments.psm_tables [--log-rows 20] [--queries 20000] [--texts FILE] [--write]

The number of probes is chosen for a recall of 95 % on other queries. Memory is that of all arrays that an index holds,
in copies of the signatures; the paper leaves the numbers of rows out. With `first`, both stop at a match.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.psm_data import (
    RADIUS,
    collection,
    copies,
    exact_index,
    microseconds,
    named,
    options,
    publish,
    reached,
    table,
)
from sosie import BlockIndex, ProbeIndex

PAPER = {  # tables, thousand queries a second: all, first; 60 million rows
    "blocks, 4": ("4", 154, 185),
    "blocks, 10": ("10", 189, 385),
    "t = d - 4": ("1.06", 645, 1400),
    "t = d - 3": ("1.125", 694, 1500),
    "t = d - 2": ("1.25", 694, 1560),
    "t = d - 1": ("1.5", 741, 1600),
    "t = d": ("2", 765, 1600),
}


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__, log_rows=20, asked=20_000).parse_args()
    data = collection(given, given.log_rows)
    rows: list[list[str]] = []
    for tables in (4, 10):
        exact = exact_index(data.rows, tables)
        matches = exact.within(data.queries, RADIUS)
        read = exact.any_within(data.queries, RADIUS).counters["probes"] / len(data.queries)
        speeds = [1e3 / microseconds(search, data.queries) for search in (exact.within, exact.any_within)]
        rows.append([f"blocks, {tables}", *memory(exact), f"{tables}, {read:.2f}", "1, 1", *speed(speeds)])
        del exact
    for less in range(4, -1, -1):
        bits, speeds, found, probes = given.log_rows - less, [], [], []
        index = ProbeIndex(data.rows, header=bits)
        for first_only in (False, True):
            chosen = index.calibrate(data.sample, RADIUS, first=first_only)
            search = index.any_within if first_only else index.within
            speeds.append(1e3 / microseconds(search, data.queries, effort=chosen))
            probes.append(search(data.queries, RADIUS, effort=chosen).counters["probes"] / len(data.queries))
            found.append(reached(index, data.queries, chosen, matches, first_only))
        name = f"t = d - {less}" if less else "t = d"
        looked = f"{probes[0]:.0f}, {probes[1]:.2f}"
        rows.append([name, *memory(index), looked, ", ".join(f"{share:.3f}" for share in found), *speed(speeds)])
    header = ["method", "copies held", "without row numbers", "look-ups: all, first", "recall: all, first"]
    header += ["thousand queries/s: all", "first", "paper: tables", "all", "first"]
    text = table(header, [[*row, *PAPER[row[0]]] for row in rows])
    met = np.diff(matches.offsets)
    said = (
        f"2^{given.log_rows} rows, {len(data.queries):,} queries, one thread. One draw (seed 0): {data.said} "
        f"{np.mean(met > 0):.1%} of the queries have a match, {np.sum(met) / max(np.sum(met > 0), 1):.2f} on average."
    )
    publish(named("psm-tables", given), f"{said}\n\n{text}", given.write)


def memory(index: BlockIndex | ProbeIndex) -> list[str]:
    """Return what an index holds, in copies of the signatures."""
    return [f"{share:.3f}" for share in copies(index)]


def speed(thousands: Sequence[float]) -> list[str]:
    """Return thousands of queries in a second."""
    return [f"{each:.0f}" for each in thousands]


if __name__ == "__main__":
    main()
