"""Entries: signed rows with their texts and places, which go into an index or are looked up in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from sosie.documents.batch import Batch
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.search.windows import PassageReading, Places, Windows
from sosie.signatures.signer import Signer
from sosie.signatures.stream import TextKeep, stream
from sosie.storage.room import Room
from sosie.text.column import TextColumn
from sosie.types import Keys, Signatures


@dataclass(frozen=True)
class Form:
    """What entries are: signatures, with the sums behind their bits or without, or keys; of documents or of windows.

    With `texts` they keep their texts.
    """

    keys: bool = False
    volatility: bool = False
    windows: Windows | None = None
    texts: bool = False


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows with ids: `texts` and `places` have one for each, where they are at hand.

    `unsigned` counts the documents, and the passages, that have no features and so are no rows.
    """

    signed: Signatures | Keys
    texts: TextColumn | None = None
    places: Places | None = None
    unsigned: int = 0

    def __len__(self) -> int:
        return len(self.signed)


def sign_entries(
    reading: Reading,
    signer: Signer,
    form: Form,
    room: Room,
    *,
    log: RejectLog | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Entries:
    """Sign every document of a reading, or every passage of it; the texts go to the room if they are large.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> from sosie.signatures.simhash import Simhash
    >>> source, signer = Source(pa.table({"id": ["a"], "text": ["one two three"]})), Simhash().fit()
    >>> entries = sign_entries(source.batches(), signer, Form(windows=Windows(2, 1)), Room(tempfile.mkdtemp()))
    >>> entries.signed.ids.to_pylist(), entries.places.starts.tolist()
    (['a#0', 'a#1'], [0, 4])
    """
    cut = None if form.windows is None else PassageReading(reading, form.windows, room.threads)

    def after(batch: Batch) -> None:
        if log is not None:
            log.add(batch.rejects)
        advance(len(batch) + len(batch.rejects))

    with ExitStack() as stack:
        keep = stack.enter_context(TextKeep(room)) if form.texts else None
        signed = stream(
            cut or reading,
            signer,
            keys=form.keys,
            volatility=form.volatility,
            keep=keep,
            threads=room.threads,
            after=after,
        )
        texts = keep.texts() if keep else None
    if cut is None:
        return Entries(signed, texts, None, len(signed.unsigned))
    return Entries(signed, texts, cut.places(np.asarray(signed.unsigned)), cut.empty + len(signed.unsigned))
