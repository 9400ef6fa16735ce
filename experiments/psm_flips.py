"""PSM Figure 3: how many flips find a signature at a distance of 1, 2 and 3 bits, by the heap of `ProbeIndex`.

usage: python -m experiments.psm_flips [--log-rows 20] [--queries 20000] [--seeds 3] [--texts FILE] [--write]

For pairs at a distance of h bits, sets of up to h bits are tried in the order of the heap (VOSH): by what `FlipModel`
says of them, or by the sum of |W|. The heap holds up to 30 bits: it gets the 30 most volatile of the 64 of each query.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np

from experiments.psm_data import RADIUS, collection, draws, named, options, picture, publish, table
from sosie import BlockIndex, FlipModel, Signatures
from sosie.arrays import read_only
from sosie.index.flips import flip_costs
from sosie.kernels.tables.vosh import WIDEST, write_flips

BITS = 64
PAPER = {1: (0.30, 17, 16, "-", 3.7), 2: ("-", 152, 37, "-", 13), 3: ("-", 675, 347, 151, 61)}
SHARES = (0.5, 0.8, 0.95, 1.0)
NEVER = np.iinfo(np.int64).max
UP_TO, EXACTLY, BY_SIZE = "up to h bits", "exactly h bits", "up to h bits, by the sum of absolute W"
_QUERIES = 2048  # whose sets are listed at a time


def main() -> None:
    """Count and print; write if asked."""
    given = options(__doc__, log_rows=20, asked=20_000, seeds=3).parse_args()
    found, said = attempts(given)
    rows = [line(sets, distance, places) for (sets, distance), places in found.items()]
    header = ["sets", "h", "pairs", "found by the first", "flips for 50 %", "80 %", "95 %", "100 %"]
    header += ["at random, 100 %", "fewer than at random, 50 %", "80 %", "95 %", "100 %"]
    header += ["paper: found by the first", "flips for 100 %", "fewer, 50 %", "80 %", "100 %"]
    text = f"{draws(given)} {said}\n\n{table(header, rows)}"
    publish(named("psm-flips", given), text, given.write)
    picture(named("flips", given), 3, lambda panels: draw(panels, found), given.write)


def attempts(given: argparse.Namespace) -> tuple[dict[tuple[str, int], Any], str]:
    """Return by kind of sets and distance which attempt finds each pair, the first being 1, NEVER if none does."""
    parts: dict[tuple[str, int], list[Any]] = {(sets, h): [] for sets in (UP_TO, EXACTLY, BY_SIZE) for h in PAPER}
    for seed in range(given.seeds):
        data = collection(given, given.log_rows, seed)
        found = BlockIndex(data.rows, RADIUS).within(data.queries, RADIUS)
        asked = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        differ = data.rows.words[found.rows, 0] ^ data.queries.words[asked, 0]
        model = FlipModel.of(data.sample)
        for h in PAPER:
            at = np.flatnonzero(found.distances == h)
            for up_to, exactly in places(data.queries.take(asked[at]), differ[at], h, model):
                parts[UP_TO, h].append(up_to)
                parts[EXACTLY, h].append(exactly)
            parts[BY_SIZE, h] += [up_to for up_to, _ in places(data.queries.take(asked[at]), differ[at], h, None)]
    return {key: np.concatenate([np.empty(0, np.int64), *part]) for key, part in parts.items()}, data.said


def places(queries: Signatures, differ: Any, h: int, model: FlipModel | None) -> Iterator[tuple[Any, Any]]:
    """Yield which attempt flips what differs from each query: among all sets of up to h bits, and among those of h."""
    assert queries.volatility is not None
    size = sum(comb(WIDEST, flipped) for flipped in range(h + 1))
    for start in range(0, len(queries), _QUERIES):
        here = slice(start, start + _QUERIES)
        costs = flip_costs(read_only(queries.volatility[here]), np.arange(BITS), model)
        volatile = np.argsort(costs, axis=1, kind="stable")[:, :WIDEST]
        flips = np.zeros((len(costs), size), np.uint32)
        write_flips(np.take_along_axis(costs, volatile, axis=1), h, flips)
        bits = (differ[here, None] >> volatile.astype(np.uint64)) & np.uint64(1)
        wanted = (bits << np.arange(WIDEST, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
        met = flips == wanted[:, None]
        reached = bits.sum(axis=1) == h  # otherwise a bit differs that is never flipped
        among_all, among_these = np.argmax(met, axis=1), np.cumsum(np.bitwise_count(flips) == h, axis=1)
        exact = among_these[np.arange(len(met)), among_all]
        yield np.where(reached, among_all, NEVER), np.where(reached, exact, NEVER)


def line(sets: str, h: int, places: Any) -> list[Any]:
    """Return a row of the table."""
    every, counted = comb(BITS, h), np.sort(places)
    needed = [int(counted[int(np.ceil(share * len(counted))) - 1]) for share in SHARES]
    fewer = [
        f"{share * every / count:.3g}" if count < NEVER else "" for share, count in zip(SHARES, needed, strict=True)
    ]
    flips = [count if count < NEVER else f"{np.mean(places < NEVER):.2%} are found" for count in needed]
    first = f"{np.mean(places == 1):.2f}"
    return [sets, h, f"{len(places):,}", first, *flips, f"{every:,}", *fewer, *PAPER[h]]


def draw(panels: Any, found: dict[tuple[str, int], Any]) -> None:
    """Draw the share of pairs that are found by so many flips."""
    for axes, h in zip(panels, PAPER, strict=True):
        for sets in (UP_TO, EXACTLY):
            reached = np.sort(found[sets, h])
            reached = reached[reached < NEVER]
            axes.plot(reached, np.arange(1, len(reached) + 1) / len(found[sets, h]), label=sets)
        every = comb(BITS, h)
        flips = np.geomspace(1, every)
        axes.plot(flips, flips / every, "--", label="at random")
        axes.set(title=f"h = {h}", xlabel="flips", xscale="linear" if h == 1 else "log")
    panels[0].set_ylabel("pairs found")


if __name__ == "__main__":
    main()
