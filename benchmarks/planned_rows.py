"""Rows and queries that searches are planned and run on: random, in clusters, or with bits that are mostly 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import sosie
from benchmarks.near_pairs import near_pairs
from sosie.types import U64, Signatures

SKEWS = ("uniform", "clustered", "skewed")
_CENTRES = 2000
_STEP = 1 << 18  # rows that are made at a time
_FLIPS = 4  # bits in which a near query differs from its row, at most


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are searched and what is asked: half of the queries are near one row, half are like the rows."""

    name: str
    skew: str
    rows: Signatures
    queries: Signatures

    @property
    def bits(self) -> int:
        """The width of the signatures."""
        return self.rows.bits


def generated(count: int, bits: int, skew: str, asked: int) -> Rows:
    """Return generated rows and queries, the same every time."""
    rng = np.random.default_rng([count, bits, SKEWS.index(skew)])
    words = drawn(rng, count + asked, bits, skew)
    held, queries = words[:count], words[count:].copy()
    near = held[rng.choice(count, asked // 2)]
    for step in range(_FLIPS):
        flipped = np.flatnonzero(rng.integers(0, _FLIPS + 1, len(near)) > step)
        at = rng.integers(0, bits, len(flipped))
        near[flipped, at // 64] ^= np.uint64(1) << (at % 64).astype(np.uint64)
    queries[::2] = near
    return Rows(f"{count:,} x {bits}", skew, Signatures(held, bits), Signatures(queries, bits))


def volatile(count: int, asked: int) -> Rows:
    """Return near-duplicates of 64 bits as simhash makes them, with the sums behind the bits of the queries."""
    originals, queries = near_pairs(asked, seed=4)
    words = np.random.default_rng(count).integers(0, 2**64, (count, 1), dtype=np.uint64)
    words[:asked] = originals.words
    return Rows(f"{count:,} x 64", "volatile", Signatures(words), queries)


def of_texts(path: Path, asked: int) -> Iterator[Rows]:
    """Yield texts as simhashes with the sums behind their bits, and as wide signatures; some are the queries."""
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    chosen = np.sort(np.random.default_rng(0).choice(len(texts), min(asked, len(texts) // 4), replace=False))
    kept = np.setdiff1d(np.arange(len(texts)), chosen)
    for name, spec in (("simhash", sosie.Simhash(bits=64)), ("topsig", sosie.TopSig(bits=1024))):
        signer = spec.fit(texts) if name == "topsig" else spec.fit()
        how: dict[str, Any] = {"volatility": True} if name == "simhash" else {}
        rows = signer.sign([texts[i] for i in kept.tolist()])
        queries = signer.sign([texts[i] for i in chosen.tolist()], **how)
        bare = Signatures(np.array(rows.words), rows.bits)
        asked_of = Signatures(np.array(queries.words), rows.bits, volatility=queries.volatility)
        yield Rows(f"{path.stem} {name} {len(bare):,} x {bare.bits}", "real", bare, asked_of)


def drawn(rng: np.random.Generator, count: int, bits: int, skew: str) -> U64:
    """Return random words: with even odds, in clusters of 6 to 25 % of the bits, or with half of them mostly 0."""
    words = np.empty((count, bits // 64), np.uint64)
    centres = _random(rng, _CENTRES, bits)
    for start in range(0, count, _STEP):
        part = words[start : start + _STEP]
        part[:] = _random(rng, len(part), bits)
        if skew == "clustered":
            noise = part & _random(rng, len(part), bits)
            more = rng.integers(0, 3, len(part))
            for least in (1, 2):
                some = np.flatnonzero(more >= least)
                noise[some] &= _random(rng, len(some), bits)
            part[:] = centres[rng.integers(0, _CENTRES, len(part))] ^ noise
        elif skew == "skewed":
            half = np.uint64(0xFFFFFFFF00000000)  # the upper half of each word is 0 in seven bits of eight
            part &= ~half | (_random(rng, len(part), bits) & _random(rng, len(part), bits))
    return words


def _random(rng: np.random.Generator, count: int, bits: int) -> U64:
    return rng.integers(0, 2**64, (count, bits // 64), dtype=np.uint64)
