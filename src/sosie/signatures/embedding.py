"""What the embeddings that are fitted to a collection share (STEIN 3): documents as points of few dimensions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sosie.errors import UsageError
from sosie.features.counts import batches_of
from sosie.features.frequencies import count_frequencies
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS, Weighting, weights
from sosie.kernels.sign.mix import drawn_words
from sosie.signatures.basis import Basis, basis_of, restored_basis
from sosie.signatures.embedding_signer import MAXIMUM_FUNCTIONS, EmbeddingSigner
from sosie.signatures.spec import Spec
from sosie.types import F64, Features

MAXIMUM_DIMENSIONS = 1024
MOST_FEATURES = 1 << 27  # of all documents that are fitted, together
LARGEST_BASIS = 4 << 30  # bytes of a projection while it is computed
NOTHING = Features(np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, kw_only=True)
class Embedding(Spec):
    """What the embeddings share: `dimensions` of the points, and how these become bits or keys.

    `sign` makes `bits` signs; `keys` makes `multiplicity` keys of `code_length` intervals, each `interval` long. Of the
    collection, `sample` documents drawn by the seed are fitted; None takes all of them.
    """

    makes: ClassVar[tuple[str, ...]] = ("signatures", "keys")
    quantisation: ClassVar[str] = "signs of random hyperplanes, or intervals of one length"
    encoding: ClassVar[str] = "bits, or a hash of the intervals"

    shingles: Shingles = Shingles(1)
    dimensions: int = 50
    weighting: Weighting = "tf-idf"
    sample: int | None = None
    bits: int = 256
    code_length: int = 24
    multiplicity: int = 20
    interval: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.dimensions <= MAXIMUM_DIMENSIONS:
            raise UsageError(f"dimensions must be from 1 to {MAXIMUM_DIMENSIONS}, got {self.dimensions}")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.sample is not None and self.sample < self.dimensions:
            raise UsageError(f"sample must be at least dimensions, {self.dimensions}, got {self.sample}")
        if not 1 <= self.bits <= MAXIMUM_FUNCTIONS:
            raise UsageError(f"bits must be from 1 to {MAXIMUM_FUNCTIONS}, got {self.bits}")
        if not (1 <= self.code_length and 1 <= self.multiplicity):
            raise UsageError(
                f"code_length and multiplicity must be at least 1, got {self.code_length} and {self.multiplicity}"
            )
        if self.code_length * self.multiplicity > MAXIMUM_FUNCTIONS:
            raise UsageError(f"code_length * multiplicity must be at most {MAXIMUM_FUNCTIONS}")
        if not 2.0**-10 <= self.interval <= 2.0**10:
            raise UsageError(f"interval must be from 2^-10 to 2^10, got {self.interval}")

    @property
    def needs_texts(self) -> bool:
        """Embeddings are fitted to a collection."""
        return True

    def fit(self, texts: Any = None, *, threads: int | None = None) -> EmbeddingSigner:
        """Return a signer fitted to texts, `Features` with counts, a `Source` or a `Reading`, or given a `Basis`."""
        if texts is None or isinstance(texts, Basis):
            return EmbeddingSigner(self, texts)
        batches = extracted(texts, self.shingles, threads)
        features = sampled(batches if self.sample else self._affordable(batches), self.sample, self.seed)
        self.refuse(len(features), len(features.hashes))
        return EmbeddingSigner(self, self._basis(features))

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> Basis:
        """Return the basis that was stored."""
        return restored_basis(meta, arrays)

    @abstractmethod
    def project(self, x: Any) -> F64:
        """Return P^T, a row for each column of X; the rows of X are documents of L2 norm 1."""

    @abstractmethod
    def refuse(self, documents: int, features: int) -> None:
        """Raise if so many documents, of so many features together, cost too much."""

    def _affordable(self, batches: Iterable[Features]) -> Iterator[Features]:
        documents = features = 0
        for batch in batches:
            documents += int(np.count_nonzero(batch.sizes))
            features += len(batch.hashes)
            self.refuse(documents, features)
            yield batch

    def _basis(self, features: Features) -> Basis:
        from sosie.signatures.decompose import unit_rows  # SciPy, which only fitting needs

        if self.dimensions > len(features):
            raise UsageError(
                f"dimensions must be at most the number of documents with features, {len(features)}, got "
                f"{self.dimensions}: take fewer dimensions, or fit a larger collection"
            )
        frequencies = count_frequencies([features])
        if (size := 8 * len(frequencies) * self.dimensions) > LARGEST_BASIS:
            raise UsageError(
                f"a projection of {len(frequencies):,} features on {self.dimensions} dimensions takes "
                f"{size / 2**30:,.1f} GiB: take fewer dimensions, narrower shingles, or a sample, as in sample=2000"
            )
        return basis_of(frequencies, self.project(unit_rows(features, weights(features, self.weighting, frequencies))))


def extracted(collection: Any, shingles: Shingles, threads: int | None = None) -> Iterator[Features]:
    """Yield the features, with term counts, of texts, `Features`, a `Source` or a `Reading`, batch by batch."""
    for batch in batches_of(collection, threads):
        features = batch if isinstance(batch, Features) else shingles.extract(batch, counts=True, threads=threads)
        if features.counts is None:
            raise UsageError("an embedding needs term counts: extract the features with counts=True")
        yield features


def sampled(batches: Iterable[Features], sample: int | None, seed: int) -> Features:
    """Return the features of all documents that have some, or of `sample` of them: the same ones however it is cut.

    >>> rows = Features(np.arange(9, dtype=np.uint64), np.arange(0, 10, 3), np.ones(9, np.int32))
    >>> sampled([rows], 2, seed=0).hashes.tolist()
    [3, 4, 5, 6, 7, 8]
    """
    held: list[Features] = []
    ranks, first = np.empty(0, np.uint64), 0
    for batch in batches:
        held.append(batch.take(np.flatnonzero(batch.sizes)))
        if sample is not None:
            ranks = np.concatenate([ranks, drawn_words(first + np.flatnonzero(batch.sizes), seed)])
            chosen = np.sort(np.argsort(ranks, kind="stable")[:sample])
            held, ranks = [Features.joined(held).take(chosen)], ranks[chosen]
        first += len(batch)
    return Features.joined(held) if held else NOTHING
