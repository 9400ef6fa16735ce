"""All pairs of two collections of wide signatures, by brute force and by a sliding window, at any size up to NFL's.

usage: python -m benchmarks.wide_pairs [--rows 1470000 3440000] [--methods brute window] [--tables 300] [--window 2000]

Signatures of 1000 bits are random; 20,000 rows of the second collection are copies of rows of the first with 200 to 400
flipped bits, and T is 400: the paper's 1.47 million German and 3.44 million English articles had 5.05 * 10^12 pairs of
which each took it 28 ns (Table 2). Both methods run in this process, on all cores; what they took, found and said is
printed and kept in benchmarks/wide_pairs.json, by size and method. The recall of a window is measured by brute force of
the same collections, where that was run, and by the planted pairs.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from sosie.jobs.join import join
from sosie.matches.chunks import Window
from sosie.types import Pairs, Signatures

RESULT = Path(__file__).with_name("wide_pairs.json")
BITS, RADIUS, PLANTED = 1000, 400, 20_000
PAPER_NS = 28  # of a comparison, on one core of its machines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs=2, default=(1_470_000, 3_440_000))
    parser.add_argument("--methods", nargs="+", choices=("brute", "window"), default=("brute", "window"))
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--window", type=int, default=2000)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--beside", action="store_true", help="say that the machine had other work, too")
    options = parser.parse_args()
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    first, second, planted = collections(*options.rows)
    for name in options.methods:
        by: Any = Window(options.tables, options.window) if name == "window" else name
        began = time.perf_counter()
        pairs = join(first, second, radius=RADIUS, method=by, threads=options.threads)
        result = measured(pairs, planted, time.perf_counter() - began)
        size = f"{options.rows[0]:,} x {options.rows[1]:,}"
        exact = known.get(size, {}).get("brute")
        if name == "window" and exact:
            result["recall"] = len(pairs) / exact["pairs"]
        if options.beside:
            result["beside"] = True
        label = name if name == "brute" else f"window {options.tables} x {options.window}"
        known.setdefault(size, {})[label] = result
        RESULT.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
        print(f"{size}, {label}: {json.dumps(result)}", flush=True)


def collections(first: int, second: int) -> tuple[Signatures, Signatures, Any]:
    """Return two collections, and the rows of the planted pairs, packed."""
    rng = np.random.default_rng(11)
    words = [rng.integers(0, 2**64, (rows, 16), dtype=np.uint64) for rows in (first, second)]
    copies = min(PLANTED, first, second)
    a, b = rng.choice(first, copies, replace=False), rng.choice(second, copies, replace=False)
    for here, there in zip(a.tolist(), b.tolist(), strict=True):
        flipped = np.zeros(1024, np.bool_)
        flipped[rng.choice(BITS, rng.integers(200, RADIUS + 1), replace=False)] = True
        words[1][there] = words[0][here] ^ np.packbits(flipped, bitorder="little").view(np.uint64)
    for side in words:
        side[:, -1] &= np.uint64(2 ** (BITS % 64) - 1)
    return Signatures(words[0], BITS), Signatures(words[1], BITS), np.sort(a << 32 | b)


def measured(pairs: Pairs, planted: Any, seconds: float) -> dict[str, Any]:
    """Return what was found and what it took."""
    found = int(np.isin(planted, pairs.a << 32 | pairs.b).sum())
    counters = dict(pairs.counters)
    result: dict[str, Any] = {
        "seconds": round(seconds, 1),
        "pairs": len(pairs),
        "planted": f"{found:,} of {len(planted):,}",
        "comparisons": counters["comparisons"],
        "ns_per_comparison": round(1e9 * seconds / counters["comparisons"], 3),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "stated_recall": pairs.recall,
        "interval": pairs.interval,
    }
    if "brute_comparisons" in counters:
        cost = (counters["comparisons"] + counters["making_chunks"]) / counters["brute_comparisons"]
        result |= {"relative_cost": round(cost, 4), "window_comparisons": counters["window_comparisons"]}
    return result


def lines(result: dict[str, Any]) -> list[str]:
    """Return what is known of every size and method, for people to read."""
    said = [
        f"All pairs of two collections of random {BITS}-bit signatures within {RADIUS} bits, 20,000 of them planted,",
        f"two threads; the paper's machines took {PAPER_NS} ns of a core for each comparison:",
        "",
        "| rows | method | hours | comparisons | ns each | relative cost | planted found | recall, stated | measured |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size, methods in result.items():
        for name, one in methods.items():
            cost = f"{one['relative_cost']:.1%}" if "relative_cost" in one else "100%"
            low, high = one["interval"] or (None, None)
            stated = "exact" if low is None else f"{one['stated_recall']:.4f} ({low:.4f} to {high:.4f})"
            recall = f"{one['recall']:.4f}" if "recall" in one else "-"
            hours = f"{one['seconds'] / 3600:.2f}{' (beside other work)' if one.get('beside') else ''}"
            said.append(
                f"| {size} | {name} | {hours} | {one['comparisons']:.3g} |"
                f" {one['ns_per_comparison']:.2f} | {cost} | {one['planted']} | {stated} | {recall} |"
            )
    return said


if __name__ == "__main__":
    main()
