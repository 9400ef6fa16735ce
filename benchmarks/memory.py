"""Ten gigabytes of generated text within `--memory 4GB`: time, peak memory of the process tree, recall and precision.

usage: python -m benchmarks.memory [--gigabytes 10] [--memory 4GB] [--folder DIR] [--words 300 700]

Needs four times the text's size on disk. Prints the result and keeps it in benchmarks/memory.json, which
`python -m benchmarks` shows on its page.
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
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.truth import agreement
from sosie.storage.size import show_size
from sosie.types import Pairs

SHARD = 1 << 30
BYTES_PER_WORD = 5.5
RESULT = Path(__file__).with_name("memory.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", help="where to put the corpus and the output; default: a temporary folder")
    parser.add_argument("--words", type=int, nargs=2, default=(300, 700), help="least and most words of a document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure(Path(folder), options.gigabytes, options.memory, tuple(options.words))
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def measure(folder: Path, gigabytes: float, memory: str, words: tuple[int, int]) -> dict[str, Any]:
    corpus = PlantedCorpus(int(gigabytes * 1e9 / (sum(words) / 2 * BYTES_PER_WORD)), words=words)
    size = _write(corpus, folder / "corpus")
    command = [str(Path(sys.executable).parent / "sosie"), "dedup", str(folder / "corpus"), "-o", str(folder / "out")]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--memory", memory, "--threads", "2", "--json"], stdout=subprocess.PIPE)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _tree_bytes(process.pid))
        time.sleep(0.02)
    seconds = time.perf_counter() - start
    assert process.returncode == 0 and process.stdout is not None
    report = json.loads(process.stdout.read())
    counts = report["counts"]
    assert counts["documents"] == counts["kept"] + counts["dropped"] + counts["rejected"] == corpus.documents
    found = pq.read_table(folder / "out" / "pairs.parquet")
    sides = [np.char.lstrip(found[side].to_numpy().astype(str), "d").astype(np.int64) for side in ("a", "b")]
    score = agreement(Pairs(*sides), corpus.pairs(report["parameters"]["threshold"]))
    return {
        "text_bytes": report["text_bytes"],
        "file_bytes": size,
        "memory": memory,
        "counts": counts,
        "method": report["parameters"]["method"]["method"],
        "seconds": round(seconds, 1),
        "peak_tree_bytes": peak,
        "stages": report["stages"],
        "recall": score.recall,
        "precision": score.precision,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    counts = result["counts"]
    stages = ", ".join(f"{stage['stage']} {stage['seconds']:.0f}" for stage in result["stages"])
    highest = max(stage["peak_memory_bytes"] for stage in result["stages"])
    return [
        f"`sosie dedup --memory {result['memory']}` of {show_size(result['text_bytes'])} of generated text in"
        f" {counts['documents']:,} documents, two threads ({result['method']}):",
        "",
        f"- {counts['kept']:,} kept + {counts['dropped']:,} dropped + {counts['rejected']:,} rejected; recall"
        f" {result['recall']:.5f}, precision {result['precision']:.5f} against the planted pairs",
        f"- {result['seconds']:.0f} s ({stages}); highest memory of the process tree"
        f" {show_size(result['peak_tree_bytes'])} (seen every 20 ms; by the system's own count {show_size(highest)})",
    ]


def _write(corpus: PlantedCorpus, folder: Path) -> int:
    """Write JSON lines in shards of about a gigabyte; return the size of all."""
    folder.mkdir()
    total, shard, file = 0, 0, open(folder / "000.jsonl", "wb")
    for table in corpus.tables(1 << 13):
        rows = zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
        data = "".join([f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in rows]).encode()
        if file.tell() + len(data) > SHARD:
            file.close()
            shard += 1
            file = open(folder / f"{shard:03d}.jsonl", "wb")
        file.write(data)
        total += len(data)
    file.close()
    return total


def _tree_bytes(pid: int) -> int:
    """Return the resident memory of a process and its children."""
    total, waiting = 0, [pid]
    while waiting:
        place = Path("/proc") / str(waiting.pop())
        try:
            total += int((place / "statm").read_text().split()[1]) * 4096
            waiting += [int(child) for child in (place / "task" / place.name / "children").read_text().split()]
        except OSError:
            continue
    return total


if __name__ == "__main__":
    main()
