"""The peer of row 8, in a process of its own with two threads: rensa from a Parquet file to judged pairs.

usage: python -m benchmarks.rensa_pipeline TEXTS.parquet PAIRS.npy        prints the best time in seconds
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet as pq
import rensa

from benchmarks.corpus import shingles
from benchmarks.measure import best

THRESHOLD = 0.8


def pairs(path: str) -> np.ndarray:
    """Find pairs as users of rensa do: sketches, LSH with 16 bands, the estimate as the judge."""
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    sketches = rensa.RMinHash.from_token_sets([shingles(text) for text in texts], 128, 42)
    index = rensa.RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
    index.insert_many(sketches)
    found = [
        (i, j)
        for i, near in enumerate(index.query_all(sketches))
        for j in near
        if i < j and sketches[i].jaccard(sketches[j]) >= THRESHOLD
    ]
    return np.array(found, np.int64).reshape(-1, 2)


if __name__ == "__main__":
    np.save(sys.argv[2], pairs(sys.argv[1]))
    print(best(lambda: pairs(sys.argv[1]), 3))
