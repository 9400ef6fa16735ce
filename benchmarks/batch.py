"""A batch of new signatures matched with a store on disk: queries per second beside those of PSM 8.5.

usage: python -m benchmarks.batch [--log-rows 26] [--log-batch 20] [--folder DIR]

Makes a store of 2^log-rows random 64-bit signatures, among them edited copies of the documents that the batch asks for
(one or more of each, two on average), and matches the batch with it on one thread: by probes, as many as reach a recall
of 0.95 on other queries, and by 4 block tables around the batch; all matches, and the first of each query. A rate
counts all from the batch, with its volatility in memory, to the matches in their order: flips, reading, comparing and
sorting. The store is opened once before, which reads and checks all of it, so its pages are in the system's cache where
there is room. Prints the result and keeps it in benchmarks/batch.json, which `python -m benchmarks` shows on its page.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.near_pairs import edited, packed
from sosie import Signatures, SignatureStore

RESULT = Path(__file__).with_name("batch.json")
RADIUS, BLOCKS, RECALL, TOLERANCE = 3, 4, 0.95, 0.02
COPIES = 2  # of each document that is asked for, on average
PIECE = 1 << 24  # rows that are appended at a time
SAMPLE = 1 << 14
THEIRS = {"all": 373_000, "first": 727_000}  # queries per second of PSM, m = 10M against 60M (PSM 8.5)
TABLES = 55_000  # of block tables, there


class Collection(NamedTuple):
    """A store, a batch that has copies in it, and more such queries."""

    path: Path
    batch: Signatures
    sample: Signatures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-rows", type=int, default=26)
    parser.add_argument("--log-batch", type=int, default=20)
    parser.add_argument("--folder", help="Where the store is made, for as long as this runs.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure(collection(Path(folder), options.log_rows, options.log_batch))
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def collection(folder: Path, log_rows: int, log_batch: int, seed: int = 0) -> Collection:
    """Make a store of 2^log_rows signatures, with copies of 2^log_batch documents and of a sample."""
    rng = np.random.default_rng(seed)
    asked = 1 << log_batch
    sums = rng.standard_normal((asked + min(SAMPLE, asked), 64), np.float32)
    words = rng.integers(0, 2**64, 1 << log_rows, dtype=np.uint64)
    copies = np.repeat(np.arange(len(sums)), rng.geometric(1 / COPIES, len(sums)))[: len(words)]
    places = rng.choice(len(words), len(copies), replace=False, shuffle=False)
    for start in range(0, len(copies), 1 << 16):
        part = slice(start, start + (1 << 16))
        words[places[part]] = packed(edited(sums[copies[part]], rng))[:, 0]
    path = folder / f"store-{log_rows}"
    store = SignatureStore(path)
    for start in range(0, len(words), PIECE):
        store.append(Signatures(words[start : start + PIECE]))
    queries = Signatures(packed(sums), volatility=sums)
    return Collection(path, queries.take(np.arange(asked)), queries.take(np.arange(asked, len(sums))))


def measure(made: Collection) -> dict[str, Any]:
    """Return rates of both methods, all and first, and the recall that was stated and reached."""
    opened, store = timed(lambda: SignatureStore(made.path))
    rows: dict[str, Any] = {}
    exact = {}
    for first in (False, True):
        name = "first" if first else "all"
        how: dict[str, Any] = {"first": first, "threads": 1}
        tables, exact[name] = best(lambda: store.match(made.batch, RADIUS, blocks=BLOCKS, **how), 1)  # noqa: B023
        effort = store.calibrate(made.sample, RADIUS, RECALL, first=first, threads=1)
        probes, found = best(lambda: store.match(made.batch, RADIUS, probes=effort, **how), 3)  # noqa: B023
        rows[name] = {
            "probes": effort.probes,
            "stated_recall": found.recall,
            "recall": len(found.rows) / max(1, len(exact[name].rows)),
            "matches": len(exact[name].rows),
            "by_probes": rates(probes, made.batch, found.counters),
            "by_tables": rates(tables, made.batch, exact[name].counters),
        }
    appended, _ = timed(lambda: store.append(Signatures(made.batch.words)))
    return {
        "rows": len(store) - len(made.batch),
        "batch": len(made.batch),
        "open_seconds": opened.seconds,
        "append_seconds": appended.seconds,
        **rows,
    }


class Time(NamedTuple):
    """Time as it passes, and that of the processor."""

    seconds: float
    cpu: float


def timed(run: Callable[[], Any]) -> tuple[Time, Any]:
    """Run something once."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return Time(time.perf_counter() - wall, time.process_time() - cpu), result


def best(run: Callable[[], Any], times: int) -> tuple[Time, Any]:
    """Run something so often; the best time counts."""
    tries = [timed(run) for _ in range(times)]
    return min((took for took, _ in tries), key=lambda took: took.seconds), tries[-1][1]


def rates(took: Time, batch: Signatures, counters: Any) -> dict[str, Any]:
    """Return queries per second, as time passes and of the processor, and what was counted."""
    return {"rate": len(batch) / took.seconds, "cpu_rate": len(batch) / took.cpu, "counters": dict(counters)}


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    text = [
        f"A batch of {result['batch']:,} signatures of 64 bits with volatility against a `SignatureStore` of"
        f" {result['rows']:,} on disk, within {RADIUS} bits, one thread, pages of the store in the system's cache."
        f" Probes are chosen for a recall of {RECALL} by other queries, and the recall is measured against block"
        f" tables. Opening the store, which checks every byte, took {result['open_seconds']:.1f} s; appending the batch"
        f" {result['append_seconds']:.1f} s. Goals: PSM's rates (m = 10M against 60M, PSM 8.5), the recall within"
        f" {TOLERANCE}.",
        "",
        "| | probes | recall stated | reached | | queries/s | of the processor | PSM | | 4 tables | PSM's |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, theirs in THEIRS.items():
        row = result[name]
        rate = row["by_probes"]["rate"]
        text.append(
            f"| {name} | {row['probes']} | {row['stated_recall']:.3f} | {row['recall']:.3f} |"
            f" {_verdict(row['recall'] >= RECALL - TOLERANCE)} | {rate:,.0f} | {row['by_probes']['cpu_rate']:,.0f} |"
            f" {theirs:,} | {_verdict(rate >= theirs)} | {row['by_tables']['rate']:,.0f} | {TABLES:,} |"
        )
    return text


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"


if __name__ == "__main__":
    main()
