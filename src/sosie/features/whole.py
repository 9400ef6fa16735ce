"""Whole texts: what stands for a text that is compared byte for byte, the words of a cryptographic digest of it.

Two texts have the same words if and only if they have the same bytes, as far as anybody can tell: nobody knows how to
find two texts with one digest, so no document can be made to pass for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.features.tags import NO_KEY
from sosie.kernels.sets.distinct import distinct
from sosie.kernels.text.tags import DIGEST
from sosie.text.column import TextColumn
from sosie.types import I64, U32, U64, Bools, Features, offsets_of

WORDS = 4  # of 64 bits, of BLAKE2b's 256


@dataclass(frozen=True)
class WholeText:
    """Evidence of one piece: the text as it is, without folding. As features, the words of its digest.

    Without `empty`, a text of no bytes has none: pages in which no text was found may differ all the same.

    >>> from sosie.text.column import as_column
    >>> words, offsets = WholeText().occurrences(as_column(["a", "A", "a", ""]), 0, 4)
    >>> offsets.tolist(), len(set(words.tolist()))
    ([0, 4, 8, 12, 16], 12)
    """

    empty: bool = True

    def occurrences(self, column: TextColumn, start: int, stop: int) -> tuple[U64, I64]:
        """Return the words of the digests of rows start..stop, and the rows' offsets from 0 on."""
        if not 0 <= start <= stop <= len(column):
            raise UsageError(f"rows {start}..{stop} do not lie in a column of {len(column)} texts")
        return self.words(column, column.offsets[start:stop], column.offsets[start + 1 : stop + 1])

    def tagged(self, column: TextColumn, start: int, stop: int, key: U64) -> tuple[U64, U32, I64]:
        """Return what `occurrences` does, with tags that say that these are words of digests."""
        words, offsets = self.occurrences(column, start, stop)
        return words, np.full(len(words), DIGEST, np.uint32), offsets

    def words(self, column: TextColumn, starts: I64, stops: I64) -> tuple[U64, I64]:
        """Return the words of the digests of texts, each from one byte to another, and their offsets from 0 on."""
        sizes = np.where(self.empty | (stops > starts), WORDS, 0)
        bounds = np.flatnonzero(sizes)
        data = column.data.data  # its slices are made faster than those of the array
        digests = [
            blake2b(data[start:stop], digest_size=8 * WORDS).digest()
            for start, stop in zip(starts[bounds].tolist(), stops[bounds].tolist(), strict=True)
        ]
        return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64), offsets_of(sizes)


Evidence = Shingles | WholeText


def features_of(span: RowSpan, counts: bool, stand_in: WholeText | None, key: U64 = NO_KEY) -> tuple[Features, Bools]:
    """Return the features of the rows of a span, with tags if there is a key, and which rows have none of their own.

    With a `stand_in`, the latter have the words of the digest of their texts instead, each once.
    """
    features = span.features(counts, key)
    bare = np.asarray(features.sizes == 0)
    if stand_in is None or not bare.any() or isinstance(span.batch, Features):
        return features, bare
    rows = np.flatnonzero(bare)
    starts, stops = span.batch.offsets[span.start + rows], span.batch.offsets[span.start + rows + 1]
    digests = Features(*distinct(*stand_in.words(span.batch, starts, stops), counts))
    if features.tags is not None:
        digests = replace(digests, tags=np.full(len(digests.hashes), DIGEST, np.uint32))
    places = np.arange(len(features))
    places[rows] = len(features) + np.arange(len(rows))
    return Features.joined([features, digests]).take(places), bare
