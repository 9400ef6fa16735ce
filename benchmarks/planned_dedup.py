"""De-duplications as they were planned beside what they took: recall, seconds, memory; and the cost of planning itself.

usage: python -m benchmarks.planned_dedup [--texts FILE.parquet]... [--sizes 10000 100000 1000000] [--threads 2]
           [--folder DIR] [--quick]

Collections are generated (few copies, many copies, texts from templates) and real (each --texts has a column text).
Each is de-duplicated at some thresholds by the exact join, and by minhash and simhash planned for a recall of .9 and
.99, in a process of its own for each run. Beside what was measured stand two predictions: that of `sosie plan FILE`,
from a sample of the file, and that of the run, made when it has read all. The recall is that of the exact join's pairs.
The method that is chosen for a recall is held against the fastest run that reaches it. Prints the result and keeps it
in benchmarks/planned_dedup.json. `--quick` takes small collections and one threshold, to try it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus
from sosie.planner.machine import PROGRAM

RESULT = Path(__file__).with_name("planned_dedup.json")
SIZES = (10_000, 100_000, 1_000_000)
THRESHOLDS = {10_000: (0.5, 0.8), 100_000: (0.7, 0.9), 1_000_000: (0.8,)}
REAL = (0.5, 0.7, 0.9)
RUNS = (("exact", 1.0), ("minhash", 0.99), ("minhash", 0.9), ("simhash", 0.99), ("simhash", 0.9))
SIMHASH_ROWS = 200_000  # beyond, all pairs of signatures take minutes
NEAR, PART, TIMES, SLOWER = 0.03, 0.1, 2.0, 1.5  # what counts as right
# One process makes all plans from a file; kernels are loaded by a small collection before. Another one does each run.
PLAN = """
import json, sys, time
from fractions import Fraction
from sosie import Deduplicator
from sosie.jobs.auto import chosen, wish_of
from sosie.jobs.planning.of_documents import facts_of_documents
file, small, threshold, runs, threads = json.loads(sys.argv[1])
facts_of_documents(small, threads=threads)
said = []
for method, recall in runs:
    job = Deduplicator(threshold=Fraction(str(threshold)), method=method, recall=recall)
    start = time.perf_counter()
    if not said:
        facts = facts_of_documents(file, threshold=threshold, threads=threads)
    wish = wish_of(job, facts.corpus.documents, threads=threads)
    candidate = chosen(job, wish, facts).candidate
    said.append({"planning": time.perf_counter() - start, **candidate.to_dict()})
print(json.dumps(said))
"""
RUN = """
import json, sys
from fractions import Fraction
from sosie import Deduplicator, Output
file, out, method, threshold, recall, threads = json.loads(sys.argv[1])
job = Deduplicator(threshold=Fraction(str(threshold)), method=method, recall=recall)
print(json.dumps(job.run(file, output=Output(out, True), threads=threads).report.to_dict()))
"""


@dataclass(frozen=True)
class Collection:
    """A file of documents: what it is called, and at which thresholds it is de-duplicated."""

    name: str
    file: Path
    documents: int
    thresholds: tuple[float, ...]
    real: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="append", default=[], help="a Parquet file with a column text")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="where to put collections and results; default: a temporary folder")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    settings: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        place, small = Path(folder), Path(folder) / "small.jsonl"
        write_lines(small, PlantedCorpus(200))
        for collection in collections(place, options.sizes, options.texts, options.quick):
            for threshold in collection.thresholds:
                found = measure(collection, threshold, place, small, options.threads)
                settings += found
                print("\n".join(map(line, found)), flush=True)
    result = {"threads": options.threads, "settings": settings, **summary(settings)}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def collections(folder: Path, sizes: list[int], texts: list[str], quick: bool) -> Iterator[Collection]:
    """Write collections one after the other, and yield each."""
    for path in texts:
        file = Path(path).resolve()
        yield Collection(file.stem, file, pq.read_metadata(file).num_rows, REAL[2:3] if quick else REAL, True)
    for size in [2_000] if quick else sizes:
        thresholds = THRESHOLDS.get(size, (0.8,))
        for name, copies in (("few copies", 0.1), ("many copies", 0.6)):
            if name == "few copies" and size > SIMHASH_ROWS:
                continue
            file = folder / "corpus.jsonl"
            write_lines(file, PlantedCorpus(size, copies=copies if size <= SIMHASH_ROWS else 0.2))
            yield Collection(name if size <= SIMHASH_ROWS else "copies", file, size, thresholds)
        if size <= SIMHASH_ROWS:
            write_templates(folder / "corpus.jsonl", size)
            yield Collection("templates", folder / "corpus.jsonl", size, thresholds)


def measure(collection: Collection, threshold: float, folder: Path, small: Path, threads: int) -> list[dict[str, Any]]:
    """Plan and run one collection at one threshold by every method; return a row for each, and for each choice."""
    runs = [each for each in RUNS if each[0] != "simhash" or collection.documents <= SIMHASH_ROWS]
    autos = [("auto", recall) for recall in (1.0, 0.9)]
    plans = run(PLAN, [str(collection.file), str(small), threshold, [*runs, *autos], threads])
    rows: list[dict[str, Any]] = []
    every = 0
    for (method, recall), planned in zip(runs, plans, strict=False):
        report = run(RUN, [str(collection.file), str(folder / "out"), method, threshold, recall, threads])
        pairs, within, held = report["counts"]["pairs"], report["plan"], planned["bytes"]
        every = pairs if method == "exact" else every
        rows.append(
            {
                **about(collection, threshold, recall),
                "method": method,
                "parameters": within["parameters"],
                "planning": plans[0]["planning"],
                "sampled": {
                    "recall": planned["recall"],
                    "seconds": planned["seconds"],
                    "bytes": PROGRAM + held["heap"] + held["mapped"],
                },
                "read": {
                    "recall": within["predicted"],
                    "seconds": within["predicted_seconds"],
                    "bytes": within["predicted_bytes"],
                },
                "measured": {
                    "recall": pairs / every if every else 1.0,
                    "seconds": report["seconds"],
                    "bytes": max(stage["peak_memory_bytes"] for stage in report["stages"]),
                },
                "bounded": bool(report["counters"].get("bounded_lists")),
            }
        )
    choices = zip(autos, plans[len(runs) :], strict=True)
    return rows + [choice(collection, threshold, recall, planned["method"], rows) for (_, recall), planned in choices]


def choice(
    collection: Collection, threshold: float, recall: float, method: str, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what is chosen for a recall beside the fastest of the runs that reach it."""
    own = next(row for row in reversed(rows) if row["method"] == method and row["asked"] >= recall)
    there = [row for row in rows if row["asked"] >= recall and row["measured"]["recall"] >= recall - NEAR]
    fastest = min(row["measured"]["seconds"] for row in (*there, own))
    return {
        **about(collection, threshold, recall),
        "chosen": method,
        "times": own["measured"]["seconds"] / fastest,
    }


