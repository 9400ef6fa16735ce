"""The whole job beside a rensa pipeline, two threads each, reading included: row 8 of the table of speeds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
import xxhash

from benchmarks.corpus import Corpus, shingles
from benchmarks.measure import Row, best, row
from sosie.documents.source import Source
from sosie.evaluation.truth import agreement
from sosie.jobs.dedup import dedup
from sosie.matches.order import ordered_pairs
from sosie.matches.sets.join import join_features
from sosie.types import Features, Pairs

THRESHOLD = 0.8
THREADS = 2


def rows(corpus: Corpus) -> list[Row]:
    """Measure de-duplication, and say how much of the truth each side finds."""
    truth = true_pairs(corpus.texts)
    theirs, found = rensa_pairs(corpus)
    score = agreement(found, truth)
    peer = f"rensa pipeline (recall {score.recall:.3f}, precision {score.precision:.3f})"
    table = []
    for method, goal in (("exact", 9), ("minhash", None), ("simhash", None)):
        source = Source(corpus.path)
        ours = best(lambda s=source, m=method: dedup(s, THRESHOLD, method=m, threads=THREADS), 7)
        score = agreement(dedup(source, THRESHOLD, method=method, threads=THREADS).found, truth)
        default = " (the default)" if goal else ""
        detail = (
            f"{len(corpus.texts):,} documents, {corpus.name}, {len(truth):,} true pairs:"
            f" recall {score.recall:.5f}, precision {score.precision:.5f} (goal: .999, 1)"
        )
        job = f"`sosie.dedup`, {method}{default}, 2 threads, reading included"
        table.append(row(job, peer, ours, theirs, goal, detail))
    return table


def rensa_pairs(corpus: Corpus) -> tuple[float, Pairs]:
    """Return the time of the rensa pipeline and what it finds; it runs in its own process, with as many threads."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/pairs.npy"
        command = [sys.executable, "-m", "benchmarks.rensa_pipeline", str(corpus.path), file]
        environment = {**os.environ, "RAYON_NUM_THREADS": str(THREADS)}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        found = np.load(file)
    return float(done.stdout), ordered_pairs(found[:, 0], found[:, 1], distinct=False)


def true_pairs(texts: list[str]) -> Pairs:
    """Return all pairs with Jaccard >= .8 of the shingles that plain Python makes: `\\w+` of the lower-cased text."""
    hashes: list[int] = []
    offsets = [0]
    for text in texts:
        hashes += sorted({xxhash.xxh64_intdigest(shingle.encode()) for shingle in shingles(text)})
        offsets.append(len(hashes))
    return join_features(Features(np.array(hashes, np.uint64), np.array(offsets)), threshold=THRESHOLD)
