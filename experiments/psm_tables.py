"""PSM Table 2: probes in one copy of the signatures beside block tables, all matches and any match.

usage: python -m experiments.psm_tables [--log-rows 20] [--queries 20000] [--write]

The number of probes is chosen for a recall of 95 % on other queries. Memory is in copies of the signatures: numbers of
rows are left out everywhere, as they are in the paper.
"""

from __future__ import annotations

from experiments.psm_data import RADIUS, collection, exact_index, microseconds, options, publish, reached, table
from sosie import ProbeIndex

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
    data = collection(given.log_rows, given.queries)
    rows: list[list[str]] = []
    for tables in (4, 10):
        exact = exact_index(data.rows, tables)
        matches = exact.within(data.queries, RADIUS)
        every = microseconds(exact.within, data.queries)
        first = microseconds(exact.within, data.queries, first=True)
        rows.append([f"blocks, {tables}", f"{tables:.2f}", "", "", f"{1e3 / every:.0f}", f"{1e3 / first:.0f}"])
        del exact
    for less in range(4, -1, -1):
        bits, speeds, found = given.log_rows - less, [], []
        index = ProbeIndex(data.rows, header=bits)
        for first_only in (False, True):
            chosen = index.calibrate(data.sample, RADIUS, first=first_only)
            search = index.any_within if first_only else index.within
            speeds.append(1e3 / microseconds(search, data.queries, effort=chosen))
            found.append((chosen.probes, reached(index, data.queries, chosen, matches, first_only)))
        probes = ", ".join(str(count) for count, _ in found)
        recall = ", ".join(f"{share:.3f}" for _, share in found)
        copies = 1 + 2.0 ** (bits - given.log_rows) * 4 / 8
        name = f"t = d - {less}" if less else "t = d"
        rows.append([name, f"{copies:.3f}", probes, recall, *(f"{speed:.0f}" for speed in speeds)])
    header = ["method", "copies", "probes: all, first", "recall: all, first", "thousand queries/s: all", "first"]
    header += ["paper: tables", "all", "first"]
    text = table(header, [[*row, *PAPER[row[0]]] for row in rows])
    publish("psm-tables", f"2^{given.log_rows} rows, {len(data.queries):,} queries, one thread:\n\n{text}", given.write)


if __name__ == "__main__":
    main()
