"""This tree beside an earlier one, in one run: every row of `make bench`, before and after.

usage: python -m benchmarks.compare BEFORE [--texts FILE.parquet] [--only signing,hamming,dedup,startup] [--rounds 3]

BEFORE is a checkout of the earlier state. Both trees measure each group in turns, so that a busy machine is unfair to
both; the best of all rounds counts. Kernels are compiled before. Prints a table: after / before below 1 is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SCRIPT = """
import json, sys
from importlib import import_module
from benchmarks.corpus import Corpus
group, texts = sys.argv[1], sys.argv[2] or None
measure = import_module(f"benchmarks.{group}").rows
rows = measure(Corpus.at(texts)) if group in ("signing", "dedup") else measure()
named = [[row.get("job") or row["corpus"], row.get("peer"), row.get("ours_s", row.get("seconds"))] for row in rows]
print("\\n" + json.dumps([[" / ".join(filter(None, row[:2])), row[2]] for row in named]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("--texts", default="", help="a Parquet file with a column text; default: a generated corpus")
    parser.add_argument("--only", default="signing,hamming,dedup,startup")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = str(Path(options.texts).resolve()) if options.texts else ""
    print("| job | before | after | after / before |\n|---|---|---|---|")
    for group in options.only.split(","):
        best: dict[str, dict[str, float]] = {"before": {}, "after": {}}
        for _ in range(options.rounds):
            for name, tree in (("before", options.before.resolve()), ("after", HERE)):
                for job, seconds in measured(tree, group, texts):
                    best[name][job] = min(seconds, best[name].get(job, float("inf")))
        for job in (job for job in best["before"] if job in best["after"]):
            before, after = best["before"][job], best["after"][job]
            print(f"| {job} | {before * 1e3:.2f} ms | {after * 1e3:.2f} ms | {after / before:.2f} |", flush=True)


def measured(tree: Path, group: str, texts: str) -> list[tuple[str, float]]:
    """Return the jobs of a group and what they take in a tree, measured by the tree's own benchmarks."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree / ".numba_cache")}
    command = [sys.executable, "-c", SCRIPT, group, texts]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [(job, seconds) for job, seconds in json.loads(done.stdout.splitlines()[-1])]


if __name__ == "__main__":
    main()
