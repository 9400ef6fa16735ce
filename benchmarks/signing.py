"""Text to signatures beside rensa, simhash and datasketch, one thread each: rows 1 and 2 of the table of speeds."""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"

import datasketch
import numpy as np
import rensa
import simhash

from benchmarks.corpus import Corpus, shingles
from benchmarks.measure import Row, best, row
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.types import Features

_SAMPLE = 2_000  # documents that the slow peers sign; their time is extrapolated


def rows(corpus: Corpus) -> list[Row]:
    """Measure signing, tokenising included, reading not."""
    count = len(corpus.texts)
    by_simhash = best(lambda: Simhash(bits=64).fit().sign(corpus.column, threads=1))
    by_minhash = best(lambda: Minhash(minima=128).fit().minima(corpus.column, threads=1))
    by_rensa = min(best(lambda: _rensa_each(corpus.texts), 3), best(lambda: _rensa_batch(corpus.texts), 3))
    scale = count / _SAMPLE
    by_package = scale * best(lambda: [simhash.Simhash(text) for text in corpus.texts[:_SAMPLE]], 1)
    by_shingles = scale * best(lambda: [simhash.Simhash(shingles(text)) for text in corpus.texts[:_SAMPLE]], 1)
    by_datasketch = scale * best(lambda: _datasketch(corpus.texts[:_SAMPLE]), 1)
    about = f"{count:,} texts, {corpus.name}; ours {by_simhash / count * 1e6:.2f} us per text"
    about_minhash = f"{count:,} texts, {corpus.name}; ours {by_minhash / count * 1e6:.2f} us per text"
    return [
        row("text -> 64-bit simhash, 3-word shingles", "rensa RMinHash(128)", by_simhash, by_rensa, 8, about),
        row(
            "text -> 64-bit simhash, 3-word shingles",
            "simhash, as it comes",
            by_simhash,
            by_package,
            400,
            f"the package tokenises by itself, into windows of 4 characters; from {_SAMPLE:,} texts",
        ),
        row(
            "text -> 64-bit simhash, 3-word shingles",
            "simhash, given the same shingles",
            by_simhash,
            by_shingles,
            None,
            f"like for like: the package is handed the 3-word shingles, far fewer features; from {_SAMPLE:,} texts",
        ),
        row(
            "text -> 128 minima, 3-word shingles",
            "rensa RMinHash(128)",
            by_minhash,
            by_rensa,
            10,
            f"{about_minhash}; largest variance over J(1-J)/K {largest_variance():.3f} (goal: at most 1.05)",
        ),
        row("text -> 128 minima, 3-word shingles", "datasketch MinHash(128)", by_minhash, by_datasketch, None, ""),
    ]


def _rensa_each(texts: list[str]) -> None:
    for text in texts:
        sketch = rensa.RMinHash(num_perm=128, seed=42)
        sketch.update(shingles(text))
        sketch.digest()


def _rensa_batch(texts: list[str]) -> None:
    rensa.RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], 128, 42)


def _datasketch(texts: list[str]) -> None:
    for text in texts:
        sketch = datasketch.MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])


def largest_variance(trials: int = 10_000) -> float:
    """Return the largest variance of the estimate of J, over J (1 - J) / K, for unions of 5 to 5,000 features."""
    signer = Minhash(minima=128).fit()
    ratios = []
    for union in (5, 20, 100, 1000, 5000):
        for similarity in (0.5, 0.8):
            shared = round(union * similarity)
            runs = min(trials, 20_000_000 // union)
            agree = np.concatenate([_agreement(signer, union, shared, part) for part in _parts(runs, union)])
            true = shared / union
            ratios.append(float(np.mean((agree - true) ** 2)) / (true * (1 - true) / 128))
    return max(ratios)


def _parts(runs: int, union: int) -> list[tuple[int, int]]:
    size = max(1, 2_000_000 // union)
    return [(start, min(size, runs - start)) for start in range(0, runs, size)]


def _agreement(signer: object, union: int, shared: int, part: tuple[int, int]) -> np.ndarray:
    """Return the share of equal minima for random pairs of sets with `shared` of `union` features in common."""
    start, runs = part
    rng = np.random.default_rng((union, shared, start))
    features = rng.integers(0, 2**64, (runs, union), dtype=np.uint64)
    left = shared + (union - shared) // 2
    a = np.sort(features[:, :left], axis=1)
    b = np.sort(np.concatenate([features[:, :shared], features[:, left:]], axis=1), axis=1)
    minima = [
        signer.minima(Features(side.ravel(), np.arange(runs + 1) * side.shape[1])).rows  # type: ignore[attr-defined]
        for side in (a, b)
    ]
    return (minima[0] == minima[1]).mean(axis=1)
