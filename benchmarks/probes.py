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
RECALL, TOLERANCE = 0.95, 0.02
COPIES = 1.25  # at t = log2 n - 2
SHARE = 0.5  # of the time of block tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-rows", type=int, default=24)
    parser.add_argument("--queries", type=int, default=1 << 16)
    options = parser.parse_args()
    result = measure(options.log_rows, options.queries)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def measure(log_rows: int, asked: int) -> dict[str, Any]:
    words = np.random.default_rng(24).integers(0, 2**64, 1 << log_rows, dtype=np.uint64)
    originals, queries = near_pairs(asked, seed=1)
    others, sample = near_pairs(asked // 2, seed=2)
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
            for name, one in (("probes", index), ("blocks", exact)):
                start = time.thread_time()
                matches = one.within(batch, RADIUS, threads=1)
                times[name].append((time.thread_time() - start) / len(batch) * 1e6)
                found[name] += len(matches.rows) if again else 0
    warm = {name: np.array(all_of[len(batches) :]).reshape(3, -1).min(axis=0) for name, all_of in times.items()}
    return {
        "log_rows": log_rows,
        "queries": asked,
        "probes": made.probes,
        "stated_recall": made.recall,
        "recall": found["probes"] / found["blocks"],
        "copies": copies,
        **{f"{name}_us": float(np.mean(best)) for name, best in warm.items()},
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result for people to read."""
    share, recall = result["probes_us"] / result["blocks_us"], result["recall"]
    return [
        f"`ProbeIndex` of 2^{result['log_rows']} signatures of 64 bits, {result['queries']:,} queries within {RADIUS}"
        " bits, one thread, in time of the processor:",
        "",
        f"- `calibrate` chose {result['probes']} probes for a recall of {RECALL} and stated"
        f" {result['stated_recall']:.3f}; other queries reached {recall:.3f}"
        f" (goal: within {TOLERANCE}, {_verdict(recall >= RECALL - TOLERANCE)})",
        f"- {result['copies']:.3f} copies of the signatures in memory at t = log2 n - 2, numbers of rows excluded"
        f" (goal: at most {COPIES}, {_verdict(result['copies'] <= COPIES)})",
        f"- {result['probes_us']:.2f} us per query at t = log2 n; `BlockIndex` with 4 tables"
        f" {result['blocks_us']:.2f} us: a share of {share:.2f} (goal: at most {SHARE}, {_verdict(share <= SHARE)})",
    ]


def _bytes(index: ProbeIndex) -> int:
    return sum(array.nbytes for name, array in index._state()[1].items()) + len(index) // 8


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"


if __name__ == "__main__":
    main()
