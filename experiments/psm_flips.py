"""PSM Figure 3: how many flips of a 64-bit signature find a near one, by volatility and at random.

usage: python -m experiments.psm_flips [--pairs 3000] [--write]

For pairs at a distance of exactly 1, 2 and 3 bits: the place of the bits that differ among all sets of as many bits, in
the order of volatility. All sums are compared, so this is also a check of what the heap should find.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from benchmarks.near_pairs import near_pairs

from experiments.psm_data import options, picture, publish, table

PAPER = {1: (0.30, 17, 16, "-", 3.7), 2: ("-", 152, 37, "-", 13), 3: ("-", 675, 347, 151, 61)}
SHARES = (0.5, 0.8, 1.0)


def places(distance: int, pairs: int, seed: int = 1) -> Any:
    """Return which attempt finds each of some pairs at a distance, the first being 1."""
    sets = np.array(list(combinations(range(64), distance)))
    found: list[int] = []
    while len(found) < pairs:
        originals, copies = near_pairs(1 << 14, seed)
        differ = originals.words[:, 0] ^ copies.words[:, 0]
        sizes = np.abs(copies.volatility)
        for row in np.flatnonzero(np.bitwise_count(differ) == distance)[: pairs - len(found)]:
            own = sum(float(sizes[row, bit]) for bit in range(64) if int(differ[row]) >> bit & 1)
            found.append(1 + int(np.sum(sizes[row][sets].sum(axis=1) < own * (1 - 1e-6))))
        seed += 1
    return np.sort(found)


def main() -> None:
    """Count and print; write if asked."""
    parser = options(__doc__, log_rows=0, asked=0)
    parser.add_argument("--pairs", type=int, default=3000)
    given = parser.parse_args()
    found = {distance: places(distance, given.pairs) for distance in PAPER}
    rows = []
    for distance, attempts in found.items():
        every = len(list(combinations(range(64), distance)))
        needed = [int(attempts[int(np.ceil(share * len(attempts))) - 1]) for share in SHARES]
        ratios = [f"{share * every / count:.3g}" for share, count in zip(SHARES, needed, strict=True)]
        first = float(np.mean(attempts == 1))
        rows.append([distance, f"{first:.2f}", *needed, every, *ratios, *PAPER[distance]])
    header = ["distance", "found by the first", "flips for 50 %", "80 %", "100 %", "at random, 100 %"]
    header += ["fewer than at random, 50 %", "80 %", "100 %"]
    header += ["paper: found by the first", "flips for 100 %", "fewer, 50 %", "80 %", "100 %"]
    publish("psm-flips", f"{given.pairs:,} pairs at each distance:\n\n{table(header, rows)}", given.write)

    def draw(panels: Any) -> None:
        for axes, (distance, attempts) in zip(panels, found.items(), strict=True):
            every = len(list(combinations(range(64), distance)))
            axes.plot(attempts, np.arange(1, len(attempts) + 1) / len(attempts), label="by volatility")
            flips = np.geomspace(1, every)
            axes.plot(flips, flips / every, "--", label="at random")
            axes.set(title=f"distance {distance}", xlabel="flips", xscale="linear" if distance == 1 else "log")
        panels[0].set_ylabel("pairs found")

    picture("flips", 3, draw, given.write)


if __name__ == "__main__":
    main()
