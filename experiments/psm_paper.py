"""PSM: numbers that the paper prints, beside those that the planner's formulas give for them.

usage: python -m experiments.psm_paper [--write]

Nothing is measured: Table 1, the tables of Table 2, and what the text says of headers and flips are worked out anew
from what the paper gives, by `sosie.planner.models`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

from experiments.psm_data import RADIUS, publish, table
from experiments.psm_table1 import PAPER, SIZES, duration, size
from sosie.planner.models import batch, blocks, probes
from sosie.planner.wish import Wish

BITS = 64
ROWS = 60_000_000
FEATURES, FEATURE_BYTES = 141, 8  # of a page
COSINES, DISTANCES = 70_000, 268_000_000  # in a second
HEADERS = {4: "1.06", 3: "1.125", 2: "1.25", 1: "1.5", 0: "2"}  # bits less than log2 of the rows: copies (Table 2)
FLIPS = {16: (6, 3), 26: (23, 15)}  # Figure 5: all, first
Row = tuple[str, str, str]


def table_1() -> Iterator[Row]:
    """Yield the cells of Table 1: pairs by their rate, and bytes of features and signatures."""
    for name, log in SIZES.items():
        pairs = Wish(task="join", rows=1 << log, bits=BITS, radius=RADIUS).comparisons
        ours = (
            duration(pairs / COSINES),
            size((1 << log) * FEATURES * FEATURE_BYTES),
            duration(pairs / DISTANCES),
            size((1 << log) * BITS / 8),
        )
        kinds = ("cosine, time", "memory", "Hamming, time", "memory")
        for kind, printed, found in zip(kinds, PAPER[name], ours, strict=True):
            yield f"Table 1, {name}: {kind}", printed, found
    billion = Wish(task="join", rows=1 << 30, bits=BITS, radius=RADIUS).comparisons
    for kind, place, rate in (("cosine", 0, COSINES), ("Hamming", 2, DISTANCES)):
        yield f"Table 1, 8B: {kind}, time, if it is of 2^30 pages", PAPER["8B"][place], duration(billion / rate)


def formulas() -> Iterator[Row]:
    """Yield what the text and Table 2 say of tables, headers and flips."""
    for chosen, printed in ((1, 4), (2, 10)):
        cut = blocks.least_blocks(RADIUS, chosen)
        yield f"tables of g = {chosen}, G = g + h (Eq. 10)", str(printed), str(blocks.tables(cut, chosen))
    long = blocks.matched_bits(BITS, 5, 2, 1 << 33)
    yield "bits of a header of 2 of 5 blocks, g b / (g + h)", "25.6", f"{long:.1f}"
    scanned = (1 << 28) / 2 ** blocks.matched_bits(BITS, 4, 1, 1 << 28)
    yield "rows of a scan, 2^28 rows, 1 of 4 blocks (Eq. 8)", f"{2**12:,}", f"{scanned:,.0f}"
    yield "rows of four tables in 8 GB (Eq. 10)", "2^28", _rows_in(8 << 30)
    for shorter, printed in HEADERS.items():
        log = 26 - shorter
        yield f"copies, t = d{f' - {shorter}' * bool(shorter)} (Eq. 26)", printed, f"{probes.tables(log, 1 << 26):.4g}"
    yield "copies, t = 26 and 60 million rows (Eq. 26, any n)", "2", f"{probes.tables(26, ROWS):.3f}"
    for header, (every, first) in FLIPS.items():
        bound = probes.most_flips(header, RADIUS)
        yield f"flips of a header of {header} bits, at most (Eq. 20)", f"{every} and {first} used", f"{bound:,}"
    growth = probes.most_flips(26, RADIUS) / probes.most_flips(16, RADIUS)
    yield (
        "flips of 26 bits over those of 16 (Eq. 20)",
        f"{23 / 6:.1f} and {15 / 3:.1f} used",
        f"{growth:.1f}, of the bound",
    )
    kept = probes.storage(BITS, 26, 1 << 26) / (4 * (1 << 26) * BITS / 8)
    yield "bytes at t = d over those of four tables (Eqs. 22, 10)", '"at least twice" less', f"{kept:.2f}"


def _rows_in(memory: int) -> str:
    """Return up to which power of two four tables fit."""
    log = max(log for log in range(20, 40) if blocks.storage(BITS, 4, 1, 1 << log) <= memory)
    return f"2^{log}"


def errata() -> Iterator[Row]:
    """Yield what is misprinted, and what shows it."""
    steps = batch.Latency(flip=1.0)
    lacking = 2**20 * math.log2(23)
    right = batch.probes_batch(2**20, 2**20, 20, 23, steps)
    yield "Equation 23, flips of 2^20 queries with k = 23", "m log k", f"{right / lacking:.0f} m log k"
    seconds = 10_000_000 / 6.7
    yield "Table 2, PSM_F at 1.125: queries in a second", '"1.5K"', f"{seconds / 1e6:.2f}M of 10M in 6.7 s"


def main() -> None:
    """Work out and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into docs/experiments")
    given = parser.parse_args()
    rows = [*table_1(), *formulas(), *errata()]
    publish("psm-paper", table(["what", "printed", "by our formulas"], rows), given.write)


if __name__ == "__main__":
    main()
