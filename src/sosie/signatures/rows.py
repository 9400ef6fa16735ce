"""From texts, or their features, to rows: cut into spans and signed on threads, in the same way for every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sosie.errors import DataError, MismatchError
from sosie.features.shingles import Shingles
from sosie.features.spans import SPAN as SPAN
from sosie.features.spans import RowSpan, cut
from sosie.parallel import ordered_map
from sosie.types import F32, I64, U64, Bools

FUNCTIONS = 64  # values of functions that a word of `width` stands for: 16 MB of a span at most


class UnknownVocabularyError(DataError):
    """Texts share nothing with the statistics of their signer."""

    def __init__(self, documents: int) -> None:
        super().__init__(
            f"no word of these {documents:,} documents is known to the statistics of their signer: "
            "fit to texts like these, with the same shingles, or name their language"
        )


class Made(NamedTuple):
    """What a method made of a span: a row for each document, and which documents have features.

    `signed` says which documents have a signature, where that is not the same; `known` whether the statistics of the
    signer know any feature of the span; `sums` are those behind the bits, where they were asked for.
    """

    rows: Any
    worded: Bools
    signed: Bools | None = None
    known: bool = True
    sums: F32 | None = None


@dataclass(frozen=True, eq=False)
class SignedRows:
    """What was made of some documents: `rows[i]` is that of document `documents[i]`; `unsigned` have none.

    `worded` says whether any document has features, `known` whether the statistics of the signer know any of these.
    """

    rows: Any
    documents: I64
    unsigned: I64
    worded: bool
    known: bool
    sums: F32 | None = None

    @classmethod
    def joined(cls, parts: Sequence[SignedRows]) -> SignedRows:
        """Return what was made of one batch after the other; there is at least one."""
        sums = [part.sums for part in parts if part.sums is not None]
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.documents for part in parts]),
            np.concatenate([part.unsigned for part in parts]),
            any(part.worded for part in parts),
            any(part.worded and part.known for part in parts),
            np.concatenate(sums) if sums else None,
        )

    def numbered(self, numbers: I64) -> SignedRows:
        """Return the same rows of other documents: what was document i is `numbers[i]`."""
        return replace(self, documents=numbers[self.documents], unsigned=numbers[self.unsigned])

    def recognised(self) -> SignedRows:
        """Return the same, unless documents have features and the statistics know none of them."""
        if self.worded and not self.known:
            raise UnknownVocabularyError(len(self.documents) + len(self.unsigned))
        return self

    def ids(self, ids: Any) -> Any:
        """Return the ids of the signed documents; by default the numbers of the documents, None if all are signed."""
        if ids is None:
            return pa.array(self.documents) if len(self.unsigned) else None
        ids = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
        if len(ids) != (count := len(self.documents) + len(self.unsigned)):
            raise MismatchError(f"{len(ids)} ids for {count} documents")
        return ids.take(pa.array(self.documents))


def sign_rows(
    texts: Any, shingles: Shingles, sign: Callable[[RowSpan], Made], *, width: int, threads: int | None = None
) -> SignedRows:
    """Sign texts, or `Features`, span by span on threads; `sign` takes occurrences or features of a span, as it needs.

    A row takes `width` words while it is signed, so that spans of many short or empty texts are bounded, too.

    >>> def sizes(span):
    ...     features = span.features()
    ...     return Made(features.sizes, features.sizes > 0)
    >>> signed = sign_rows(["to be or not to be", "..."], Shingles(1), sizes, width=1)
    >>> signed.rows.tolist(), signed.documents.tolist(), signed.unsigned.tolist()
    ([4], [0], [1])
    """
    parts = list(ordered_map(sign, cut(texts, shingles, SPAN, width=width), threads))
    worded = np.concatenate([part.worded for part in parts])
    signed = np.concatenate([part.worded if part.signed is None else part.signed for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    sums = np.concatenate([part.sums for part in parts]) if parts[0].sums is not None else None
    documents = np.flatnonzero(signed)
    if len(documents) < len(signed):
        rows, sums = rows[documents], None if sums is None else sums[documents]
    known = any(part.known for part in parts)
    return SignedRows(rows, documents, np.flatnonzero(~signed), bool(worded.any()), known, sums)


def trimmed(words: U64, bits: int) -> U64:
    """Return words with the padding beyond so many bits set to 0, in place."""
    if bits % 64:
        words[:, -1] &= np.uint64((1 << bits % 64) - 1)
    return words


def scaled(sums: I64, weights: I64, sizes: I64, spread: float = 1.0) -> F32:
    """Return the sums of each row over the L2 norm of its weights, `sizes[row]` of them, and over a spread.

    >>> scaled(np.array([[10, -5]]), np.array([3, 4]), np.array([2])).tolist()
    [[2.0, -1.0]]
    """
    # Each row is summed by itself: differences of running sums would depend on the rows before it.
    row = np.repeat(np.arange(len(sums)), sizes)
    squares = np.bincount(row, weights.astype(np.float64) ** 2, minlength=len(sums))
    norms = spread * np.sqrt(np.maximum(squares, 1.0))
    return (sums / norms[:, None]).astype(np.float32)
