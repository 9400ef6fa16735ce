"""All pairs within 3 bits of very many 64-bit signatures on disk, by `sosie join --memory`: time, memory, pairs, spill.

usage: python -m benchmarks.far_pairs [--rows 20000000] [--memory 4GB] [--threads 2] [--folder DIR] [--pairs 100]

Signatures are random; one in a hundred (--pairs says of how many) is a copy of another with 0 to 3 flipped bits, far
away in the file. They are written and read in bounded memory. Needs 40 bytes on disk for each. `--keys 4` cuts each
signature into so many keys instead, which agree in at least one table if 3 bits differ, and joins these. Prints the
result and keeps it in benchmarks/far_pairs.json, by what was joined.
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
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    name = f"{options.rows:,} rows" + (f", {options.keys} keys" if options.keys else "")
    RESULT.write_text(json.dumps(known | {name: result}, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def write_signatures(folder: Path, rows: int, share: int, tables: int) -> None:
    """Write random signatures with planted copies as `sosie sign` does, through files that are mapped."""
    rng = np.random.default_rng(8)
    words = np.memmap(folder / "words", np.uint64, "w+", shape=(rows, 1))
    ids = np.memmap(folder / "ids", np.int64, "w+", shape=(rows,))
    for start in range(0, rows, STEP):
        count = min(STEP, rows - start)
        words[start : start + count, 0] = rng.integers(0, 2**64, count, np.uint64)
        ids[start : start + count] = np.arange(start, start + count)
    for start in range(rows - rows // share, rows, STEP):
        copies = np.arange(start, min(start + STEP, rows))
        flips = np.zeros(len(copies), np.uint64)
        for _ in range(RADIUS):  # a bit that is flipped twice, or not at all, makes fewer
            flips ^= rng.integers(0, 2, len(copies), np.uint64) << rng.integers(0, 64, len(copies), np.uint64)
        words[copies, 0] = words[planted(copies, rows, share), 0] ^ flips
    if tables:
        width = 64 // tables
        keys = np.memmap(folder / "keys", np.uint64, "w+", shape=(rows, tables))
        for start in range(0, rows, STEP):
            for table in range(tables):
                part = words[start : start + STEP, 0] >> np.uint64(width * table)
                keys[start : start + STEP, table] = part & np.uint64(2**width - 1)
        save_signatures(folder / "signed", Keys(keys, pa.array(ids)), Minhash())
    else:
        save_signatures(folder / "signed", Signatures(words, ids=pa.array(ids)), Simhash(bits=64))
    for name in ("words", "ids", "keys"):
        (folder / name).unlink(missing_ok=True)


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


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    what = f"{result['keys']} keys each, equal in one" if result["keys"] else f"64 bits each, within {RADIUS} bits"
    stages = ", ".join(f"{stage['stage']} {stage['seconds']:.0f}" for stage in result["stages"])
    highest = max(stage["peak_memory_bytes"] for stage in result["stages"])
    return [
        f"`sosie join --memory {result['memory']}` of {result['rows']:,} signatures, {what}:",
        "",
        f"- {result['found']:,} of {result['planted']:,} planted pairs found, {result['pairs']:,} pairs in all",
        f"- {result['seconds']:.0f} s ({stages}); highest memory of the process tree"
        f" {show_size(result['peak_tree_bytes'])} (seen every 20 ms; by the system's own count {show_size(highest)})",
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
