"""What every signature method shares: a spec is frozen data, a signer turns texts into bits or keys.

A spec's digest names the bits it makes. It covers every field, the method's version and the Unicode version of the
tables, and it is stored in every artefact. Golden vectors pin the bits: a change of bits is a new version.

Every method takes three steps (STEIN 2.2), and its spec names them: an *embedding* of the features in few real numbers,
a *quantisation* of these to few values, an *encoding* of the values as bits or as a key. Longer codes are more precise
(`code_length`), more codes for each document find more (`multiplicity`).
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sosie.errors import MismatchError, StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map, spans
from sosie.signatures.statistics import Statistics
from sosie.text import UNICODE_VERSION
from sosie.text.column import as_column
from sosie.types import F64, I64, U64, Features

SPAN = 1 << 18  # bytes of text that one task signs: its features stay in the cache

Occurrences = tuple[U64, I64]


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """The parameters of a signature method, as data."""

    method: ClassVar[str]
    version: ClassVar[int]
    makes: ClassVar[tuple[str, ...]] = ("signatures",)  # or keys, or both

    shingles: Shingles = Shingles()
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 1 << 32:
            raise UsageError(f"seed must be from 0 to 2^32 - 1, got {self.seed}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything that determines the bits, as JSON-ready data."""
        made_by = {"method": self.method, "version": self.version, "unicode": UNICODE_VERSION}
        return {**made_by, **asdict(self), "shingles": self.shingles.to_dict()}

    @property
    def digest(self) -> str:
        """The name of the bits that this spec makes: 32 hexadecimal digits."""
        data = self.to_dict()
        if "stop_words" in data["shingles"]:  # their digest says it all: where they come from changes no bit
            data["shingles"]["stop_words"] = {"digest": data["shingles"]["stop_words"]["digest"]}
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:32]

    @property
    @abstractmethod
    def embedding(self) -> str:
        """How features become few real numbers."""

    @property
    @abstractmethod
    def quantisation(self) -> str:
        """How each of these numbers becomes one of few values."""

    @property
    @abstractmethod
    def encoding(self) -> str:
        """How the values become bits or keys."""

    @property
    @abstractmethod
    def code_length(self) -> int:
        """How many values make a code: a longer one is more precise."""

    @property
    @abstractmethod
    def multiplicity(self) -> int:
        """How many codes a document has: with more of them, more of what is similar is found."""

    @property
    def needs_texts(self) -> bool:
        """Whether `fit` collects statistics from texts."""
        return False

    @abstractmethod
    def fit(self, texts: Any = None, *, threads: int | None = None) -> Any:
        """Return a signer; collects statistics from the texts where the method needs any, or takes them as they are."""

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> Statistics:
        """Return the statistics that were stored, which `fit` takes; their arrays cannot be written, nor trusted."""
        raise StorageError(f"{self.method} has no statistics of its own")

    def similarity(self, distances: Any, *, keys: bool = False) -> F64 | None:
        """Return the similarity that distances of signatures (or of keys: tables that differ) are an estimate of.

        None where they are an estimate of none.
        """
        return None


@dataclass(frozen=True)
class Signed:
    """What one pass over the documents made: a row for each document with features, and which documents these are."""

    rows: Any
    documents: I64
    count: int

    @property
    def unsigned(self) -> I64:
        """The numbers of the documents without features."""
        return np.setdiff1d(np.arange(self.count), self.documents, assume_unique=True)

    def ids(self, ids: Any) -> Any:
        """Return the ids of the signed documents; by default the numbers of the documents, None if all are signed."""
        if ids is None:
            return None if len(self.documents) == self.count else pa.array(self.documents)
        ids = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
        if len(ids) != self.count:
            raise MismatchError(f"{len(ids)} ids for {self.count} documents")
        return ids.take(pa.array(self.documents))


def sign_spans(texts: Any, shingles: Shingles, sign: Callable[[U64, I64], Any], threads: int | None = None) -> Signed:
    """Sign texts, or the features of texts, span by span on threads; `sign` maps CSR features to one row each."""
    offsets, occurrences = _spans_of(texts, shingles)

    def task(span: tuple[int, int]) -> tuple[Any, I64]:
        hashes, starts = occurrences(*span)
        return sign(hashes, starts), np.diff(starts)

    return _signed(task, offsets, threads)


def sign_features(
    texts: Any, shingles: Shingles, sign: Callable[[Features], Any], threads: int | None = None
) -> Signed:
    """Sign texts, or their features, as `sign_spans` does; `sign` gets distinct features, with counts where texts are.

    >>> signed = sign_features(["to be or not to be", "..."], Shingles(1), lambda features: features.sizes)
    >>> signed.rows.tolist(), signed.unsigned.tolist()
    ([4], [1])
    """
    if isinstance(texts, Features):
        offsets, rows = texts.offsets, texts.rows
    else:
        column = as_column(texts)
        offsets = column.offsets

        def rows(start: int, stop: int) -> Features:
            return Features(*distinct(*shingles.occurrences(column, start, stop), True))

    def task(span: tuple[int, int]) -> tuple[Any, I64]:
        features = rows(*span)
        return sign(features), features.sizes

    return _signed(task, offsets, threads)


def _signed(task: Callable[[tuple[int, int]], tuple[Any, I64]], offsets: I64, threads: int | None) -> Signed:
    cuts = spans(offsets, SPAN) or [(0, 0)]
    rows, sizes = zip(*ordered_map(task, cuts, threads), strict=True)
    signed, features = np.concatenate(rows), np.concatenate(sizes)
    documents = np.flatnonzero(features)
    return Signed(signed if len(documents) == len(features) else signed[documents], documents, len(features))


def _spans_of(texts: Any, shingles: Shingles) -> tuple[I64, Callable[[int, int], Occurrences]]:
    if isinstance(texts, Features):
        hashes, offsets = texts.hashes, texts.offsets

        def slices(start: int, stop: int) -> Occurrences:
            return hashes[offsets[start] : offsets[stop]], offsets[start : stop + 1] - offsets[start]

        return offsets, slices
    column = as_column(texts)
    return column.offsets, lambda start, stop: shingles.occurrences(column, start, stop)
