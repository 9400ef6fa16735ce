"""Rows of distinct features with their counts, signed span by span on threads: for methods that weigh every feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sosie.features.shingles import Shingles
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map, spans
from sosie.signatures.spec import Signed
from sosie.text.column import as_column
from sosie.types import U64, Bools, Features

SPAN = 1 << 18  # bytes of text that one task signs, or of features and signatures

Rows = tuple[U64, Bools]


def sign_weighted_rows(
    texts: Any, shingles: Shingles, sign: Callable[[Features], Rows], width: int, threads: int | None = None
) -> Signed:
    """Sign texts, or `Features`; `sign` maps them to `width` words for each row, and says which rows have a signature.

    >>> def sizes(rows):
    ...     return rows.sizes.astype(np.uint64)[:, None], rows.sizes > 1
    >>> signed = sign_weighted_rows(["to be or not to be", "", "be"], Shingles(1), sizes, 1)
    >>> signed.rows.tolist(), signed.documents.tolist(), signed.unsigned.tolist()
    ([[4]], [0], [1, 2])
    """
    sizes, features = _spans_of(texts, shingles, width)
    cuts = spans(sizes, SPAN) or [(0, 0)]
    words, signed = zip(*ordered_map(lambda span: sign(features(*span)), cuts, threads), strict=True)
    documents = np.flatnonzero(np.concatenate(signed))
    return Signed(np.concatenate(words)[documents], documents, len(sizes) - 1)


def _spans_of(texts: Any, shingles: Shingles, width: int) -> tuple[Any, Callable[[int, int], Features]]:
    if not isinstance(texts, Features):
        column = as_column(texts)
        return column.offsets, lambda start, stop: Features(*distinct(*shingles.occurrences(column, start, stop), True))

    def rows(start: int, stop: int) -> Features:
        offsets = texts.offsets[start : stop + 1]
        here = slice(offsets[0], offsets[-1])
        counts = None if texts.counts is None else texts.counts[here]
        return Features(texts.hashes[here], offsets - offsets[0], counts)

    # A row takes as much as its words do, so that many short or empty rows need no more memory than few long ones.
    return 8 * (texts.offsets + width * np.arange(len(texts.offsets))), rows
