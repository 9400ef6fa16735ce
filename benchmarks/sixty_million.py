"""Sixty million 64-bit signatures in ProbeIndex and in BlockIndex with 4 tables: built, saved, opened again, queried.

usage: python -m benchmarks.sixty_million [--rows 60000000] [--folder DIR]

Every step is a process of its own, so that its peak memory is its own. Needs 5 GB on disk. Prints the result and keeps
it in benchmarks/sixty_million.json, which `python -m benchmarks` shows on its page.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.near_pairs import near_pairs
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.probes import ProbeIndex
from sosie.storage.size import show_size
from sosie.types import Signatures

RESULT = Path(__file__).with_name("sixty_million.json")
KINDS = {
    "ProbeIndex": lambda rows: ProbeIndex(rows),
    "BlockIndex, 4 tables": lambda rows: BlockIndex(rows, radius=3, blocks=4, header=1),
}
GOALS = {"open_s": 5.0, "peak_bytes": 8e9}
PAIRS = 1 << 16
RADIUS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000_000)
    parser.add_argument("--folder", help="where to put the indexes; default: a temporary folder")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, kind = options.step
        result = {"build": build, "query": query}[step](kind, options.rows, Path(options.folder))
        print(json.dumps({**result, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
        return
    results: dict[str, Any] = {"rows": options.rows, "indexes": []}
    for kind in KINDS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            built, asked = (_step(step, kind, options.rows, folder) for step in ("build", "query"))
        peaks = built.pop("peak_bytes"), asked.pop("peak_bytes")
        results["indexes"].append({"index": kind, **built, **asked, "peak_bytes": max(peaks)})
        print(json.dumps(results["indexes"][-1]), file=sys.stderr)
    RESULT.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print("\n".join(lines(results)))


def build(kind: str, rows: int, folder: Path) -> dict[str, Any]:
    """Build an index and save it."""
    KINDS[kind](Signatures(np.arange(5000, dtype=np.uint64)))  # so that kernels are compiled
    words = np.random.default_rng(60).integers(0, 2**64, rows, dtype=np.uint64)
    words[:PAIRS] = near_pairs(PAIRS)[0].words[:, 0]
    start = time.perf_counter()
    index = KINDS[kind](Signatures(words))
    built = time.perf_counter()
    index.save(folder / "index")
    saved = time.perf_counter()
    size = sum(file.stat().st_size for file in (folder / "index").iterdir())
    return {"build_s": built - start, "save_s": saved - built, "bytes": size}


def query(kind: str, rows: int, folder: Path) -> dict[str, Any]:
    """Open an index, with all checks, and ask it for near rows, on one thread."""
    queries = near_pairs(PAIRS)[1]
    exact = int(np.sum(np.bitwise_count(near_pairs(PAIRS)[0].words ^ queries.words) <= RADIUS))
    start, used = time.perf_counter(), time.process_time()
    index = load_index(folder / "index")
    opened, used = time.perf_counter(), time.process_time() - used
    assert len(index) == rows
    index.within(queries, RADIUS, threads=1)
    asked = time.perf_counter()
    found = index.within(queries, RADIUS, threads=1)
    again = time.perf_counter()
    return {
        "open_s": opened - start,
        "open_cpu_s": used,
        "first_query_us": (asked - opened) / PAIRS * 1e6,
        "query_us": (again - asked) / PAIRS * 1e6,
        "probes": getattr(index, "probes", 4),
        "found": len(found.rows) / exact,
    }


def lines(results: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    text = [
        f"{results['rows']:,} signatures of 64 bits, asked for what is within {RADIUS} bits, on one thread. Opening"
        f" verifies every checksum, from a warm cache; the goal is {GOALS['open_s']:g} s and"
        f" {show_size(int(GOALS['peak_bytes']))} in all. Found: the share of {PAIRS:,} planted near pairs.",
        "",
        "| index | build | save | on disk | open (of the processor) | query, cold and warm | found | peak memory | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["indexes"]:
        reached = all(row[name] <= goal for name, goal in GOALS.items())
        text.append(
            f"| {row['index']} | {row['build_s']:.1f} s | {row['save_s']:.1f} s | {show_size(row['bytes'])} |"
            f" {row['open_s']:.2f} s ({row['open_cpu_s']:.2f} s) |"
            f" {row['first_query_us']:.1f}, {row['query_us']:.1f} us | {row['found']:.3f} |"
            f" {show_size(row['peak_bytes'])} | {'reached' if reached else '**missed**'} |"
        )
    return text


def _step(step: str, kind: str, rows: int, folder: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.sixty_million", "--step", step, kind]
    done = subprocess.run([*command, "--rows", str(rows), "--folder", folder], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
