"""Entries: rows made of texts, with these and their places, which go into an index or are looked up in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from sosie.documents.batch import Batch, Batches
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.features.collect import FeatureSpill
from sosie.features.phrases import Phrases
from sosie.search.windows import PassageReading, Places, Windows
from sosie.signatures.signer import Signer
from sosie.signatures.stream import TextKeep, stream
from sosie.storage.room import Room
from sosie.text.column import TextColumn
from sosie.types import Bags, Keys, Signatures


@dataclass(frozen=True)
class Form:
    """What entries are: signatures, with the sums behind their bits or without, or keys; of documents or of windows.

    With `words` they are bags of phrases instead. With `texts` they keep their texts.
    """

    keys: bool = False
    words: bool = False
    volatility: bool = False
    windows: Windows | None = None
    texts: bool = False


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows with ids: `texts` and `places` have one for each, where they are at hand.

    `unsigned` counts the documents, and the passages, that have no features and so are no rows.
    """

    signed: Signatures | Keys | Bags
    texts: TextColumn | None = None
    places: Places | None = None
    unsigned: int = 0

    def __len__(self) -> int:
        return len(self.signed)

    def __repr__(self) -> str:
        more = [name for name, there in (("texts", self.texts), ("places", self.places)) if there is not None]
        return f"Entries({self.signed!r}{', with ' + ' and '.join(more) if more else ''})"


def sign_entries(
    reading: Reading,
    signer: Signer | Phrases,
    form: Form,
    room: Room,
    *,
    log: RejectLog | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Entries:
    """Sign every document of a reading, or every passage of it; the texts go to the room if they are large.

    With phrases instead of a signer, rows are bags of these.

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
        signed: Signatures | Keys | Bags
        if isinstance(signer, Phrases):
            signed = _gather(cut or reading, signer, room, keep, after)
        else:
            made = {"keys": form.keys, "volatility": form.volatility}
            signed = stream(cut or reading, signer, **made, keep=keep, threads=room.threads, after=after)
        texts = keep.texts() if keep else None
    if cut is None:
        return Entries(signed, texts, None, len(signed.unsigned))
    return Entries(signed, texts, cut.places(np.asarray(signed.unsigned)), cut.empty + len(signed.unsigned))


def _gather(
    reading: Batches, phrases: Phrases, room: Room, keep: TextKeep | None, after: Callable[[Batch], None]
) -> Bags:
    """Return the phrases of every document that has some; they are in the room if they are many."""
    documents, unsigned = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    with FeatureSpill(room, counts=False) as spill:
        for batch in reading:
            features = phrases.extract(batch.texts, threads=room.threads)
            worded, missing = np.flatnonzero(features.sizes), np.flatnonzero(features.sizes == 0)
            if keep is not None:
                keep.add(batch.texts, missing)
            spill.append(features.take(worded))
            documents.append(batch.rows[worded])
            unsigned.append(batch.rows[missing])
            after(batch)
        found = spill.features()
    ids = reading.ids.take(np.concatenate(documents))
    return Bags(found, ids, phrases.digest, np.concatenate(unsigned))
