"""PSM Table 1: what comparing all pairs would take, by the cosine of the features and by Hamming distance.

usage: python -m experiments.psm_table1 [--texts FILE] [--pairs N] [--write]

Random pairs of texts are compared by the cosine of their tf-idf vectors, and all pairs of their 64-bit signatures by
`FlatIndex`, on one thread; n^2 / 2 pairs are extrapolated from that, as in the paper.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.collection import Collection, add_texts, read_texts
from experiments.psm_data import RADIUS, publish, table
from sosie import FlatIndex, Shingles, Simhash
from sosie.features.weighting import weights
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import similarities

SIZES = {"1M": 20, "64M": 26, "8B": 33}  # log2
PAPER = {
    "1M": ("91 days", "1.1 GB", "34 min", "8 MB"),
    "64M": ("1,020 years", "70 GB", "97 days", "512 MB"),
    "8B": ("261K years", "9 TB", "68 years", "64 GB"),
}
UNITS = {"years": 365.25 * 86400, "days": 86400, "h": 3600, "min": 60, "s": 1}


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_texts(parser)
    parser.add_argument("--pairs", type=int, default=2_000_000, help="that are compared by their features")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments")
    given = parser.parse_args()
    texts = read_texts(given)
    by_cosine, by_distance, held, mean = measured(texts, given.pairs)
    rows = []
    for name, log in SIZES.items():
        pairs = 2.0 ** (2 * log - 1)
        ours = [
            duration(pairs / by_cosine),
            size(2.0**log * held),
            duration(pairs / by_distance),
            size(2.0 ** (log + 3)),
        ]
        rows.append([name, *ours, *PAPER[name]])
    header = ["n", "cosine: time", "memory", "Hamming: time", "memory"]
    header += ["paper: cosine, time", "memory", "Hamming, time", "memory"]
    said = (
        f"{texts.name}, {mean:.0f} different words in each on average; {by_cosine / 1e6:.2f} million cosines and "
        f"{by_distance / 1e6:,.0f} million distances in a second of one thread, {by_distance / by_cosine:,.0f} times "
        "as many (paper: 70 thousand and 268 million, 3,800 times)."
    )
    publish("psm-table1", f"{said}\n\n{table(header, rows)}", given.write)


def measured(texts: Collection, pairs: int) -> tuple[float, float, float, float]:
    """Return cosines and distances in a second, bytes of the features of a text, and how many these are."""
    shingles, rng = Shingles(width=1), np.random.default_rng(0)
    signer = Simhash(weighting="tf-idf", shingles=shingles).fit(texts.texts)
    features = shingles.extract(texts.texts, counts=True)
    weighted, sets = Similarity("cosine", weights(features, "tf-idf", signer.frequencies)), sets_of(features)[0]
    a, b = rng.integers(0, len(features), (2, pairs))
    cosines = seconds(lambda: similarities(sets, a, b, weighted, threads=1))
    signed = signer.sign(features)
    index = FlatIndex(signed)
    compared = index.within(signed, RADIUS, threads=1).counters["comparisons"]
    distances = seconds(lambda: index.within(signed, RADIUS, threads=1))
    held = (features.hashes.nbytes + 4 * len(features.hashes)) / len(features)  # a hash and a weight
    return pairs / cosines, compared / distances, held, float(np.mean(features.sizes))


def seconds(run: Callable[[], Any], repeats: int = 3) -> float:
    """Return the time of the processor, the best of some runs."""
    run()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return min(times)


def duration(seconds: float) -> str:
    """Return a time for people to read.

    >>> duration(7.2e6), duration(200)
    ('83 days', '3.3 min')
    """
    unit = next((unit for unit, length in UNITS.items() if seconds >= 2 * length), "s")
    return f"{_short(seconds / UNITS[unit])} {unit}"


def size(count: float) -> str:
    """Return a number of bytes for people to read, in units of 1024 as in the paper."""
    power = min(int(np.log2(count) // 10), 4)
    return f"{_short(count / 1024.0**power)} {('B', 'KB', 'MB', 'GB', 'TB')[power]}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


if __name__ == "__main__":
    main()
