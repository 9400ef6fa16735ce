"""One pass over the documents: their features go to a spill, their texts are let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sosie.documents.order import join_orders
from sosie.documents.reading import Reading
from sosie.documents.rejects import Rejects, RejectSpill
from sosie.features.shingles import Shingles
from sosie.features.spill import FeatureSpill
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map, spans
from sosie.storage.room import Room
from sosie.text.column import TextColumn, as_column
from sosie.types import I32, I64, U64, Features

SPAN = 1 << 18  # bytes of text that one task extracts
AHEAD = 16  # tasks per thread that wait while the next batch is read


@dataclass(frozen=True, eq=False)
class Collection:
    """The features of all documents that could be read: document number `documents[i]` is row `len(before) + i`.

    The first rows are those of a reference, if there is one: `before` are the numbers of its documents. `order` holds
    the values of the column that decides who stays, None if none does.
    """

    features: Features
    documents: I64
    lengths: I64
    rejects: Rejects
    order: Any = None
    before: I64 = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.before) + len(self.documents)

    def numbers(self, documents: int) -> I64:
        """Return the document number of every row; those of a reference begin after the `documents` of this one."""
        return np.concatenate([self.before + documents, self.documents])


def collect(
    reading: Reading,
    shingles: Shingles,
    room: Room,
    *,
    counts: bool = False,
    reference: tuple[Features, I64] | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Collection:
    """Read every document once and keep its features, with how often each occurs if asked for, and its length in bytes.

    Features beyond the memory of the room are in a file. The features of a reference, with the numbers of its
    documents, come first.
    """
    sizes, lengths, documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    orders: list[Any] = []

    def texts() -> Iterator[tuple[TextColumn, tuple[int, int]]]:
        """Read on, while threads extract what was read before."""
        for batch in reading:
            column = as_column(batch.texts)
            lengths.append(np.diff(column.offsets))
            documents.append(batch.rows)
            rejected.append(batch.rejects)
            if batch.order is not None:
                orders.append(batch.order)
            advance(len(batch) + len(batch.rejects))
            yield from ((column, span) for span in spans(column.offsets, SPAN))

    def extract(piece: tuple[TextColumn, tuple[int, int]]) -> tuple[U64, I64, I32 | None]:
        column, span = piece
        return distinct(*shingles.occurrences(column, *span), counts)

    with FeatureSpill(room, counts) as spill, RejectSpill(room) as rejected:
        if reference is not None:
            spill.append_features(reference[0])
        for hashes, offsets, repeats in ordered_map(extract, texts(), room.threads, ahead=AHEAD):
            spill.append(hashes, repeats)
            sizes.append(np.diff(offsets))
        features = spill.features(sizes if reference is None else [reference[0].sizes, *sizes])
        rejects = rejected.rejects()
    order = join_orders(orders) if reading.columns.order is not None else None
    before = np.empty(0, np.int64) if reference is None else reference[1]
    return Collection(features, np.concatenate(documents), np.concatenate(lengths), rejects, order, before)
