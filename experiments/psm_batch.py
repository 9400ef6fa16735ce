"""PSM Figure 9: how many queries of a batch are matched in a second, by its size and by that of the store on disk.

usage: python -m experiments.psm_batch [--log-rows 18 20 22] [--log-batches 14 16 18 20] [--write]

By probes, as many as reach a recall of 0.95, and by 4 block tables around the batch; all matches, and the first of
each query.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.batch import BLOCKS, RADIUS, RECALL, Collection, best, collection

from experiments.psm_data import DOCS, picture, table
from sosie import Signatures, SignatureStore

PAGE = DOCS / "experiments" / "psm-batch.md"
METHODS = ("probes, all", "probes, first", "4 tables, all", "4 tables, first")
PAPER = {  # queries per second at the least and at the largest batch (10 million), against 60 million (PSM 8.5)
    "probes, all": (70_000, 373_000),
    "probes, first": (99_000, 727_000),
    "4 tables, all": (None, 55_000),
    "4 tables, first": (None, 55_000),
}


class Opened(NamedTuple):
    """A store that is open, its queries, and how many probes reach the recall: for all, and for the first."""

    store: SignatureStore
    batch: Signatures
    effort: dict[bool, Any]

    @staticmethod
    def of(made: Collection) -> Opened:
        """Open a store and choose the probes by other queries than those of the batch."""
        store = SignatureStore(made.path)
        efforts = {
            first: store.calibrate(made.sample, RADIUS, RECALL, first=first, threads=1) for first in (False, True)
        }
        return Opened(store, made.batch, efforts)

    def rates(self, size: int) -> dict[str, float]:
        """Return the queries per second of the processor, of the first so many queries, and the recall of probes."""
        some, rates, found = self.batch.take(np.arange(min(size, len(self.batch)))), {}, {}
        some = Signatures(some.words, volatility=some.volatility)
        for name in METHODS:
            first = name.endswith("first")
            how: dict[str, Any] = {"first": first, "threads": 1}
            how |= {"probes": self.effort[first]} if name.startswith("probes") else {"blocks": BLOCKS}
            took, matches = best(lambda: self.store.match(some, RADIUS, **how), 2)  # noqa: B023
            rates[name], found[name] = len(some) / took.cpu, len(matches.rows)
        for which in ("all", "first"):
            rates[f"recall, {which}"] = found[f"probes, {which}"] / max(1, found[f"4 tables, {which}"])
        return rates


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--log-rows", type=int, nargs="+", default=[18, 20, 22], help="stores of 2^this many signatures"
    )
    parser.add_argument("--log-batches", type=int, nargs="+", default=[14, 16, 18, 20], help="batches, likewise")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    given = parser.parse_args()
    rows, batches = sorted(given.log_rows), sorted(given.log_batches)
    by_rows, by_batch, probes = {}, {}, {}
    for log_rows in rows:
        with tempfile.TemporaryDirectory() as folder:
            largest = batches[-1] if log_rows == rows[-1] else batches[0]
            opened = Opened.of(collection(Path(folder), log_rows, min(largest, log_rows - 2)))
            probes[log_rows] = opened.effort
            by_rows[log_rows] = opened.rates(1 << batches[0])
            if log_rows == rows[-1]:
                by_batch = {log: opened.rates(1 << log) for log in batches if log <= log_rows - 2}
    _publish("by-batch", _by_batch(rows[-1], by_batch, probes[rows[-1]]), given.write)
    _publish("by-rows", _by_rows(batches[0], by_rows, probes), given.write)

    def draw(panels: Any) -> None:
        for panel, lines, label in ((panels[0], by_batch, "batch"), (panels[1], by_rows, "rows of the store")):
            for name in METHODS:
                style = "-" if name.endswith("all") else "--"
                panel.plot(list(lines), [line[name] for line in lines.values()], f"o{style}", label=name)
            panel.set(xlabel=f"log2 of the {label}", ylabel="queries per second", yscale="log")

    picture("batch", 2, draw, given.write)


def _by_batch(log_rows: int, measured: dict[int, dict[str, float]], effort: dict[bool, Any]) -> str:
    lines = [[f"2^{log}", *_cells(line)] for log, line in measured.items()]
    lines.append(["paper, 10 million", *(f"{most:,}" for _, most in PAPER.values()), "0.95", "0.95"])
    said = f"{effort[False].probes} probes for all matches, {effort[True].probes} for the first"
    head = f"A store of 2^{log_rows} signatures, {said}; queries per second of the processor, one thread:"
    return f"{head}\n\n{table(['batch', *METHODS, 'recall, all', 'recall, first'], lines)}"


def _by_rows(log_batch: int, measured: dict[int, dict[str, float]], probes: dict[int, dict[bool, Any]]) -> str:
    lines = []
    for log, line in measured.items():
        efforts = probes[log]
        lines.append([f"2^{log}", efforts[False].probes, efforts[True].probes, *_cells(line)])
    head = f"A batch of 2^{log_batch} signatures; queries per second of the processor, one thread:"
    names = ["store", "flips for all", "for the first", *METHODS, "recall, all", "recall, first"]
    return f"{head}\n\n{table(names, lines)}"


def _cells(line: dict[str, float]) -> list[str]:
    return [*(f"{line[name]:,.0f}" for name in METHODS), f"{line['recall, all']:.3f}", f"{line['recall, first']:.3f}"]


def _publish(section: str, text: str, write: bool) -> None:
    """Print a section, and put it in its place on the page if asked to."""
    print(text, flush=True)
    if write:
        begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
        before, rest = PAGE.read_text("utf-8").split(begin)
        PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", "utf-8")


if __name__ == "__main__":
    main()
