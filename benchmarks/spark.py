"""De-duplication on `local[2]` beside one machine's: the same files, how much longer, what is shuffled, and memory.

`python -m benchmarks.spark [--documents 1000000] [--corpora "planted copies" ...] [--methods exact minhash]` runs the
command twice for each corpus: by itself on two threads, and with `--engine spark` in a JVM of 1 GB. Times are those of
the stages, so that the session's start is apart. What is shuffled is told by Spark's own log of events. Bars: at most
600 bytes shuffled for each document at the defaults, at most 4 times as long, the same documents, pairs and clusters.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.million import corpora, write_corpus

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.eventLog.compress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}
BYTES, TIMES = 600, 4  # the bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--corpora", nargs="+", default=list(corpora()), choices=corpora())
    parser.add_argument("--methods", nargs="+", default=["auto", "minhash"])
    options = parser.parse_args()
    heads = f"{'one machine':>12s}{'Spark':>9s}{'ratio':>7s}{'shuffled':>10s}{'JVM':>9s}{'Python':>9s}"
    print(f"{'corpus':22s}{'method':9s}{heads}  same")
    for name in options.corpora:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "documents.parquet"
            write_corpus(path, name, options.documents)
            for method in options.methods:
                print(_line(name, method, _compared(path, Path(folder), method)), flush=True)


def _compared(path: Path, folder: Path, method: str) -> dict[str, Any]:
    """De-duplicate a corpus both ways."""
    outputs = [folder / f"{method}-{engine}" for engine in ("process", "spark")]
    one = _run(path, outputs[0], "--method", method)
    events = folder / f"{method}-events"
    events.mkdir()
    settings = {**SETTINGS, "spark.eventLog.dir": events.as_uri(), "spark.local.dir": str(folder / "local")}
    given = [part for name, value in settings.items() for part in ("--spark-setting", f"{name}={value}")]
    with _watched() as peaks:
        spark = _run(path, outputs[1], "--method", method, "--engine", "spark", "--master", "local[2]", *given)
    return {
        "one": one["seconds"],
        "spark": spark["seconds"],
        "stages": {stage["stage"]: stage["seconds"] for stage in spark["stages"]},
        "bytes": shuffled(events) / one["counts"]["documents"],
        "same": one["counts"] == spark["counts"] and _same(*outputs),
        **peaks,
    }


def _run(path: Path, output: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "sosie", "dedup", str(path), "-o", str(output), "--threads", "2", "--json"]
    command += options
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def shuffled(events: Path) -> int:
    """Return how many bytes were written to shuffles, by the log of events."""
    total = 0
    for file in (path for path in events.rglob("*") if path.is_file()):
        for line in file.read_text("utf-8").splitlines():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def _same(one: Path, other: Path) -> bool:
    """Return whether two outputs hold the same documents, pairs and clusters."""
    names = [path.relative_to(one) for path in one.rglob("*") if path.suffix == ".parquet"]
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


@contextmanager
def _watched() -> Iterator[dict[str, int]]:
    """Yield the most memory that any JVM and any Python worker of Spark takes meanwhile."""
    peaks, done = {"jvm": 0, "worker": 0}, threading.Event()

    def look() -> None:
        while not done.wait(0.2):
            for entry in Path("/proc").iterdir():
                with suppress(OSError, ValueError):
                    said = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
                    kind = "jvm" if b"SparkSubmit" in said else "worker" if b"pyspark.daemon" in said else None
                    if kind is not None:
                        pages = int((entry / "statm").read_text().split()[1])
                        peaks[kind] = max(peaks[kind], pages * 4096)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()


def _line(name: str, method: str, found: dict[str, Any]) -> str:
    ratio, missed = found["spark"] / found["one"], []
    if ratio > TIMES:
        missed.append("time")
    if found["bytes"] > BYTES:
        missed.append("bytes")
    said = f"   above the bar: {', '.join(missed)}" if missed else ""
    memory = f"{found['jvm'] / 1e6:6.0f} MB{found['worker'] / 1e6:6.0f} MB"
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in found["stages"].items())
    return (
        f"{name:22s}{method:9s}{found['one']:10.1f} s{found['spark']:7.1f} s{ratio:7.1f}{found['bytes']:8.0f} B{memory}"
        f"  {'yes' if found['same'] else 'NO'}{said}   ({stages})"
    )


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s in all")
