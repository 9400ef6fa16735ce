"""TOPK Tables 1 to 3 and Figures 2 and 3: what a search finds and costs, by how far it expands; and the three rules.

usage: python -m experiments.topk_breadth [--count 1048576] [--texts FILE.parquet] [--write]

Slices of 16 bits, the 100 nearest, 60 rows (20 beyond 7 bits) searched for in their own collection; the row itself
does not count. Texts are signed by TopSig, as in the paper, and by simhash. One draw of the rows that are searched for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from experiments.slice_data import BITS, documents, nearest, options, random_signatures, some
from experiments.slice_page import cpu_ms, percent, picture, publish, table
from sosie import FlatIndex, Matches, Signatures, SliceIndex, SliceSearch
from sosie.evaluation.ratios import cumulative_distance_ratio, recall_at

WIDTH, K = 16, 100
FEWER = 7  # bits, beyond which all rows were seen, and a third of the searches is enough
SEEN_BY = 10  # searches that tell which share of the rows is seen
PROVED = 4  # searches that tell where a proof ends
SEEN = (0.62, 7.13, 34.76, 79.62, 98.93) + (100.0,) * 12  # Table 1, %
RANDOM = (63.44, 63.56, 74.55, 89.48, 95.69, 98.97, 99.59, 99.94, 99.98, 99.99, 99.99) + (100.0,) * 6  # Table 2, %
DOCUMENT = (86.09, 92.00, 96.28, 98.29, 99.14, 99.51, 99.66, 99.76, 99.83, 99.92, 99.98) + (100.0,) * 6
MILLISECONDS = (4.17, 4.8, 8.36, 23.2, 66.91, 162.71, 322.48, 538.09, 766.45, 955.05, 1088.4, 1157.07, 1183.4, 1190.97)
MILLISECONDS += (1187.46, 1188.1, 1189.94)  # Table 3
EXHAUSTIVE = 195.07


def scan_ms(rows: Signatures, queries: Signatures) -> tuple[float, float]:
    """Return the milliseconds of an exhaustive search, for each query of a batch and for a single one."""
    flat, one = FlatIndex(rows), queries.take(np.arange(1))
    batch = cpu_ms(lambda: flat.search(queries, K, threads=1), len(queries), 3)[0]
    return batch, cpu_ms(lambda: flat.search(one, K, threads=1), 1, 5)[0]


def first(matches: Matches, count: int) -> Matches:
    """Return the matches of the first queries."""
    end = matches.offsets[count]
    return Matches(matches.offsets[: count + 1], matches.rows[:end], matches.distances[:end])


def blind_ratio(rows: Signatures, queries: Signatures, exact: Matches) -> float:
    """Return the HDR of k rows that are drawn blindly, the nearest of them first."""
    drawn = np.random.default_rng(0).integers(0, len(rows), (len(queries), K))
    far = np.sort(np.bitwise_count(rows.words[drawn] ^ queries.words[:, None]).sum(axis=2), axis=1)
    found = Matches(np.arange(len(queries) + 1) * K, drawn.ravel(), far.ravel().astype(np.int32))
    return cumulative_distance_ratio(found, exact, K, BITS)


class Run:
    """One collection, searched with every breadth."""

    def __init__(self, name: str, rows: Signatures, queries: int) -> None:
        self.name, self.queries = name, some(rows, queries)
        self.exact = nearest(rows, self.queries, K)
        self.blind = blind_ratio(rows, self.queries, self.exact)
        self.index = SliceIndex(rows, WIDTH)
        self.scan, self.scan_one = scan_ms(rows, self.queries)
        self.rows = [self.measured(breadth) for breadth in range(WIDTH + 1)]

    def found(self, breadth: int, candidates: int, queries: Signatures, threads: int | None = None) -> Matches:
        """Search without the queries themselves; one more candidate makes up for each."""
        effort = SliceSearch(breadth, candidates + 1)
        return self.index.search(queries, K, effort=effort, exclude_self=True, threads=threads)

    def measured(self, breadth: int) -> dict[str, float]:
        """Return everything about one breadth; few searches tell all where nearly everything is found."""
        asked = np.arange(len(self.queries) if breadth <= FEWER else -(-len(self.queries) // 3))
        queries, exact = self.queries.take(asked), first(self.exact, len(asked))
        milliseconds, wide = cpu_ms(lambda: self.found(breadth, 1000, queries, 1), len(asked))
        narrow = self.found(breadth, K, queries)
        few = queries.take(np.arange(min(SEEN_BY, len(asked))))
        seen = self.found(breadth, len(self.index), few).counters["candidates"] if breadth <= FEWER else 0
        lists = wide.counters["lists"] // (len(asked) * self.index.slices)
        assert lists == sum(math.comb(WIDTH, i) for i in range(breadth + 1))
        return {
            "searches": len(asked),
            "seen_by": len(few),
            "lists": lists,
            "seen": seen / len(few) / len(self.index) if breadth <= FEWER else 1.0,
            "ms": milliseconds,
            "hdr": cumulative_distance_ratio(narrow, exact, K, BITS),
            "recall": recall_at(narrow, exact, K),
            "hdr_wide": cumulative_distance_ratio(wide, exact, K, BITS),
            "recall_wide": recall_at(wide, exact, K),
        }

    def column(self, name: str) -> list[float]:
        """Return one figure, by breadth."""
        return [row[name] for row in self.rows]

    @property
    def searches(self) -> str:
        """How many searches ran."""
        many, few = (int(self.rows[breadth]["searches"]) for breadth in (0, WIDTH))
        return f"{many} searches up to {FEWER} bits, {few} beyond"


def table_1(runs: list[Run]) -> str:
    """Lists for each slice, and the share of the rows that were seen."""
    rows = (
        [b, runs[0].rows[b]["lists"], *(percent(run.rows[b]["seen"]) for run in runs), f"{SEEN[b]:.2f} %"]
        for b in range(WIDTH + 1)
    )
    shown = table(["breadth", "lists per slice, ours = paper", *(run.name for run in runs), "paper (WSJ)"], rows)
    counted = int(runs[0].rows[0]["seen_by"])
    return f"Rows seen: means of {counted} searches up to {FEWER} bits; beyond, all are seen.\n\n{shown}"


def table_2(run: Run, paper: tuple[float, ...]) -> str:
    """HDR by breadth, with candidates M = k as in the paper's section 3.2, and with M = 1000."""
    start, theirs = run.rows[0]["hdr"], paper[0]

    def line(breadth: int) -> list[str]:
        row = run.rows[breadth]
        ways = (row["hdr"] - start) / (1 - start), (paper[breadth] - theirs) / (100 - theirs)
        measures = (percent(row[name]) for name in ("hdr", "recall", "hdr_wide", "recall_wide"))
        return [str(breadth), f"{paper[breadth]:.2f} %", *measures, f"{ways[0]:.2f}", f"{ways[1]:.2f}"]

    header = [
        "breadth",
        "paper's HDR",
        "HDR, M = 100",
        "recall@100",
        "HDR, M = 1000",
        "recall@100",
        "way",
        "paper's way",
    ]
    said = (
        f"{run.name}, {run.searches}. The {K} nearest are {run.exact.distances.mean():.0f} bits away on the mean; {K} "
        f"rows drawn blindly have an HDR of {percent(run.blind)}."
    )
    return f"{said}\n\n{table(header, (line(breadth) for breadth in range(WIDTH + 1)))}"


