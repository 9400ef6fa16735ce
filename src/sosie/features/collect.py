"""One pass over the documents: their features are kept, on disk where they are many, and their texts are let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.arrays import check_column, check_offsets, check_rows
from sosie.documents.order import join_orders
from sosie.documents.reading import LARGE_BYTES, Reading
from sosie.documents.rejects import Rejects, RejectSpill
from sosie.errors import MismatchError
from sosie.features.spans import RowSpan, cut
from sosie.features.tags import NO_KEY
from sosie.features.whole import Evidence, WholeText, features_of
from sosie.kernels.text.tags import UNKNOWN
from sosie.parallel import ordered_map
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.text.column import as_column
from sosie.types import I64, U64, Bools, Features, offsets_of

AHEAD = 16  # tasks per thread that wait while the next batch is read
CHUNK = 1 << 22  # features that are copied at a time

_NAME = "read"
_FEATURES, _COLUMNS, _REJECTS = "features.", "columns.", "rejects."
_ORDER, _NULL = "order", "order_null"


@dataclass(frozen=True, eq=False)
class Collection:
    """The features of all documents that could be read: document number `documents[i]` is row `len(before) + i`.

    The first rows are those of a reference, if there is one: `before` are the numbers of its documents. `order` holds
    the values of the column that decides who stays, None if none does. `wordless` rows have no features of their own,
    whatever stands for them.
    """

    features: Features
    documents: I64
    lengths: I64
    rejects: Rejects
    order: Any = None
    before: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    wordless: Bools = field(default_factory=lambda: np.empty(0, np.bool_))

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.before) + len(self.documents)

    @property
    def stand_ins(self) -> int:
        """How many of the features are no features of documents, but stand for those that have none."""
        return int(self.features.sizes[self.wordless].sum()) if len(self.wordless) else 0

    def numbers(self, documents: int) -> I64:
        """Return the document number of every row; those of a reference begin after the `documents` of this one."""
        return np.concatenate([self.before + documents, self.documents])


def collect(
    reading: Reading,
    shingles: Evidence,
    room: Room,
    *,
    counts: bool = False,
    whole: bool = False,
    key: U64 = NO_KEY,
    reference: tuple[Features, I64, Bools] | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Collection:
    """Read every document once and keep its features, with how often each occurs if asked for, and its length in bytes.

    Features beyond the memory of the room are in a file. With `whole`, a document without features has those of its
    bytes, unless it is a page in which no text was found. With a `key`, features have tags. The features of a reference
    come first, with the numbers of its documents and which of them are wordless.
    """
    whole_text = WholeText(empty=not reading.has_pages)
    evidence, stand_in = whole_text if isinstance(shingles, WholeText) else shingles, whole_text if whole else None
    lengths, documents, wordless = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.bool_)]
    orders: list[Any] = []

    def texts() -> Iterator[RowSpan]:
        """Read on, while threads extract what was read before."""
        for batch in reading:
            column = as_column(batch.texts)
            lengths.append(np.diff(column.offsets))
            documents.append(batch.rows)
            rejected.append(batch.rejects)
            if batch.order is not None:
                orders.append(batch.order)
            advance(len(batch) + len(batch.rejects))
            yield from cut(column, evidence)

    with FeatureSpill(room, counts, tags=len(key) > 0) as spill, RejectSpill(room) as rejected:
        if reference is not None:
            spill.append(reference[0])
            wordless.append(reference[2])
        turn = Lock()

        def extract(span: RowSpan) -> tuple[Features, Bools]:
            with turn if span.size > LARGE_BYTES else nullcontext():  # what takes much memory, one after the other
                return features_of(span, counts, stand_in, key)

        for features, bare in ordered_map(extract, texts(), room.threads, ahead=AHEAD, apart=True):
            spill.append(features)
            wordless.append(bare)
        collected, rejects = spill.features(), rejected.rejects()
    order = join_orders(orders) if reading.columns.order is not None else None
    before = np.empty(0, np.int64) if reference is None else reference[1]
    columns = (np.concatenate(documents), np.concatenate(lengths), rejects, order, before)
    return Collection(collected, *columns, wordless=np.concatenate(wordless))


def save_collection(checkpoints: Checkpoints, reading: Reading, collection: Collection) -> None:
    """Save a collection and what its reading knows, if that is worth it."""
    if not checkpoints.due():
        return
    columns = {
        **{_FEATURES + name: value for name, value in vars(collection.features).items()},
        **{_COLUMNS + name: value for name, value in vars(collection).items()},
        **{_REJECTS + name: value for name, value in vars(collection.rejects).items()},
    }
    arrays = {name: value for name, value in columns.items() if isinstance(value, np.ndarray)}
    if collection.order is not None:
        arrays[_ORDER] = collection.order.fill_null(0).to_numpy(zero_copy_only=False)
        arrays[_NULL] = collection.order.is_null().to_numpy(zero_copy_only=False)
    checkpoints.save(_NAME, {**arrays, **reading.state()})


def load_collection(checkpoints: Checkpoints, reading: Reading, *, tags: bool = False) -> Collection | None:
    """Return the collection that was saved, if there is one, and let the reading know what it knew.

    With `tags`, one whose features have none is not what is wanted.
    """
    found = checkpoints.load(_NAME)
    if found is None or (tags and _FEATURES + "tags" not in found[0]):
        return None
    arrays = found[0]
    try:
        collection = _checked(arrays)
        reading.restore(arrays)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        checkpoints.refuse(_NAME, error)
        return None
    return collection


def _checked(arrays: Mapping[str, Any]) -> Collection:
    """Return a collection that comes from a file; what does not fit raises."""
    features, rejects = Features(**_named(arrays, _FEATURES)), Rejects(**_named(arrays, _REJECTS))
    columns: dict[str, Any] = {name: np.array(array) for name, array in _named(arrays, _COLUMNS).items()}
    if _ORDER in arrays:
        columns["order"] = pa.array(arrays[_ORDER], mask=arrays[_NULL])
    made = Collection(features=features, rejects=rejects, **columns)
    read = int(arrays["counts"].sum())
    for numbers, most in ((made.documents, read), (rejects.rows, read), (made.before, None)):
        check_column("the numbers of documents", numbers, np.int64)
        check_rows("the numbers of documents", numbers, most)
    check_column("the lengths of documents", made.lengths, np.int64, len(made.documents))
    check_column("rows without words", made.wordless, np.bool_, len(made) if len(made.wordless) else 0)
    check_column("the ends of rejects", rejects.ends, np.int64, len(rejects.rows))
    check_column("rejects", rejects.lines, np.uint8)
    check_offsets("the ends of rejects", np.append(0, rejects.ends), len(rejects.lines))
    ordered = len(made.documents if made.order is None else made.order)
    if len(features) != len(made) or ordered != len(made.documents):
        raise MismatchError(f"features of {len(features)} documents, and {ordered} in order, for {len(made)}")
    return made


class FeatureSpill:
    """Features that grow row after row, with counts and tags where asked for: in memory while few, on disk beyond.

    The words of features that are appended without tags are unknown: they pass for any.

    >>> import tempfile
    >>> with FeatureSpill(Room(tempfile.mkdtemp()), counts=False) as spill:
    ...     spill.append(Features(np.array([3, 7, 5], np.uint64), np.array([0, 2, 2, 3])))
    ...     spill.features().offsets.tolist()
    [0, 2, 2, 3]
    """

    def __init__(self, room: Room, counts: bool, *, tags: bool = False) -> None:
        self._hashes = Spill(room.scratch, np.uint64, memory=room.memory, keep=room.keep)
        self._counts = Spill(room.scratch, np.int32, memory=room.memory, keep=room.keep) if counts else None
        memory = room.memory // 2  # as many as hashes, which are twice as long
        self._tags = Spill(room.scratch, np.uint32, memory=memory, keep=room.keep) if tags else None
        self._sizes: list[I64] = [np.empty(0, np.int64)]

    def __enter__(self) -> FeatureSpill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for spill in (self._hashes, self._counts, self._tags):
            if spill is not None:
                spill.close()

    def append(self, features: Features) -> None:
        """Append all rows of other features."""
        for start in range(0, len(features.hashes), CHUNK):
            here = slice(start, start + CHUNK)
            self._hashes.append(features.hashes[here])
            if self._counts is not None and features.counts is not None:
                self._counts.append(features.counts[here])
            if self._tags is not None:
                some, known = features.hashes[here], features.tags
                self._tags.append(np.full(len(some), UNKNOWN, np.uint32) if known is None else known[here])
        self._sizes.append(features.sizes)

    def features(self) -> Features:
        """Return all features; they outlive the spill."""
        counts = None if self._counts is None else self._counts.array()
        tags = None if self._tags is None else self._tags.array()
        return Features(self._hashes.array(), offsets_of(np.concatenate(self._sizes)), counts, tags)


def _named(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin with the prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
