"""Phrases: the words of a text, and the runs of a few words that stand together in it; what people search for."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sosie.errors import StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan, cut
from sosie.kernels.sets.distinct import distinct
from sosie.parallel import ordered_map
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.text import UNICODE_VERSION
from sosie.types import I64, U64, Bags, Features, offsets_of

KIND = "signer"  # in a manifest: what is needed to make rows of texts, as of signatures


@dataclass(frozen=True)
class Phrases:
    """Every run of 1 to `shingles.width` words of a text: by default its words, and its pairs of neighbouring words.

    Words are as in `Shingles`: folded, in pairs of characters where a script is written without spaces, as stems or
    without stop words if the shingles say so. Other units than words come in runs of the full width only.

    >>> bags = Phrases().bags(["the cat sat", "The cat!"])
    >>> bags.features.sizes.tolist()
    [5, 3]
    """

    method: ClassVar[str] = "words"
    version: ClassVar[int] = 1

    shingles: Shingles = Shingles(width=2)

    @property
    def digest(self) -> str:
        """The name of the features that these phrases are: 32 hexadecimal digits."""
        data = self.to_dict()
        if "stop_words" in data["shingles"]:  # their digest says it all
            data["shingles"]["stop_words"] = {"digest": data["shingles"]["stop_words"]["digest"]}
        return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return everything that determines the features, as JSON-ready data."""
        made_by = {"method": self.method, "version": self.version, "unicode": UNICODE_VERSION}
        return {**made_by, "shingles": self.shingles.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Phrases:
        """Return the phrases that `to_dict` described; others than this version would make raise."""
        try:
            phrases = cls(Shingles.from_dict(data["shingles"]))
        except UsageError as error:
            raise StorageError(str(error)) from error
        if phrases.to_dict() != data:
            raise StorageError(f"made by another version of Sosie, build it again: {data}, now {phrases.to_dict()}")
        return phrases

    def extract(self, texts: Any, *, threads: int | None = None) -> Features:
        """Return the distinct phrases of every text, sorted."""
        return Features.joined(list(ordered_map(self._span, cut(texts, self.shingles), threads)))

    def bags(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Bags:
        """Return the phrases of texts as rows of an index; texts without words are no rows, and are listed."""
        features = self.extract(texts, threads=threads)
        worded, unsigned = np.flatnonzero(features.sizes), np.flatnonzero(features.sizes == 0)
        if ids is not None:
            named = Bags(features, ids)
            ids = named.ids.take(worded)
        elif len(unsigned):
            ids = worded
        return Bags(features.take(worded), ids, self.digest, unsigned)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write what the phrases are to a directory without an artefact; `load_phrases` reads it."""
        write_artefact(directory, KIND, {}, digest=self.digest, meta={"spec": self.to_dict()})

    def _span(self, span: RowSpan) -> Features:
        parts = [RowSpan(span.batch, span.start, span.stop, each).occurrences() for each in self._widths()]
        return Features(*distinct(*_side_by_side(parts))[:2])

    def _widths(self) -> Iterator[Shingles]:
        if self.shingles.unit != "word":
            yield self.shingles
            return
        for width in range(1, self.shingles.width + 1):
            yield replace(self.shingles, width=width)


def load_phrases(directory: str | os.PathLike[str]) -> Phrases:
    """Read phrases that were saved.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Phrases(Shingles(width=1)).save(folder)
    >>> load_phrases(folder).shingles.width
    1
    """
    meta, _ = read_artefact(directory, KIND)
    try:
        phrases = Phrases.from_dict(meta["spec"])
        if phrases.digest != meta["digest"]:
            raise StorageError("the digest is not that of the phrases. Build the index again.")
    except (AttributeError, KeyError, TypeError, ValueError, StorageError) as error:
        raise StorageError(f"{directory}: does not say which phrases these are ({error}).") from error
    return phrases


def _side_by_side(parts: list[tuple[U64, I64]]) -> tuple[U64, I64]:
    """Return rows that have those of one part, then those of the next, and so on."""
    if len(parts) == 1:
        return parts[0]
    sizes = [np.diff(offsets) for _, offsets in parts]
    ends = offsets_of(np.sum(sizes, axis=0))
    joined, begins = np.empty(ends[-1], np.uint64), ends[:-1].copy()
    for (hashes, offsets), counts in zip(parts, sizes, strict=True):
        places = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], counts)
        joined[places] = hashes
        begins += counts
    return joined, ends