def table_3(runs: list[Run]) -> str:
    """Milliseconds for a query, M = 1000, and those of the exhaustive search."""
    rows = [
        [b, runs[0].rows[b]["lists"], f"{MILLISECONDS[b]:.2f}", *(f"{run.rows[b]['ms']:.2f}" for run in runs)]
        for b in range(WIDTH + 1)
    ]
    batch = ["exhaustive, a batch", "", f"{EXHAUSTIVE}", *(f"{run.scan:.2f}" for run in runs)]
    single = ["exhaustive, one query", "", "", *(f"{run.scan_one:.2f}" for run in runs)]
    header = ["breadth", "lists per slice", "paper (ms)", *(f"{run.name} (ms)" for run in runs)]
    return f"Means of {runs[0].searches}, M = 1000.\n\n{table(header, [*rows, batch, single])}"


def rules(run: Run, asked: int) -> str:
    """Where each stopping rule ends a search for the 16 nearest (TOPK 2.1)."""
    lines = []
    for stop, paper in (("all", "14 to 15"), ("certain", "11 to 13")):
        for candidates in (16, 1000) if stop == "certain" else (16,):
            effort = SliceSearch(None, candidates, stop=stop)
            single = (run.queries.take(np.array([i])) for i in range(asked))
            ends = [run.index.search(query, 16, effort=effort).counters["breadth"] for query in single]
            name = f"{stop}, M = {candidates}" if stop == "certain" else stop
            lines.append([name, f"{min(ends)} to {max(ends)}", paper if candidates == 16 else ""])
    said = f"{asked} searches among {run.name} signatures:"
    return f"{said}\n\n{table(['rule', 'breadth, ours', 'paper'], lines)}"


def main() -> None:
    """Measure and print; write if asked."""
    given = options(__doc__ or "", 2**16, 60).parse_args()
    random = Run(f"{given.count:,} random", random_signatures(given.count), given.queries)
    stops = rules(random, min(PROVED, given.queries))
    del random.index
    texts = []
    for name, rows in documents(given):
        texts.append(Run(name, rows, given.queries))
        del texts[-1].index
    runs = [random, *texts]
    for name, content in (
        ("topk-table-1", table_1(runs)),
        ("topk-table-2-random", table_2(random, RANDOM)),
        ("topk-table-2-documents", "\n\n".join(table_2(run, DOCUMENT) for run in texts)),
        ("topk-table-3", table_3(runs)),
        ("topk-rules", stops),
    ):
        publish("topk.md", name, content, given.write)

    def figure_2(axes: Any) -> None:
        for number, run in enumerate(runs):
            axes.plot(run.column("hdr_wide"), f"C{number}-o", ms=3, label=f"HDR, {run.name}")
            axes.plot(run.column("recall_wide"), f"C{number}:", label=f"recall@100, {run.name}")
        for paper, mark, name in ((RANDOM, "k--", "random"), (DOCUMENT, "k-.", "documents")):
            axes.plot([p / 100 for p in paper], mark, lw=1, label=f"HDR, paper, {name}")
        axes.set(xlabel="breadth (bits)", ylabel="HDR, recall", title="TOPK Table 2 and Figure 2, M = 1000")

    def figure_3(axes: Any) -> None:
        axes.plot(MILLISECONDS, "k--", label="paper, documents")
        axes.axhline(EXHAUSTIVE, color="k", ls=":", label="paper, exhaustive")
        for number, run in enumerate(runs):
            axes.plot(run.column("ms"), f"C{number}-o", ms=3, label=run.name)
            axes.axhline(run.scan, color=f"C{number}", ls=":", label=f"exhaustive, {run.name}")
        axes.set(xlabel="breadth (bits)", ylabel="ms per query", yscale="log", title="TOPK Table 3 and Figure 3")

    picture("topk-breadth-hdr", given.write, figure_2)
    picture("topk-breadth-time", given.write, figure_3)


if __name__ == "__main__":
    main()
