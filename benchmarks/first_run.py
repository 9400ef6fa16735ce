"""How long the first use of each command takes where nothing is compiled: the table of docs/guide/first-run.md.

usage: python -m benchmarks.first_run [--only NAME,NAME] [--processes N]

Every row but the first begins with what the first `sosie dedup` has compiled. `CPU` is the time of all processes, and
`longest` that of the command's own one or of those that it started, whichever is more: what a row takes on two cores
that do nothing else, where the wall clock also says how busy this machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "dedup": ["dedup", "documents.jsonl", "-o", "out", "--overwrite"],
    "dedup again": ["dedup", "documents.jsonl", "-o", "out", "--overwrite"],
    "dedup --similarity containment": ["dedup", "documents.jsonl", "-o", "out", "--similarity", "containment"],
    "dedup --similarity cosine": ["dedup", "documents.jsonl", "-o", "out", "--similarity", "cosine"],
    "dedup --weighting tf-idf": [
        *("dedup", "documents.jsonl", "-o", "out", "--similarity", "cosine", "--weighting", "tf-idf")
    ],
    "dedup --method minhash": ["dedup", "documents.jsonl", "-o", "out", "--method", "minhash"],
    "dedup --method simhash": ["dedup", "documents.jsonl", "-o", "out", "--method", "simhash"],
    "join": ["join", "documents.jsonl", "-o", "out"],
    "inspect": ["inspect", "documents.jsonl"],
    "sign": ["sign", "documents.jsonl", "-o", "out"],
    "sign --method minhash": ["sign", "documents.jsonl", "-o", "out", "--method", "minhash"],
    "index build": ["index", "build", "documents.jsonl", "-o", "out"],
    "search": ["search", "index-flat", "--text", "some words to look for"],
    "search slices": ["search", "index-slices", "--text", "some words to look for"],
    "search blocks within": ["search", "index-blocks", "--radius", "3", "--text", "some words to look for"],
    "evaluate result": ["evaluate", "result", "result"],
    "warm": ["warm"],
}
FIRST = "dedup"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="rows to measure, by name")
    parser.add_argument("--processes", type=int, help="compile in so many processes [default: all cores]")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else list(COMMANDS)
    threads = ["--threads", str(options.processes)] if options.processes else []
    print("| first use of `sosie` | wall | CPU | longest |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_documents(folder / "documents.jsonl")
        prepare_inputs(folder)
        for row, command in COMMANDS.items():
            cache = folder / "cache" if row == FIRST else folder / "cache-of-one-row"
            if row != FIRST:
                shutil.rmtree(cache, ignore_errors=True)
                if row != "warm":
                    shutil.copytree(folder / "cache", cache)
            if row == FIRST or row in only:
                shutil.rmtree(folder / "out", ignore_errors=True)
                wall, own, others = seconds([*command, *threads], folder, cache)
                print(f"| {row} | {wall:.1f} s | {own + others:.1f} s | {max(own, others):.1f} s |", flush=True)


PROGRAM = """
import atexit, json, resource
from sosie.cli import main

def used(who):
    times = resource.getrusage(who)
    return times.ru_utime + times.ru_stime

def tell():
    with open("used.json", "w") as file:
        json.dump([used(resource.RUSAGE_SELF), used(resource.RUSAGE_CHILDREN)], file)

atexit.register(tell)
main()
"""


def seconds(command: list[str], folder: Path, cache: Path | None) -> tuple[float, float, float]:
    """Run a command; return the time on the wall, that of its own process, and that of those it started."""
    environment = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})
    start = time.perf_counter()
    program = [sys.executable, "-c", PROGRAM, *command]
    subprocess.run(program, check=True, cwd=folder, env=environment, capture_output=True)
    wall = time.perf_counter() - start
    own, others = json.loads((folder / "used.json").read_text())
    return wall, own, others


def write_documents(path: Path) -> None:
    """Write three hundred documents, some of them near-duplicates, some not ASCII."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(2000)]
    texts = [" ".join(chance.choices(words, k=80)) for _ in range(270)]
    texts += [f"{text} Stra\u00dfe" for text in texts[:30]]
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)), "utf-8")


def prepare_inputs(folder: Path) -> None:
    """Write the indexes and the result that some rows read, with the kernels that the user has."""
    for kind in ("flat", "slices", "blocks"):
        command = ["index", "build", "documents.jsonl", "-o", f"index-{kind}", "--kind", kind]
        seconds(command, folder, None)
    seconds(["dedup", "documents.jsonl", "-o", "result"], folder, None)


if __name__ == "__main__":
    main()
