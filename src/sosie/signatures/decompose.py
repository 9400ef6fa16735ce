"""Spectral decompositions with a fixed start and a fixed sign: what embeddings are made of.

Documents are the rows of X here, so that the papers' X is its transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import ArpackError, eigsh, svds

from sosie.errors import UsageError
from sosie.types import F64, Features

RIDGE = 1e-6  # added to the diagonal where X^+ is needed: equal documents make X X^T singular
RANK = 1e-7  # an eigenvalue of this share of the largest one counts as 0
CYCLES = 100  # restarts of the Lanczos iteration, which many equal eigenvalues can stop
WHOLE = 10_000  # rows of a matrix that is decomposed as a whole where the iteration stops
ROUNDING = 1e-12  # coordinates of a direction that close to each other are equal


def unit_rows(features: Features, weights: F64) -> Any:
    """Return the documents by their distinct features, sorted; every row has an L2 norm of 1.

    >>> rows = Features(np.array([3, 7, 3], np.uint64), np.array([0, 2, 3]))
    >>> unit_rows(rows, np.array([3.0, 4.0, 2.0])).toarray().round(6).tolist()
    [[0.6, 0.8], [1.0, 0.0]]
    """
    found, places = np.unique(features.hashes, return_inverse=True)
    x = csr_array((weights, places, features.offsets), (len(features), len(found)))
    return csr_array(diags_array(1 / np.sqrt(x.multiply(x).sum(axis=1))) @ x)


def singular_directions(x: Any, k: int) -> F64:
    """Return the k right singular vectors of X with the largest singular values, as columns: y = V_k^T x (LSI)."""
    if 2 * k < min(x.shape):
        try:
            _, values, directions = svds(x, k, v0=np.ones(min(x.shape)), maxiter=CYCLES, solver="arpack")
        except ArpackError as error:
            if min(x.shape) > WHOLE:
                raise UsageError(f"{k} dimensions cannot be told from the next ones: take more or fewer") from error
        else:
            order = np.argsort(-values, kind="stable")
            _require_rank(values[order] ** 2, k)
            return _signed(directions[order].T)
    if x.shape[1] < x.shape[0]:
        values, vectors = _largest((x.T @ x).toarray(), min(k, x.shape[1]))
        _require_rank(values, k)
        return _signed(vectors)
    values, vectors = _largest((x @ x.T).toarray(), min(k, x.shape[0]))
    _require_rank(values, k)
    return _signed(x.T @ (vectors / np.sqrt(values)))


def spectral_rows(similarity: F64, k: int) -> F64:
    """Return Y* = Q_k Lambda_k^(1/2) of a symmetric matrix, a row for each document; negative eigenvalues are cut off.

    >>> spectral_rows(np.array([[1.0, 0.0], [0.0, 4.0]]), 1).tolist()
    [[0.0], [2.0]]
    """
    values, vectors = _largest(similarity, k)
    _require_rank(values, k)
    return _signed(vectors * np.sqrt(values))


def least_squares(x: Any, gram: F64, rows: F64) -> F64:
    """Return P^T with X P^T = Y, the shortest one: X^+ Y = X^T (X X^T)^-1 Y, with a trace of ridge (STEIN Remark 5)."""
    factor = cho_factor(gram + RIDGE * np.eye(len(gram)), lower=True, overwrite_a=True)
    return np.asarray(x.T @ cho_solve(factor, rows))


def _largest(matrix: F64, k: int) -> tuple[F64, F64]:
    """Return the k largest eigenvalues, from the largest on, and their eigenvectors as columns."""
    n = len(matrix)
    found = _iterated(matrix, k) if 4 * k < n else None
    values, vectors = eigh(matrix, subset_by_index=[n - k, n - 1]) if found is None else found
    if len(values) < k:  # of many equal eigenvalues LAPACK may leave some out that were asked for
        values, vectors = (each[..., -k:] for each in eigh(matrix))
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _iterated(matrix: F64, k: int) -> tuple[F64, F64] | None:
    """Return the k largest eigenpairs by Lanczos iteration; None where many equal eigenvalues stop it."""
    try:
        values, vectors = eigsh(matrix, k, which="LA", v0=np.ones(len(matrix)), maxiter=CYCLES)
    except ArpackError:
        return None
    return values, vectors


def _require_rank(values: F64, k: int) -> None:
    rank = int((values > RANK * values[0]).sum())
    if rank < k:
        raise UsageError(f"dimensions must be at most the rank of the collection, {rank}, got {k}: take fewer")


def _signed(columns: F64) -> F64:
    """Return the columns with the sign by which the first of the largest entries is positive."""
    size = np.abs(columns)
    first = (size >= size.max(axis=0) - ROUNDING).argmax(axis=0)
    return np.asarray(columns * np.where(np.take_along_axis(columns, first[None], 0) < 0, -1.0, 1.0))
