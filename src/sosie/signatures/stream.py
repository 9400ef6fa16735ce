"""Sign a stream of documents, batch by batch: only the signatures stay in memory, and what is to be kept of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.documents.batch import Batch, Batches
from sosie.features.shingles import Shingles
from sosie.kernels.text.word_spans import copy_spans
from sosie.signatures.rows import SignedRows
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.text.column import TextColumn, as_column
from sosie.types import I64, Features, Keys, Signatures, offsets_of


def stream(
    reading: Batches,
    signer: Spec | Signer,
    *,
    keys: bool = False,
    volatility: bool = False,
    keep: Keep | None = None,
    threads: int | None = None,
    after: Callable[[Batch], None] = lambda batch: None,
) -> Signatures | Keys:
    """Sign every document; ids are those of the documents, `unsigned` lists document numbers without a signature.

    `keep` keeps something of every signed document beside; `after` is called with each batch when it is signed.
    Documents of which none shares a word with the statistics of the signer are refused, however they are batched.
    """
    ready: Signer = signer.fit() if isinstance(signer, Spec) else signer
    parts: list[SignedRows] = []
    for batch in reading:
        evidence = batch.texts if keep is None else keep.evidence(batch.texts, threads)
        part = ready.rows(evidence, keys=keys, volatility=volatility, threads=threads)
        if keep is not None:
            keep.add(evidence, part.unsigned)
        parts.append(part.numbered(batch.rows))
        after(batch)
    if not parts:
        parts = [ready.rows([], keys=keys, volatility=volatility)]
    signed = SignedRows.joined(parts).recognised()
    return (ready.keyed if keys else ready.signatures)(signed, reading.ids.take(signed.documents))


class Keep(ABC):
    """What is kept of signed documents, a row of one array for each: in memory while it is small, in a room beyond."""

    def __init__(self, room: Room, kind: DTypeLike) -> None:
        self._spill = Spill(room.scratch, kind, memory=room.memory)
        self._sizes: list[I64] = [np.empty(0, np.int64)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spill.close()

    def evidence(self, texts: Any, threads: int | None) -> Any:
        """Return what is signed instead of texts, and given to `add`: the texts, unless others are kept."""
        return texts

    def add(self, evidence: Any, unsigned: I64) -> None:
        """Keep the rows of a batch, without those that have no signature."""
        values, sizes = self._cut(evidence, unsigned)
        self._spill.append(values)
        self._sizes.append(sizes)

    @abstractmethod
    def _cut(self, evidence: Any, unsigned: I64) -> tuple[NDArray[Any], I64]:
        """Return the values of the signed rows, one after the other, and how many each has."""

    def _rows(self) -> tuple[NDArray[Any], I64]:
        return self._spill.array(), offsets_of(np.concatenate(self._sizes))


class FeatureKeep(Keep):
    """Keeps the distinct features, so that pairs can be verified later; what they are is read before the room closes.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> from sosie.signatures.simhash import Simhash
    >>> texts = pa.table({"text": ["one two three four", "", "five six seven"]})
    >>> with tempfile.TemporaryDirectory() as folder, FeatureKeep(Shingles(), Room(folder)) as keep:
    ...     signed = stream(Source(texts).batches(), Simhash(), keep=keep)
    ...     keep.features().sizes.tolist()
    [2, 1]
    """

    def __init__(self, shingles: Shingles, room: Room) -> None:
        super().__init__(room, np.uint64)
        self._shingles = shingles

    def evidence(self, texts: Any, threads: int | None) -> Features:
        """Return the features of texts: each is read once."""
        return self._shingles.extract(texts, counts=True, threads=threads)

    def features(self) -> Features:
        """Return what was kept, a row for each signed document."""
        return Features(*self._rows())

    def _cut(self, evidence: Features, unsigned: I64) -> tuple[NDArray[Any], I64]:
        kept = evidence.take(np.delete(np.arange(len(evidence)), unsigned))
        return kept.hashes, kept.sizes


class TextKeep(Keep):
    """Keeps the texts, to show them.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> from sosie.signatures.simhash import Simhash
    >>> table = pa.table({"text": ["One, two.", "?", "three"]})
    >>> with tempfile.TemporaryDirectory() as folder, TextKeep(Room(folder)) as keep:
    ...     signed = stream(Source(table).batches(), Simhash(), keep=keep)
    ...     texts = keep.texts()
    >>> len(texts), texts.text(1)
    (2, 'three')
    """

    def __init__(self, room: Room) -> None:
        super().__init__(room, np.uint8)

    def texts(self) -> TextColumn:
        """Return what was kept, a text for each signed document; it stays readable when the room is closed."""
        return TextColumn(*self._rows())

    def _cut(self, evidence: Any, unsigned: I64) -> tuple[NDArray[Any], I64]:
        column = as_column(evidence)
        starts, stops = np.array(column.offsets[:-1]), np.array(column.offsets[1:])
        stops[unsigned] = starts[unsigned]
        return copy_spans(column.data, starts, stops)[0], np.delete(stops - starts, unsigned)