def about(collection: Collection, threshold: float, recall: float) -> dict[str, Any]:
    """Return what a row is about."""
    named = {"collection": collection.name, "real": collection.real, "documents": collection.documents}
    return {**named, "threshold": threshold, "asked": recall}


def run(program: str, asked: list[Any]) -> Any:
    """Do it in a process of its own, and return what it says."""
    done = subprocess.run([sys.executable, "-c", program, json.dumps(asked)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def summary(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many predictions are right, by both plans, and what planning costs of the largest runs."""
    rows = [row for row in settings if "measured" in row]
    choices = [row for row in settings if "chosen" in row]
    largest = max(row["documents"] for row in rows)
    costs = [row["planning"] / row["measured"]["seconds"] for row in rows if row["documents"] == largest]
    right = {
        plan: {
            "recall": share(abs(row[plan]["recall"] - row["measured"]["recall"]) <= NEAR for row in listed(rows)),
            "bytes": share(abs(row[plan]["bytes"] / row["measured"]["bytes"] - 1) <= PART for row in rows),
            "seconds": share(1 / TIMES <= row[plan]["seconds"] / row["measured"]["seconds"] <= TIMES for row in rows),
        }
        for plan in ("sampled", "read")
    }
    return {
        "rows": len(rows),
        "real": sum(row["real"] for row in rows),
        "right": right,
        "choices": len(choices),
        "chosen well": share(row["times"] <= SLOWER for row in choices),
        "largest": largest,
        "planning": float(np.median(costs)),
    }


def listed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs that list all pairs: of a crowded collection some are left out on purpose."""
    return [row for row in rows if not row["bounded"]]


def share(right: Iterator[bool]) -> float:
    """Return the share of what is right."""
    values = list(right)
    return sum(values) / len(values) if values else 1.0


def line(row: dict[str, Any]) -> str:
    """Return a row for people to read."""
    head = f"{row['collection']:<18} {row['documents']:>9,} at {row['threshold']:<4} asked {row['asked']:<4}"
    if "chosen" in row:
        return f"{head} chosen {row['chosen']}: {row['times']:.2f} times the fastest"
    both = [
        f"{name} {row[plan]['recall']:.3f} {row[plan]['seconds']:.2f} s {row[plan]['bytes'] / 1e6:,.0f} MB"
        for plan, name in (("sampled", "plan"), ("read", "run"), ("measured", "took"))
    ]
    return f"{head} {row['method']:<8} {'; '.join(both)}; planned in {row['planning']:.2f} s"


def lines(result: dict[str, Any]) -> list[str]:
    """Return the summary for people to read."""
    bars = {
        "recall": f"recall within {NEAR:g}",
        "bytes": f"memory within {PART:.0%}",
        "seconds": f"time within {TIMES:g}x",
    }
    found = [f"{result['rows']} settings, {result['real']} of them of real collections:", ""]
    for name, said in bars.items():
        shares = [
            f"{result['right'][plan][name]:.0%} {where}"
            for plan, where in (("sampled", "by a sample"), ("read", "when read"))
        ]
        found.append(f"- {said}: {', '.join(shares)}")
    found.append(f"- chosen within {SLOWER:g} times the fastest: {result['chosen well']:.0%} of {result['choices']}")
    found.append(f"- planning takes {result['planning']:.1%} of a run of {result['largest']:,} documents")
    return found


def write_lines(file: Path, corpus: PlantedCorpus) -> None:
    """Write a generated corpus as JSON lines."""
    with open(file, "wb") as out:
        for table in corpus.tables():
            rows = zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
            out.write("".join(f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in rows).encode())


def write_templates(file: Path, size: int) -> None:
    """Write texts of which half is one of some templates: very many share features, and few are similar."""
    rng = np.random.default_rng(0)
    templates = [" ".join(f"t{number}w{word}" for word in range(40)) for number in range(max(size // 500, 4))]
    texts = PlantedCorpus(size, copies=0.1, seed=1, words=(35, 45)).texts(np.arange(size)).to_pylist()
    which = rng.integers(0, len(templates), size)
    with open(file, "wb") as out:
        rows = (f'{{"text": "{templates[t]} {text}"}}\n' for t, text in zip(which.tolist(), texts, strict=True))
        out.write("".join(rows).encode())


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"{time.perf_counter() - started:.0f} s")
