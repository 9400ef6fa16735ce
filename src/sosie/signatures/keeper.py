"""Signers that keep what they sign: the features, so that pairs can be verified later, or the texts, to show them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from sosie.features.spill import FeatureSpill
from sosie.kernels.text.word_spans import copy_spans
from sosie.signatures.key_columns import features_of
from sosie.signatures.signer import Signer
from sosie.signatures.statistics import UnknownVocabularyError
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.text.column import TextColumn, as_column
from sosie.types import I64, Features, Keys, Signatures, offsets_of


class FeatureKeeper:
    """Signs like `signer`; the distinct features of all signed documents go to a spill in a room.

    >>> import tempfile
    >>> from sosie.signatures.simhash import Simhash
    >>> with tempfile.TemporaryDirectory() as folder, FeatureKeeper(Simhash().fit(), Room(folder)) as keeper:
    ...     signed = [keeper.sign(["one two three four", ""]), keeper.sign(["five six seven"])]
    ...     keeper.features().sizes.tolist()
    [2, 1]
    """

    def __init__(self, signer: Signer, room: Room) -> None:
        self._signer: Any = signer
        self._spill = FeatureSpill(room, counts=False)
        self._sizes: list[I64] = [np.empty(0, np.int64)]

    def __enter__(self) -> FeatureKeeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spill.__exit__(kind, error, trace)

    @property
    def digest(self) -> str:
        """The digest of the signer."""
        return str(self._signer.digest)

    def sign(self, texts: Any, *, threads: int | None = None, **options: Any) -> Signatures:
        """Sign texts and keep their features."""
        signed: Signatures = self._kept(self._signer.sign, texts, threads, **options)
        return signed

    def keys(self, texts: Any, *, threads: int | None = None) -> Keys:
        """Make the keys of texts and keep their features."""
        keys: Keys = self._kept(self._signer.keys, texts, threads)
        return keys

    def features(self) -> Features:
        """Return what was kept, a row for each signed document; documents without features have none."""
        return self._spill.features(self._sizes)

    def _kept(self, make: Callable[..., Any], texts: Any, threads: int | None, **options: Any) -> Any:
        features: Features = self._signer.spec.shingles.extract(texts, counts=True, threads=threads)
        try:
            signed = make(features, threads=threads, **options)
        except UnknownVocabularyError as error:
            self._keep(features, error.signed.unsigned)
            raise
        self._keep(features, signed.unsigned)
        return signed

    def _keep(self, features: Features, unsigned: I64) -> None:
        if features.sizes[unsigned].any():  # features of which the signer knows none
            features = features_of(features, np.delete(np.arange(len(features)), unsigned))
        self._spill.append(features.hashes)
        self._sizes.append(features.sizes[features.sizes > 0])


class TextKeeper:
    """Signs like `signer`; the texts of all documents that have a signature go to a spill in a room.

    >>> import tempfile
    >>> from sosie.signatures.simhash import Simhash
    >>> with tempfile.TemporaryDirectory() as folder, TextKeeper(Simhash().fit(), Room(folder)) as keeper:
    ...     signed = [keeper.sign(["One, two.", "?"]), keeper.sign(["three"])]
    ...     texts = keeper.texts()
    >>> len(texts), texts.text(1)
    (2, 'three')
    """

    def __init__(self, signer: Signer, room: Room) -> None:
        self._signer: Any = signer
        self._spill = Spill(room.scratch, np.uint8, memory=room.memory)
        self._sizes: list[I64] = [np.empty(0, np.int64)]

    def __enter__(self) -> TextKeeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spill.__exit__(kind, error, trace)

    @property
    def digest(self) -> str:
        """The digest of the signer."""
        return str(self._signer.digest)

    def sign(self, texts: Any, *, threads: int | None = None, **options: Any) -> Signatures:
        """Sign texts and keep them."""
        signed: Signatures = self._signer.sign(texts, threads=threads, **options)
        self._keep(texts, signed.unsigned)
        return signed

    def keys(self, texts: Any, *, threads: int | None = None) -> Keys:
        """Make the keys of texts and keep the texts."""
        keys: Keys = self._signer.keys(texts, threads=threads)
        self._keep(texts, keys.unsigned)
        return keys

    def texts(self) -> TextColumn:
        """Return what was kept, a text for each signed document; it stays readable when the keeper is closed."""
        return TextColumn(self._spill.array(), offsets_of(np.concatenate(self._sizes)))

    def _keep(self, texts: Any, unsigned: I64) -> None:
        column = as_column(texts)
        starts, stops = np.array(column.offsets[:-1]), np.array(column.offsets[1:])
        stops[unsigned] = starts[unsigned]
        self._spill.append(copy_spans(column.data, starts, stops)[0])
        self._sizes.append(np.delete(stops - starts, unsigned))
