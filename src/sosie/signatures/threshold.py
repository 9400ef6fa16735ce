"""The threshold-optimum embedding Y*: only what is above a similarity matters (STEIN 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.signatures.embedding import Embedding
from sosie.types import F64

MOST_DOCUMENTS = 10_000
MATRICES = 4  # n x n matrices that are held at a time: cosines, thresholded ones, and copies of both


@dataclass(frozen=True, kw_only=True)
class ThresholdEmbedding(Embedding):
    """Points whose inner product is near 1 for documents of a cosine above `theta`, near `vartheta` for others.

    The cosines of a collection are thresholded by two tanh that meet at (theta, 1/2), the lower one from vartheta on,
    with slopes of their own; the points are the `dimensions` largest eigenvectors of what results. An inner product
    above 1/2 means: the cosine is above theta (STEIN Remark 4). New documents are placed by a projection (Remark 5).

    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "stock prices fell", "stock prices fell sharply"]
    >>> spec = ThresholdEmbedding(dimensions=3, theta=0.6)
    >>> points = spec.fit(texts).embed(texts)
    >>> (points @ points.T > 0.5).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    """

    method: ClassVar[str] = "threshold"
    version: ClassVar[int] = 1
    embedding: ClassVar[str] = "the largest eigenvectors of the thresholded cosines of a collection"

    theta: float = 0.8
    vartheta: float = 0.1
    lower_slope: float = 40.0
    upper_slope: float = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.theta < 1:
            raise UsageError(f"theta must be between 0 and 1, got {self.theta}")
        if not 0 <= self.vartheta < min(self.theta, 0.5):
            raise UsageError(f"vartheta must be from 0 to less than theta and 1/2, got {self.vartheta}")
        for name in ("lower_slope", "upper_slope"):
            if not 0 < getattr(self, name) <= 1000:
                raise UsageError(f"{name} must be greater than 0 and at most 1000, got {getattr(self, name)}")

    def thresholded(self, cosines: Any) -> F64:
        """Return f(s): from vartheta at 0 by tanh to 1/2 at theta, and by another tanh to 1 at 1.

        >>> ThresholdEmbedding(theta=0.8, vartheta=0.1).thresholded([0, 0.5, 0.8, 1]).round(3).tolist()
        [0.1, 0.1, 0.5, 1.0]
        """
        s, theta = np.asarray(cosines, np.float64), self.theta
        below = 1 + np.tanh(self.lower_slope * (s - theta)) / np.tanh(self.lower_slope * theta)
        above = np.tanh(self.upper_slope * (s - theta)) / np.tanh(self.upper_slope * (1 - theta))
        return np.asarray(np.where(s < theta, self.vartheta + (0.5 - self.vartheta) * below, 0.5 + 0.5 * above))

    def project(self, x: Any) -> F64:
        """Return P^T, by which the documents of X get the points of Y*."""
        from sosie.signatures.decompose import least_squares, spectral_rows

        cosines = (x @ x.T).toarray()
        return least_squares(x, cosines, spectral_rows(self.thresholded(cosines), self.dimensions))

    def refuse(self, documents: int, features: int) -> None:
        """Raise above 10,000 documents: the matrix of their similarities grows with their square."""
        if documents > MOST_DOCUMENTS:
            size = MATRICES * 8 * MOST_DOCUMENTS**2 / 2**30
            raise UsageError(
                f"the similarities of more than {MOST_DOCUMENTS:,} documents take more than {size:.1f} GiB, and time "
                "with the cube of their number: take a sample of them, as in sample=2000"
            )
