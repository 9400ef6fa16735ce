"""Ten gigabytes of generated text within `--memory 4GB`: time, peak memory of the process tree, and recall on a sample.

usage: python -m benchmarks.memory [--gigabytes 10] [--memory 4GB] [--folder DIR] [--corpus DIR] [--words 300 700]

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

from sosie.evaluation.planted import PlantedCorpus
from sosie.storage.size import show_size

SHARD = 1 << 30
BYTES_PER_WORD = 5.46
RESULT = Path(__file__).with_name("memory.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", help="where to put the corpus and the output; default: a temporary folder")
    parser.add_argument("--corpus", help="a corpus that was made before, instead of a new one")
    parser.add_argument("--words", type=int, nargs=2, default=(300, 700), help="least and most words of a document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        corpus = Path(options.corpus) if options.corpus else Path(folder) / "corpus"
        if not options.corpus:
            write_corpus(corpus, options.gigabytes, tuple(options.words))
        result = measure(corpus, Path(folder) / "out", options.memory)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def measure(corpus: Path, output: Path, memory: str) -> dict[str, Any]:
    command = [str(Path(sys.executable).parent / "sosie"), "dedup", str(corpus), "-o", str(output)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--memory", memory, "--threads", "2", "--json"], stdout=subprocess.PIPE)
    peak = 0
    while process.poll() is None:
        peak = max(peak, tree_bytes(process.pid))
        time.sleep(0.02)
    seconds = time.perf_counter() - start
    assert process.returncode == 0 and process.stdout is not None
    report = json.loads(process.stdout.read())
    counts = report["counts"]
    assert counts["documents"] == counts["kept"] + counts["dropped"] + counts["rejected"]
    return {
        "text_bytes": report["text_bytes"],
        "memory": memory,
        "counts": counts,
        "method": report["parameters"]["method"]["method"],
        "seconds": round(seconds, 1),
        "peak_tree_bytes": peak,
        "stages": report["stages"],
        "measured": report["measured"],
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    counts, measured = result["counts"], result["measured"]
    stages = ", ".join(f"{stage['stage']} {stage['seconds']:.0f}" for stage in result["stages"])
    highest = max(stage["peak_memory_bytes"] for stage in result["stages"])
    return [
        f"`sosie dedup --memory {result['memory']}` of {show_size(result['text_bytes'])} of generated text in"
        f" {counts['documents']:,} documents, two threads ({result['method']}):",
        "",
        f"- {counts['kept']:,} kept + {counts['dropped']:,} dropped + {counts['rejected']:,} rejected; of the pairs of"
        f" {measured['sampled']:,} random documents, exact search found {measured['true_pairs']:,}, and the run"
        f" {measured['found_pairs']:,} of them and {measured['wrong_pairs']:,} others",
        f"- {result['seconds']:.0f} s ({stages}); highest memory of the process tree"
        f" {show_size(result['peak_tree_bytes'])} (seen every 20 ms; by the system's own count {show_size(highest)})",
    ]


def write_corpus(folder: Path, gigabytes: float, words: tuple[int, int]) -> None:
    """Write JSON lines in shards of about a gigabyte."""
    corpus = PlantedCorpus(int(gigabytes * 1e9 / (sum(words) / 2 * BYTES_PER_WORD)), words=words)
    folder.mkdir()
    shard, file = 0, open(folder / "000.jsonl", "wb")
    for table in corpus.tables(1 << 13):
        rows = zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
        data = "".join([f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in rows]).encode()
        if file.tell() + len(data) > SHARD:
            file.close()
            shard += 1
            file = open(folder / f"{shard:03d}.jsonl", "wb")
        file.write(data)
    file.close()


def tree_bytes(pid: int) -> int:
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
