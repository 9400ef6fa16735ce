"""One pass over the documents: their features go to a spill, their texts are let go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.documents.batch import Reject
from sosie.documents.order_column import join_orders
from sosie.documents.reading import Reading
from sosie.features.shingles import Shingles
from sosie.kernels.distinct import distinct
from sosie.kernels.parallel import ordered_map, spans
from sosie.storage.spill import Spill
from sosie.text.column import TextColumn, as_column
from sosie.types import I64, U64, Features

IN_MEMORY = 1 << 28  # bytes of features; more go to disk
SPAN = 1 << 18  # bytes of text that one task extracts
AHEAD = 16  # tasks per thread that wait while the next batch is read


@dataclass(frozen=True, eq=False)
class Collection:
    """The features of all documents that could be read; row i is document number `documents[i]`.

    `order` holds the values of the column that decides who stays, None if none does.
    """

    features: Features
    documents: I64
    lengths: I64
    rejects: list[Reject]
    order: Any = None

    def __len__(self) -> int:
        return len(self.documents)


def collect(
    reading: Reading,
    shingles: Shingles,
    scratch: str | os.PathLike[str],
    *,
    memory: int = IN_MEMORY,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
    keep: bool = False,
) -> Collection:
    """Read every document once and keep its features and the length of its text in bytes.

    Features beyond `memory` bytes are in a file of `scratch`. It has no name when this is done, and so vanishes with
    the process; with `keep` it stays.
    """
    sizes, lengths, documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    rejects: list[Reject] = []
    orders: list[Any] = []

    def texts() -> Iterator[tuple[TextColumn, tuple[int, int]]]:
        """Read on, while threads extract what was read before."""
        for batch in reading:
            column = as_column(batch.texts)
            lengths.append(np.diff(column.offsets))
            documents.append(batch.rows)
            rejects.extend(batch.rejects)
            if batch.order is not None:
                orders.append(batch.order)
            advance(len(batch) + len(batch.rejects))
            yield from ((column, span) for span in spans(column.offsets, SPAN))

    def extract(piece: tuple[TextColumn, tuple[int, int]]) -> tuple[U64, I64, object]:
        column, span = piece
        return distinct(*shingles.occurrences(column, *span), False)

    with Spill(scratch, np.dtype(np.uint64), memory=memory, keep=keep) as spill:
        for hashes, offsets, _ in ordered_map(extract, texts(), threads, ahead=AHEAD):
            spill.append(hashes)
            sizes.append(np.diff(offsets))
        features = spill.array()  # a map of the file stays valid when its name is removed
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
    order = join_orders(orders) if reading.columns.order is not None else None
    return Collection(Features(features, ends), np.concatenate(documents), np.concatenate(lengths), rejects, order)
