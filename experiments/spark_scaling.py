"""NFL's scalability on Spark: time of a de-duplication by documents and by cores, and the model beyond what is here.

usage: python -m experiments.spark_scaling [--documents 50000 100000 200000 400000] [--cores 1 2] [--method minhash]
[--write]

Each run is a process of its own: a session on so many cores, a small run so that all has been started and compiled
once, and then the run that is measured. The session's start is apart. What is shuffled is as Spark's own log of events
says.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.figure import panels, save
from experiments.slice_page import publish, table
from sosie.evaluation.planted import PlantedCorpus
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods.spark import estimate
from sosie.planner.wish import Wish

PAGE = "spark.md"
FEW = 2_000  # documents of the run before
BEYOND = (2, 8, 32, 128, 512, 2048)
SIZES = (10**6, 10**7, 10**8, 10**9)


def run(cores: int, documents: int, method: str, folder: Path) -> dict[str, float]:
    """Run a de-duplication in this process: its seconds, those of the start, and what it shuffled."""
    from pyspark.sql import SparkSession

    from sosie.spark import dedup

    os.environ["PYSPARK_PYTHON"] = sys.executable
    start = time.perf_counter()
    conf = {
        "spark.driver.memory": "4g",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.local.dir": f"{folder}/local",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    (folder / "events").mkdir()
    spark = SparkSession.builder.master(f"local[{cores}]").config(map=conf).getOrCreate()
    written, seconds = {}, {}
    for count in (min(FEW, documents), documents):
        written[count] = _write(count, folder)
    for count in written:
        began = time.perf_counter()
        before = _shuffled(folder)
        with dedup(spark.read.parquet(str(written[count])), method=method) as found:
            kept = found.kept.count()
            pairs = found.pairs.count()
        seconds[count] = time.perf_counter() - began
    spark.stop()
    shuffled = _shuffled(folder) - before
    return {
        "start": time.perf_counter() - start - sum(seconds.values()),
        "seconds": seconds[documents],
        "shuffled": shuffled / documents,
        "kept": kept,
        "pairs": pairs,
    }


def _write(documents: int, folder: Path) -> Path:
    """Write documents of about 500 bytes as Parquet."""
    path = folder / f"{documents}.parquet"
    tables = PlantedCorpus(documents).tables()
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as writer:
        for table in (first, *tables):
            writer.write_table(pa.table(table), row_group_size=1 << 14)
    return path


def _shuffled(folder: Path) -> int:
    """Return the bytes that tasks have written for others to read, by the log of events."""
    total = 0
    for log in (folder / "events").rglob("*"):
        for line in log.read_text("utf-8", "replace").splitlines() if log.is_file() else []:
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def measured(cores: int, documents: int, method: str) -> dict[str, float]:
    """Run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [str(cores), str(documents), method, folder]
        command = [sys.executable, "-m", "experiments.spark_scaling", "--run", *asked]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found


def expected(cores: int, documents: int, method: str) -> float:
    """Return the seconds of the model, without the start of the session."""
    wish = Wish(task="dedup", rows=documents, threshold=0.8, recall=1.0 if method == "exact" else 0.999)
    machine = Machine()
    candidate = estimate(wish, Facts(), machine, {"method": method, "cores": cores})
    return candidate.estimate.seconds - machine.ns("spark start") / 1e9


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[50_000, 100_000, 200_000, 400_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--method", default="minhash", choices=["exact", "minhash", "simhash"])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        cores, documents, method, folder = given.run
        print(json.dumps(run(int(cores), int(documents), method, Path(folder))))
        return
    found = {(cores, count): measured(cores, count, given.method) for count in given.documents for cores in given.cores}
    publish(PAGE, f"scaling-{given.method}", f"{_measured(found, given)}\n\n{_beyond(given.method)}", given.write)
    if given.write:
        _draw(found, given)


def _measured(found: dict[tuple[int, int], dict[str, float]], given: Any) -> str:
    header = ["documents"]
    for cores in given.cores:
        header += [_cores(cores) + ", s", "model, s"]
    rows = []
    for count in given.documents:
        row = [f"{count:,}"]
        for cores in given.cores:
            row += [f"{found[cores, count]['seconds']:.1f}", f"{expected(cores, count, given.method):.1f}"]
        first, last = (found[cores, count] for cores in (given.cores[0], given.cores[-1]))
        rows.append([*row, f"{first['seconds'] / last['seconds']:.2f}", f"{last['shuffled']:.0f}"])
    said = f"By {given.method}, generated documents of about 500 bytes; seconds without the start of the session."
    return f"{said}\n\n{table([*header, 'times faster', 'bytes shuffled per document'], rows)}"


def _beyond(method: str) -> str:
    """Return what the model says of more cores, in hours."""
    rows = [[f"{count:,}", *(f"{expected(cores, count, method) / 3600:.2g}" for cores in BEYOND)] for count in SIZES]
    return f"What the model says beyond, in hours:\n\n{table(['documents', *map(_cores, BEYOND)], rows)}"


def _cores(count: int) -> str:
    return f"{count:,} core{'s' * (count > 1)}"


def _draw(found: dict[tuple[int, int], dict[str, float]], given: Any) -> None:
    figure, axes = panels(2)
    for cores in given.cores:
        seconds = [found[cores, count]["seconds"] for count in given.documents]
        axes[0].plot(given.documents, seconds, "o-", label=_cores(cores))
        model = [expected(cores, count, given.method) for count in given.documents]
        axes[0].plot(given.documents, model, "--", label=f"{_cores(cores)}, model")
    axes[0].set(xlabel="documents", ylabel="seconds")
    axes[0].legend(frameon=False)
    for count in SIZES:
        times = [expected(BEYOND[0], count, given.method) / expected(cores, count, given.method) for cores in BEYOND]
        axes[1].plot(BEYOND, [BEYOND[0] * each for each in times], "o--", label=f"{count:,} documents, model")
    axes[1].set(xlabel="cores", ylabel="times faster than one core", xscale="log", yscale="log")
    axes[1].legend(frameon=False)
    save(figure, f"spark-scaling-{given.method}")


if __name__ == "__main__":
    main()
