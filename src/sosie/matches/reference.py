"""A reference: what documents are held against, and of which nothing is dropped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import MismatchError, UsageError
from sosie.features.collect import collect
from sosie.features.shingles import Shingles
from sosie.signatures.files import load_features
from sosie.storage.manifest import MANIFEST, artefact_kind
from sosie.storage.room import Room
from sosie.types import I64, Features


@dataclass(frozen=True, eq=False)
class Reference:
    """What documents are held against: a `Source`, paths, a table, or a directory that `sosie sign --features` wrote.

    With `only`, documents are compared with the reference alone, and not with each other.
    """

    documents: Any
    only: bool = False

    def open(self, threads: int | None = None) -> OpenReference:
        """List the inputs; nothing is read yet."""
        documents = self.documents
        if is_stored(documents):
            return OpenReference(self.only, directory=Path(documents))
        source = documents if isinstance(documents, Source) else Source(documents)
        return OpenReference(self.only, source, source.batches(threads))


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
        self, shingles: Shingles, room: Room, *, counts: bool, advance: Callable[[int], None] = lambda count: None
    ) -> HeldReference:
        """Read the features of all documents of the reference."""
        if self.directory is not None:
            return self._stored(shingles, counts)
        assert self.reading is not None
        found = collect(self.reading, shingles, room, counts=counts, advance=advance)
        inputs = [place.title or str(place.path) for place in self.reading.inputs]
        held = HeldReference(found.features, found.documents, self.reading.documents, self.reading.ids.take, inputs)
        return held.of(self, rejected=len(found.rejects))

    def _stored(self, shingles: Shingles, counts: bool) -> HeldReference:
        assert self.directory is not None
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
    """

    features: Features
    documents: I64
    total: int
    ids: Callable[[I64], Any] = field(repr=False)
    inputs: list[str]
    only: bool = False
    rejected: int = 0
    reading: Reading | None = None

    def of(self, opened: OpenReference, rejected: int = 0) -> HeldReference:
        """Return what is held together with how it was opened."""
        fields = (self.features, self.documents, self.total, self.ids, self.inputs)
        return HeldReference(*fields, opened.only, rejected, opened.reading)
