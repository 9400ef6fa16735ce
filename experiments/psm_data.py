"""What the experiments of PSM have in common: a collection, how it is timed, and where results are told."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.near_pairs import edited, packed

from sosie import BlockIndex, ProbeIndex, ProbeSearch, Signatures

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "experiments" / "psm.md"
RADIUS = 3
COPIES = 2  # in the collection, of a document that has some: on average


class Collection(NamedTuple):
    """Signatures, and queries with volatility: each query is an edited copy of something, of which others are there."""

    rows: Signatures
    queries: Signatures
    sample: Signatures  # more queries, to choose the number of probes by


def collection(log_rows: int, asked: int, seed: int = 0) -> Collection:
    """Return 2^log_rows signatures: copies of documents that are asked for, and others."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, 1 << log_rows, dtype=np.uint64)
    asked = min(asked, len(words) // 8)
    sums = rng.standard_normal((2 * asked, 64), np.float32)
    copies = np.repeat(np.arange(2 * asked), rng.geometric(1 / COPIES, 2 * asked))[: len(words)]
    for start in range(0, len(copies), 1 << 16):
        part = copies[start : start + (1 << 16)]
        words[start : start + len(part)] = packed(edited(sums[part], rng))[:, 0]
    changed = edited(sums, rng)
    both = Signatures(packed(changed), volatility=changed)
    rows = Signatures(rng.permutation(words))
    return Collection(rows, both.take(np.arange(asked)), both.take(np.arange(asked, 2 * asked)))


def exact_index(rows: Signatures, tables: int) -> BlockIndex:
    """Return an index of 4 or 10 tables."""
    header = {4: 1, 10: 2}[tables]
    return BlockIndex(rows, RADIUS, blocks=RADIUS + header, header=header)


def reached(index: ProbeIndex, queries: Signatures, effort: ProbeSearch, exact: Any, first: bool) -> float:
    """Return the share of matches that is found, or of queries with a match for which one is."""
    if first:
        found = np.diff(index.any_within(queries, RADIUS, effort=effort).offsets)
        return float(np.sum(found > 0) / np.sum(np.diff(exact.offsets) > 0))
    return len(index.within(queries, RADIUS, effort=effort).rows) / len(exact.rows)


def microseconds(search: Callable[..., Any], queries: Signatures, repeats: int = 3, **how: Any) -> float:
    """Return the time of a query on one thread, in microseconds of the processor, the best of some runs."""
    search(queries, RADIUS, threads=1, **how)
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        search(queries, RADIUS, threads=1, **how)
        times.append(time.thread_time() - start)
    return min(times) / len(queries) * 1e6


def options(text: str | None, *, log_rows: int | Sequence[int], asked: int) -> argparse.ArgumentParser:
    """Return what every script takes."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    several = "+" if isinstance(log_rows, Sequence) else None
    parser.add_argument("--log-rows", type=int, nargs=several, default=log_rows, help="2^this many signatures")
    parser.add_argument("--queries", type=int, default=asked)
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    return parser


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [[str(cell) for cell in row] for row in (header, ["---"] * len(header), *rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def publish(section: str, text: str, write: bool) -> None:
    """Print a section, and put it in its place on the page if asked to."""
    print(text, flush=True)
    if write:
        begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
        before, rest = PAGE.read_text("utf-8").split(begin)
        PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", "utf-8")


def picture(name: str, panels: int, draw: Callable[[Any], None], write: bool) -> None:
    """Draw panels side by side into docs/images/experiments, if asked to."""
    if not write:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, panels, figsize=(4.6 * panels, 3.8), dpi=100, layout="constrained", squeeze=False)
    draw(axes[0])
    for one in axes[0]:
        one.grid(alpha=0.3)
        one.legend(fontsize=8)
    figure.savefig(DOCS / "images" / "experiments" / f"psm-{name}.png", metadata={"Software": None})
