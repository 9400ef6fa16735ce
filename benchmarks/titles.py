"""A million short texts: titles of 4 to 12 words, compared by single words. The hard case of an exact join.

usage: python -m benchmarks.titles [--documents 1000000] [--words 50000] [--threshold 0.7]

Words are drawn by Zipf's law, one in five titles is another one with a word changed. Prints how many stay, how many
pairs are listed, the time of the stages and the highest memory.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa

from sosie.features.shingles import Shingles
from sosie.jobs.dedup import Deduplicator
from sosie.matches.sets.threshold import as_fraction


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--threshold", default="0.7")
    given = parser.parse_args()
    texts = titles(given.documents, given.words)
    job = Deduplicator(threshold=as_fraction(given.threshold), method="exact", shingles=Shingles(1))
    result = job.run(pa.table({"text": texts}))
    report, peak = result.report, max(stage.peak_memory_bytes for stage in result.report.stages)
    print(f"{given.documents:,} titles of {given.words:,} words, Jaccard >= {given.threshold}: ", end="")
    print(f"{report.counts.kept:,} stay, {report.counts.pairs:,} pairs listed, ", end="")
    print(f"{report.counters['unlisted_pairs']:,} not; {report.seconds:.1f} s, {peak / 1e9:.1f} GB")
    print({stage.stage: round(stage.seconds, 1) for stage in report.stages})


def titles(count: int, words: int, seed: int = 0) -> pa.Array:
    """Return titles, one in five of them another one with a word changed."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, words + 1)
    edges = np.cumsum(weights / weights.sum())
    lengths = rng.integers(4, 13, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    drawn = np.minimum(np.searchsorted(edges, rng.random(starts[-1])), words - 1)
    made: list[str] = []
    for row in range(count):
        own = [f"w{word}" for word in drawn[starts[row] : starts[row + 1]]]
        if row and row % 5 == 0:
            own = made[int(rng.integers(row))].split()
            own[int(rng.integers(len(own)))] = f"w{int(rng.integers(words))}"
        made.append(" ".join(own))
    return pa.array(made)


if __name__ == "__main__":
    main()
