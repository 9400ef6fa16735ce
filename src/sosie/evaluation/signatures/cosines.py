"""All pairs of a sample: exact cosines of the features, and Hamming distances of the signatures."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sosie.errors import UsageError
from sosie.types import F64, I32, I64, U64, Features

MOST = 20_000  # documents; the cosines of all pairs of more take gigabytes
_ROWS = 256  # of distances that are counted at a time


def cosines(features: Features, weights: F64) -> F64:
    """Return the cosine of every two rows, given the weight of each feature; 0 for a row without any.

    >>> features = Features(np.array([1, 2, 2, 7], np.uint64), np.array([0, 2, 3, 4]))
    >>> cosines(features, np.array([3.0, 4.0, 2.0, 1.0])).round(2).tolist()
    [[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _check(len(features))
    distinct, columns = np.unique(features.hashes, return_inverse=True)
    matrix = csr_array((weights, columns, features.offsets), (len(features), len(distinct)))
    norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    scale = np.divide(1.0, norms, out=np.zeros(len(features)), where=norms > 0)
    scaled = csr_array((weights * np.repeat(scale, features.sizes), columns, features.offsets), matrix.shape)
    return np.asarray(np.clip((scaled @ scaled.T).toarray(), -1.0, 1.0))


def distances(words: U64) -> I32:
    """Return the Hamming distance of every two rows.

    >>> distances(np.array([[0b011], [0b110]], np.uint64)).tolist()
    [[0, 2], [2, 0]]
    """
    _check(len(words))
    found = np.zeros((len(words), len(words)), np.int32)
    for start in range(0, len(words), _ROWS):
        part = found[start : start + _ROWS]
        for word in words.T:
            part += np.bitwise_count(word[start : start + _ROWS, None] ^ word)
    return found


def each_pair(count: int) -> tuple[I64, I64]:
    """Return every two of so many rows once, the lower row first.

    >>> [side.tolist() for side in each_pair(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    _check(count)
    return np.triu_indices(count, 1)


def _check(count: int) -> None:
    if count > MOST:
        raise UsageError(f"all pairs of {count:,} documents are too many: take a sample of up to {MOST:,}")
