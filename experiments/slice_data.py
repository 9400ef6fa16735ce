"""The signatures that the experiments with slice lists search: random, generated on topics, or of texts."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sosie import FlatIndex, Matches, Shingles, Signatures, Simhash, TopSig

BITS = 1024
SEED = 2013


def options(description: str, count: int, queries: int) -> argparse.ArgumentParser:
    """Return the options that all scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=count, help=f"random or generated signatures ({count:,})")
    parser.add_argument("--queries", type=int, default=queries, help=f"rows that are searched for ({queries})")
    parser.add_argument("--texts", type=Path, help="Parquet with a column text: documents instead of generated ones")
    parser.add_argument("--write", action="store_true", help="write the page and the pictures in docs/")
    return parser


def random_signatures(count: int) -> Signatures:
    """Return uniform random bits."""
    rng = np.random.default_rng(SEED)
    return Signatures(rng.integers(0, 2**64, (count, BITS // 64), dtype=np.uint64), BITS, ids=np.arange(count))


def documents(given: argparse.Namespace) -> list[tuple[str, Signatures]]:
    """Return what stands for documents, with its names: the given texts, or bits generated on topics.

    Texts are signed by TopSig, as in the papers, and by simhash.
    """
    if given.texts is None:
        return [(f"{given.count:,} generated", _topical(given.count))]
    texts = pq.read_table(given.texts, columns=["text"])["text"]
    stems = Shingles(width=1, stem="porter", stop_words="english")
    specs = {"TopSig": TopSig(bits=BITS, shingles=stems)}
    specs["simhash"] = Simhash(bits=BITS, shingles=Shingles(width=1), weighting="tf-idf")
    signed = {name: spec.fit(texts).sign(texts, ids=np.arange(len(texts))) for name, spec in specs.items()}
    return [(f"{len(rows):,} texts, {name}", rows) for name, rows in signed.items()]


def _topical(count: int) -> Signatures:
    """Return rows around topics: bits differ from the topic's with 10 to 40 %, more for some rows than for others."""
    rng = np.random.default_rng(SEED)
    topics = rng.integers(0, 2**64, (max(count // 200, 1), BITS // 64), dtype=np.uint64)
    words = topics[rng.integers(0, len(topics), count)]
    for row, share in enumerate(rng.uniform(0.1, 0.4, count)):
        words[row] ^= np.packbits(rng.random(BITS) < share, bitorder="little").view(np.uint64)
    return Signatures(words, BITS, ids=np.arange(count))


def some(rows: Signatures, count: int) -> Signatures:
    """Return rows to search for."""
    return rows.take(np.sort(np.random.default_rng(SEED).choice(len(rows), min(count, len(rows)), replace=False)))


def nearest(rows: Signatures, queries: Signatures, k: int) -> Matches:
    """Return the exact answer, without the queries themselves."""
    return FlatIndex(rows).search(queries, k, exclude_self=True)
