"""A reference: what documents are held against, and of which nothing is dropped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.reading import Reading
from sosie.documents.source import Source, as_source
from sosie.errors import MismatchError, UsageError
from sosie.features.collect import collect
from sosie.features.tags import NO_KEY
from sosie.features.whole import Evidence, WholeText
from sosie.signatures.files import load_features
from sosie.storage.manifest import MANIFEST, artefact_kind
from sosie.storage.room import Room
from sosie.types import I64, U64, Bools, Features


@dataclass(frozen=True, eq=False)
class Reference:
    """What documents are held against: what a `Source` is made of, or a directory that `sosie sign --features` wrote.

    With `only`, documents are compared with the reference alone, and not with each other. Stored features are hashes:
    with texts, documents are compared by their words as well, so that no one can forge a document of the reference.
    """

    documents: Any
    only: bool = False

    def open(self, threads: int | None = None, memory: int | None = None) -> OpenReference:
        """List the inputs; nothing is read yet. What `memory`, in bytes, is too little for will be rejected."""
        documents = self.documents
        if is_stored(documents):
            return OpenReference(self.only, directory=Path(documents))
        source = as_source(documents)
        return OpenReference(self.only, source, source.batches(threads, memory=memory))


def is_stored(documents: Any) -> bool:
    """Whether this is a directory that Sosie wrote, rather than one of documents."""
    return isinstance(documents, str | os.PathLike) and artefact_kind(documents) is not None


def as_reference(against: Any) -> Reference:
    """Return a reference, made of whatever documents are made of."""
    return against if isinstance(against, Reference) else Reference(against)


@dataclass(frozen=True, eq=False)
class OpenReference:
    """A reference that can be read: either a source with its reading, or a directory with stored features."""

    only: bool
    source: Source | None = None
    reading: Reading | None = None
    directory: Path | None = None

    def hold(
        self,
        shingles: Evidence,
        room: Room,
        *,
        counts: bool,
        whole: bool = False,
        key: U64 = NO_KEY,
        advance: Callable[[int], None] = lambda count: None,
    ) -> HeldReference:
        """Read the features of all documents of the reference; with `whole`, one without has those of its bytes.

        With a `key`, they have tags; but for those that are stored, whose words are not at hand.
        """
        if self.directory is not None:
            return self._stored(shingles, counts)
        assert self.reading is not None
        found = collect(self.reading, shingles, room, counts=counts, whole=whole, key=key, advance=advance)
        inputs = [place.title or str(place.path) for place in self.reading.inputs]
        held = HeldReference(found.features, found.documents, self.reading.documents, self.reading.ids.take, inputs)
        return replace(held.of(self, rejected=len(found.rejects)), wordless=found.wordless)

    def _stored(self, shingles: Evidence, counts: bool) -> HeldReference:
        assert self.directory is not None
        if isinstance(shingles, WholeText):
            raise UsageError(f"{self.directory}: holds features, and texts are compared byte for byte. Give the texts.")
        features, ids, made_of = load_features(self.directory)
        if made_of != shingles:
            changed = f", where {shingles.stop_words} holds other words now" if str(made_of) == str(shingles) else ""
            raise MismatchError(
                f"{self.directory}: holds features of {made_of}, and the documents are compared by {shingles}{changed}."
                " Sign the reference again, or compare by its shingles."
            )
        if counts:
            raise UsageError(f"{self.directory}: holds no term counts, which weights need. Give the texts instead.")
        held = HeldReference(
            features, np.arange(len(ids)), len(ids), lambda rows: ids.take(pa.array(rows)), [str(self.directory)]
        )
        return held.of(self)

    @property
    def paths(self) -> list[str | os.PathLike[str]]:
        """The files of the reference."""
        if self.reading is None:
            assert self.directory is not None
            return [self.directory / MANIFEST]
        return [] if self.reading.table is not None else [place.path for place in self.reading.inputs]

    def described(self) -> Any:
        """Return what tells a stored reference from another."""
        return None if self.directory is None else json.loads((self.directory / MANIFEST).read_bytes())


@dataclass(frozen=True, eq=False)
class HeldReference:
    """The features of a reference: row i is its document number `documents[i]`, of `total`.

    `ids` gives the ids of document numbers. The texts can be read again by `reading`, None where they are not at hand.
    `wordless` rows have no features of their own, whatever stands for them.
    """

    features: Features
    documents: I64
    total: int
    ids: Callable[[I64], Any] = field(repr=False)
    inputs: list[str]
    only: bool = False
    rejected: int = 0
    reading: Reading | None = None
    wordless: Bools = field(default_factory=lambda: np.empty(0, np.bool_), repr=False)

    def __post_init__(self) -> None:
        if not len(self.wordless):
            object.__setattr__(self, "wordless", np.asarray(self.features.sizes == 0))

    def of(self, opened: OpenReference, rejected: int = 0) -> HeldReference:
        """Return what is held together with how it was opened."""
        fields = (self.features, self.documents, self.total, self.ids, self.inputs)
        return HeldReference(*fields, opened.only, rejected, opened.reading)
