"""One pass over the documents: their features go to a spill, their texts are let go."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from sosie.documents.batch import Reject
from sosie.documents.reading import Reading
from sosie.features.shingles import Shingles
from sosie.storage.spill import Spill
from sosie.types import I64, Features

IN_MEMORY = 1 << 28  # bytes of features; more go to disk


@dataclass(frozen=True, eq=False)
class Collection:
    """The features of all documents that could be read; row i is document number `documents[i]`."""

    features: Features
    documents: I64
    lengths: I64
    rejects: list[Reject]
    text_bytes: int

    def __len__(self) -> int:
        return len(self.documents)


def collect(
    reading: Reading,
    shingles: Shingles,
    scratch: str | os.PathLike[str],
    *,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Collection:
    """Read every document once and keep its features; `lengths` are those of the texts in characters."""
    sizes, documents, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    rejects: list[Reject] = []
    text_bytes = 0
    with Spill(scratch, np.dtype(np.uint64), memory=IN_MEMORY) as spill:
        for batch in reading:
            features = shingles.extract(batch.texts, threads=threads)
            spill.append(features.hashes)
            sizes.append(features.sizes)
            documents.append(batch.rows)
            lengths.append(pc.utf8_length(batch.texts).to_numpy(zero_copy_only=False).astype(np.int64))
            rejects.extend(batch.rejects)
            text_bytes += batch.texts.nbytes
            advance(len(batch) + len(batch.rejects))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
        collected = Features(spill.array(), offsets)  # a map of the file stays valid when its name is removed
    return Collection(collected, np.concatenate(documents), np.concatenate(lengths), rejects, text_bytes)
