"""What the experiments of PSM have in common: a collection, how it is timed, and where results are told."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from benchmarks.near_pairs import FEATURES, cosines_left, moved, packed

from experiments.collection import read_texts
from sosie import BlockIndex, ProbeIndex, ProbeSearch, Shingles, Signatures, Simhash

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "experiments" / "psm.md"
RADIUS = 3
COPIES = 2  # in the collection, of a document that has some: on average


class Collection(NamedTuple):
    """Signatures, and queries with volatility that have near-duplicates among them."""

    rows: Signatures
    queries: Signatures
    sample: Signatures  # more queries, to choose the number of probes by
    said: str  # what a reader has to know of it


def collection(given: argparse.Namespace, log_rows: int, seed: int = 0) -> Collection:
    """Return 2^log_rows signatures with near-duplicates of the queries: those of texts, if given, or a model's."""
    return _of_texts(given, log_rows, seed) if given.texts else _modelled(given.queries, log_rows, seed)


def _modelled(asked: int, log_rows: int, seed: int) -> Collection:
    """Return edited copies of documents among random signatures; queries are other edited copies of the same."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, 1 << log_rows, dtype=np.uint64)
    asked = min(asked, len(words) // 8)
    sums = rng.standard_normal((2 * asked, 64), np.float32)
    copies = np.repeat(np.arange(2 * asked), rng.geometric(1 / COPIES, 2 * asked))[: len(words)]
    left = []
    for start in range(0, len(copies), 1 << 16):
        part = copies[start : start + (1 << 16)]
        left.append(cosines_left(len(part), rng))
        words[start : start + len(part)] = packed(moved(sums[part], left[-1], rng))[:, 0]
    of_queries, of_copies = cosines_left(2 * asked, rng), np.concatenate(left)
    changed = moved(sums, of_queries, rng)
    both = Signatures(packed(changed), volatility=changed)
    apart = np.bitwise_count(both.words[copies, 0] ^ words[: len(copies)])
    edits = [
        FEATURES * float(np.mean(1 - cosine)) for cosine in (of_queries, of_copies, of_queries[copies] * of_copies)
    ]
    said = (
        f"Of the {FEATURES} features of a document, queries have {edits[0]:.2f} replaced on average and copies "
        f"{edits[1]:.2f}; a query and a copy of one document differ in {edits[2]:.2f} of them and in "
        f"{np.mean(apart):.2f} bits, {np.mean(apart <= RADIUS):.1%} of them in at most {RADIUS}."
    )
    rows = Signatures(rng.permutation(words))
    return Collection(rows, both.take(np.arange(asked)), both.take(np.arange(asked, 2 * asked)), said)


def _of_texts(given: argparse.Namespace, log_rows: int, seed: int) -> Collection:
    """Return tf-idf signatures of texts, and random ones as far as these are too few; other texts are queries."""
    texts, rng = read_texts(given), np.random.default_rng(seed)
    signer = Simhash(weighting="tf-idf", shingles=Shingles(width=1)).fit(texts.texts)
    order = rng.permutation(len(texts.texts))
    asked = min(given.queries, len(order) // 4)

    def signed(which: Any, **how: Any) -> Signatures:
        return signer.sign(texts.texts.take(pa.array(np.sort(which))), **how)

    queries, sample = (signed(part, volatility=True) for part in (order[:asked], order[asked : 2 * asked]))
    held = signed(order[2 * asked :]).words[:, 0][: 1 << log_rows]
    others = rng.integers(0, 2**64, (1 << log_rows) - len(held), dtype=np.uint64)
    rows = Signatures(rng.permutation(np.concatenate([held, others])))
    said = (
        f"{texts.name}, each once, single words by tf-idf: {len(queries):,} are queries, {len(sample):,} choose the "
        f"number of probes, {len(held):,} are in the collection, among {len(others):,} random signatures."
    )
    numbered = (Signatures(part.words, volatility=part.volatility) for part in (queries, sample))
    return Collection(rows, *numbered, said)


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


def copies(index: BlockIndex | ProbeIndex) -> tuple[float, float]:
    """Return the memory of an index in copies of the signatures: all arrays, and all but the numbers of rows."""
    state = index._state
    held = sum(array.nbytes for array in index._saved(state)[1].values()) + state.ids.live.nbytes
    runs = state.stored.runs if isinstance(index, BlockIndex) else state.stored
    numbers = sum(run.arrays()["rows"].nbytes for run in runs)
    one = len(index) * index.bits // 8
    return held / one, (held - numbers) / one


def options(
    text: str | None, *, log_rows: int | Sequence[int], asked: int, seeds: int | None = None
) -> argparse.ArgumentParser:
    """Return what every script takes."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    several = "+" if isinstance(log_rows, Sequence) else None
    parser.add_argument("--log-rows", type=int, nargs=several, default=log_rows, help="2^this many signatures")
    parser.add_argument("--queries", type=int, default=asked)
    parser.add_argument("--texts", help="a Parquet file with a column text; default: signatures of a model")
    if seeds is not None:
        parser.add_argument("--seeds", type=int, default=seeds, help="how many collections are drawn")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    return parser


def draws(given: argparse.Namespace) -> str:
    """Return how many collections were drawn, for people to read."""
    if given.seeds == 1:
        return "One draw (seed 0)."
    return f"{given.seeds} draws (seeds 0 to {given.seeds - 1}); the last of them:"


def named(section: str, given: argparse.Namespace) -> str:
    """Return the name of a section or picture: that of texts has its own."""
    return f"{section}-texts" if given.texts else section


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
