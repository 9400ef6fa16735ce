"""The SVD embedding (LSI): the points whose inner products are nearest to all cosines together (STEIN 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sosie.errors import UsageError
from sosie.signatures.embedding import MOST_FEATURES, Embedding
from sosie.types import F64


@dataclass(frozen=True, kw_only=True)
class SvdEmbedding(Embedding):
    """Latent semantic indexing: documents on the `dimensions` largest singular vectors of a collection.

    >>> texts = ["the cat sat on the mat", "a cat sat on a mat", "stock prices fell", "prices of stock fell again"]
    >>> signer = SvdEmbedding(dimensions=2).fit(texts)
    >>> a, b, c, d = signer.embed(texts)
    >>> bool(a @ b > 0.5), bool(c @ d > 0.5), bool(abs(a @ c) < 0.2)
    (True, True, True)
    """

    method: ClassVar[str] = "svd"
    version: ClassVar[int] = 1
    embedding: ClassVar[str] = "the largest singular vectors of a collection"

    def project(self, x: Any) -> F64:
        """Return V_k: the embedding of a fitted document is its row of U_k Sigma_k."""
        from sosie.signatures.decompose import singular_directions

        return singular_directions(x, self.dimensions)

    def refuse(self, documents: int, features: int) -> None:
        """Raise above 2^27 features of all documents together."""
        if features > MOST_FEATURES:
            raise UsageError(
                f"a decomposition of more than {MOST_FEATURES:,} features of documents takes minutes, and more than "
                f"{16 * MOST_FEATURES / 2**30:.0f} GiB: take a sample of the documents, as in sample=20000"
            )
