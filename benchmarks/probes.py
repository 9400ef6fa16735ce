"""ProbeIndex beside BlockIndex with 4 tables: recall as calibrated, memory, and time of a query.

usage: python -m benchmarks.probes [--log-rows 24] [--queries 65536]

Near-duplicates as simhash makes them among random signatures; probes are chosen by other queries than those that are
asked. Both indexes are asked in turns, on one thread. Prints the result and keeps it in benchmarks/probes.json, which
`python -m benchmarks` shows on its page.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.near_pairs import near_pairs
from sosie.index.blocks import BlockIndex
from sosie.index.probes import ProbeIndex
from sosie.types import Signatures

RESULT = Path(__file__).with_name("probes.json")
RADIUS = 3
BATCH = 4096
EDITS = 2, 6  # on average: the more there are, the more bits differ, and the more probes are needed
RECALL, TOLERANCE = 0.95, 0.02
COPIES = 1.25  # at t = log2 n - 2
SHARE = 0.5  # of the time of block tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-rows", type=int, default=24)
    parser.add_argument("--queries", type=int, default=1 << 16)
    options = parser.parse_args()
    measured = [measure(options.log_rows, options.queries, edits) for edits in EDITS]
    result = {"log_rows": options.log_rows, "queries": options.queries, "by_edits": measured}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def measure(log_rows: int, asked: int, edits: int) -> dict[str, Any]:
    words = np.random.default_rng(24).integers(0, 2**64, 1 << log_rows, dtype=np.uint64)
    originals, queries = near_pairs(asked, 1, edits)
    others, sample = near_pairs(asked // 2, 2, edits)
    words[: len(originals)] = originals.words[:, 0]
    words[len(originals) : len(originals) + len(others)] = others.words[:, 0]
    rows = Signatures(np.random.default_rng(0).permutation(words))
    small = ProbeIndex(rows, header=log_rows - 2)
    copies = (_bytes(small) - 4 * len(rows)) / rows.words.nbytes
    del small
    index = ProbeIndex(rows, header=log_rows)
    made = index.calibrate(sample, RADIUS, RECALL)
    exact = BlockIndex(rows, RADIUS, blocks=4, header=1)
    batches = [queries.take(np.arange(start, min(start + BATCH, asked))) for start in range(0, asked, BATCH)]
    times: dict[str, list[float]] = {"probes": [], "blocks": []}
    found = {"probes": 0, "blocks": 0}
    for again in range(4):  # in turns; the first round warms up
        for batch in batches:
            for name, one, effort in (("probes", index, made), ("blocks", exact, None)):
                start = time.thread_time()
                matches = one.within(batch, RADIUS, effort=effort, threads=1)
                times[name].append((time.thread_time() - start) / len(batch) * 1e6)
                found[name] += len(matches.rows) if again else 0
    warm = {name: np.array(all_of[len(batches) :]).reshape(3, -1).min(axis=0) for name, all_of in times.items()}
    return {
        "edits": edits,
        "probes": made.probes,
        "stated_recall": made.recall,
        "recall": found["probes"] / found["blocks"],
        "copies": copies,
        **{f"{name}_us": float(np.mean(best)) for name, best in warm.items()},
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    text = [
        f"`ProbeIndex` of 2^{result['log_rows']} signatures of 64 bits, {result['queries']:,} queries within {RADIUS}"
        " bits beside `BlockIndex` with 4 tables, one thread, time of the processor. Probes are chosen for a recall of"
        f" {RECALL} by other queries. Goals: the recall within {TOLERANCE}; at most {COPIES} copies of the signatures"
        f" in memory at t = log2 n - 2, numbers of rows excluded; at most {SHARE} of the time at t = log2 n.",
        "",
        "| edits of 200 features | probes | recall stated | reached | | copies | | us per query | 4 tables | share | |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["by_edits"]:
        share = row["probes_us"] / row["blocks_us"]
        text.append(
            f"| {row['edits']} | {row['probes']} | {row['stated_recall']:.3f} | {row['recall']:.3f} |"
            f" {_verdict(row['recall'] >= RECALL - TOLERANCE)} | {row['copies']:.3f} |"
            f" {_verdict(row['copies'] <= COPIES)} | {row['probes_us']:.2f} | {row['blocks_us']:.2f} | {share:.2f} |"
            f" {_verdict(share <= SHARE)} |"
        )
    return text


def _bytes(index: ProbeIndex) -> int:
    return sum(array.nbytes for array in index._saved(index._state)[1].values()) + len(index) // 8


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"


if __name__ == "__main__":
    main()
