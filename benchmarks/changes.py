"""What it costs to change a large index, and to ask it one thing: milliseconds, one thread, the best of several.

usage: python -m benchmarks.changes [--rows 1000000] [--keys 5000000]

One row with a string id is added to an index of each kind that has so many, and one is removed. Then one key is looked
up in indexes of more and more keys: it must not take longer where there are more.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sosie import BlockIndex, FlatIndex, KeyIndex, Keys, MultiIndex, ProbeIndex, Signatures, SliceIndex

INDEXES = (FlatIndex, SliceIndex, BlockIndex, ProbeIndex, MultiIndex)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=5_000_000)
    options = parser.parse_args()
    print(f"| index of {options.rows:,} rows | add one, best of 64 | median | remove one |\n|---|---|---|---|")
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64, options.rows, dtype=np.uint64)
    for made in INDEXES:
        index = made(Signatures(words, ids=[f"document {i}" for i in range(options.rows)]))
        show(made.__name__, index, lambda i: Signatures(words[i : i + 1], ids=[f"new {i}"]))
    values = rng.integers(0, 2**64, (options.rows, 4), dtype=np.uint64)
    index = KeyIndex(Keys(values, ids=[f"document {i}" for i in range(options.rows)]))
    show("KeyIndex", index, lambda i: Keys(values[i : i + 1], ids=[f"new {i}"]))
    print("\n| rows of a `KeyIndex` of one table | one key looked up |\n|---|---|")
    for rows in (options.keys // 100, options.keys // 10, options.keys):
        print(f"| {rows:,} | {look_up(rng.integers(0, 2**64, (rows, 1), dtype=np.uint64)):.3f} ms |", flush=True)


def look_up(values: Any) -> float:
    """Return what one key costs in an index of all of them."""
    index = KeyIndex(Keys(values))
    return min(milliseconds(lambda i=i: index.candidates(Keys(values[i : i + 1]), threads=1)) for i in range(64))


def show(name: str, index: Any, row: Callable[[int], Any]) -> None:
    """Add rows one by one, then remove some, and print what that takes."""
    index.add(row(0))  # the table of ids is made when it is first needed
    added = [milliseconds(lambda i=i: index.add(row(i))) for i in range(1, 65)]
    removed = [milliseconds(lambda i=i: index.remove([f"document {i}"])) for i in range(8)]
    print(f"| {name} | {min(added):.3f} ms | {np.median(added):.3f} ms | {min(removed):.3f} ms |", flush=True)


def milliseconds(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
