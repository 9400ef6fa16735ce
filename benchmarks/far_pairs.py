"""All pairs within 3 bits of very many 64-bit signatures on disk, by `sosie join --memory`: time, memory, pairs, spill.

usage: python -m benchmarks.far_pairs [--rows 20000000] [--memory 4GB] [--threads 2] [--folder DIR] [--pairs 100]

Signatures are random; one in a hundred (--pairs says of how many) is a copy of another with 0 to 3 flipped bits, far
away in the file. They are written and read in bounded memory. Needs 40 bytes on disk for each. With `--keys 8` each row
has so many random keys instead, and a copy has one of the other's, in one table after the other: 24 bytes more on disk
for each key. Then the pairs are read again, and the rows that they connect are counted. Prints the result and keeps it
in benchmarks/far_pairs.json, by what was joined.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.memory import _tree_bytes
from sosie.clusters.components import Components
from sosie.signatures.files import save_signatures
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.size import show_size
from sosie.types import Keys, Signatures

RESULT = Path(__file__).with_name("far_pairs.json")
RADIUS = 3
STEP = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=100, help="one in so many rows is a copy of another")
    parser.add_argument("--keys", type=int, default=0, help="join so many keys of each signature instead")
    parser.add_argument("--folder", help="where to put signatures and pairs; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write_signatures(Path(folder), options.rows, options.pairs, options.keys)
        result = {"rows": options.rows, "keys": options.keys, "memory": options.memory, "threads": options.threads}
        asked = ["--memory", options.memory, "--threads", str(options.threads), "--max-pairs", str(10**9)]
        asked += [] if options.keys else ["--radius", str(RADIUS)]
        result |= run(Path(folder), asked)
        result |= count_planted(Path(folder) / "out" / "pairs.parquet", options.rows, options.pairs)
        result |= connect(Path(folder) / "out" / "pairs.parquet", options.rows)
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    name = f"{options.rows:,} rows" + (f", {options.keys} keys" if options.keys else "")
    RESULT.write_text(json.dumps(known | {name: result}, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def write_signatures(folder: Path, rows: int, share: int, tables: int) -> None:
    """Write random signatures, or keys, with planted copies as `sosie sign` does, through files that are mapped."""
    rng = np.random.default_rng(8)
    values = np.memmap(folder / "values", np.uint64, "w+", shape=(rows, tables or 1))
    ids = np.memmap(folder / "ids", np.int64, "w+", shape=(rows,))
    for start in range(0, rows, STEP):
        count = min(STEP, rows - start)
        values[start : start + count] = rng.integers(0, 2**64, (count, tables or 1), np.uint64)
        ids[start : start + count] = np.arange(start, start + count)
    for start in range(rows - rows // share, rows, STEP):
        copies = np.arange(start, min(start + STEP, rows))
        table = copies % (tables or 1)
        flips = np.zeros(len(copies), np.uint64)
        for _ in range(0 if tables else RADIUS):  # a bit that is flipped twice, or not at all, makes fewer
            flips ^= rng.integers(0, 2, len(copies), np.uint64) << rng.integers(0, 64, len(copies), np.uint64)
        values[copies, table] = values[planted(copies, rows, share), table] ^ flips
    if tables:
        save_signatures(folder / "signed", Keys(values, pa.array(ids)), Minhash())
    else:
        save_signatures(folder / "signed", Signatures(values, ids=pa.array(ids)), Simhash(bits=64))
    for name in ("values", "ids"):
        (folder / name).unlink()


def planted(copies: Any, rows: int, share: int) -> Any:
    """Return of which row each of these is a copy: spread over all that are none."""
    originals = rows - rows // share
    return (copies - originals) * (originals // max(rows // share, 1)) % originals


def run(folder: Path, asked: list[str]) -> dict[str, Any]:
    """Join the signatures in a process of its own; look at its memory and at its temporary files."""
    command = [sys.executable, "-m", "sosie", "join", str(folder / "signed"), "-o", str(folder / "out"), *asked]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE)
    peak, spilled = 0, 0
    while process.poll() is None:
        peak, spilled = max(peak, _tree_bytes(process.pid)), max(spilled, _spilled(folder))
        time.sleep(0.02)
    seconds = time.perf_counter() - start
    assert process.returncode == 0 and process.stdout is not None
    report = json.loads(process.stdout.read())
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    assert not left, left
    return {
        "seconds": round(seconds, 1),
        "peak_tree_bytes": peak,
        "spilled_bytes": spilled,
        "pairs": report["pairs"],
        "counters": report["counters"],
        "stages": report["stages"],
    }


def count_planted(path: Path, rows: int, share: int) -> dict[str, int]:
    """Return how many pairs were planted, and how many of those that were found are among them."""
    found = 0
    for batch in pq.ParquetFile(path).iter_batches(STEP, columns=["a", "b"]):
        a, b = (column.to_numpy() for column in batch.columns)
        copies = b >= rows - rows // share
        found += int(np.sum(a[copies] == planted(b[copies], rows, share)))
    return {"planted": rows // share, "found": found}


def connect(path: Path, rows: int) -> dict[str, Any]:
    """Return how many components the pairs make of the rows, and what that took; 4 bytes are held for each row."""
    start = time.perf_counter()
    components = Components(rows)
    for batch in pq.ParquetFile(path).iter_batches(STEP, columns=["a", "b"]):
        components.add(*(column.to_numpy() for column in batch.columns))
    sizes = np.bincount(np.bincount(components.first(), minlength=rows))
    return {
        "components": components.count,
        "connected": int(np.arange(len(sizes))[2:] @ sizes[2:]),
        "connect_s": round(time.perf_counter() - start, 1),
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    what = f"{result['keys']} keys each, one of them equal" if result["keys"] else f"64 bits each, within {RADIUS} bits"
    stages = ", ".join(f"{stage['stage']} {stage['seconds']:.0f}" for stage in result["stages"])
    highest = max(stage["peak_memory_bytes"] for stage in result["stages"])
    return [
        f"`sosie join --memory {result['memory']}` of {result['rows']:,} signatures, {what}:",
        "",
        f"- {result['found']:,} of {result['planted']:,} planted pairs found, {result['pairs']:,} pairs in all",
        f"- {result['seconds']:.0f} s ({stages}); highest memory of the process tree"
        f" {show_size(result['peak_tree_bytes'])} (seen every 20 ms; by the system's own count {show_size(highest)})",
        f"- {result['connected']:,} rows are connected with others, {result['components']:,} components in all"
        f" ({result['connect_s']:.0f} s)",
        f"- temporary files: {show_size(result['spilled_bytes'])} at most; {result['counters']}",
    ]


def _spilled(folder: Path) -> int:
    total = 0
    for file in folder.glob(".out.sosie-*/scratch/*"):
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total


if __name__ == "__main__":
    main()
