"""The contract of every Hamming index."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from sosie.errors import MismatchError, StorageError, UsageError
from sosie.index.exclude import lowest, nearest, without_self
from sosie.index.files import State, write_index
from sosie.index.ids import RowIds
from sosie.types import I64, U64, Matches, Signatures


class Index(ABC):
    """Signatures that can be searched by Hamming distance.

    - **Rows** are numbered from 0 in the order of adding and keep their numbers when others are removed.
      `len(index)` is the number of rows that are present.
    - **Near** means `distance <= radius`. Matches of a query are ordered by (distance, row); ties go to the lower row.
    - **Results are ragged** (`Matches`): `search` gives k rows for every query, or all rows if there are fewer;
      `within` gives as many as there are, possibly none. An index without rows gives empty results.
    - **Ids** travel with the rows: `matches.ids`. Rows added without ids go on being numbered. Adding an id that is
      present raises `MismatchError`, and so does removing one that is not; then nothing has changed.
    - **Widths and specs** are checked before any comparison: other bits, or another known digest, raise
      `MismatchError`. A k below 1 or a radius outside 0..bits raises `UsageError`.
    - **Threads** (None: all cores) never change a result. Searches may run side by side, but not beside `add` or
      `remove`.
    - **Counters** tell the work: `comparisons` is the number of rows that had to be looked at, over all queries.
    - **Recall** is stated: `matches.recall` is the share of the exact answer that is to be expected, 1 where the answer
      is exact, None where nothing is known.

    An implementation builds on the hooks `_append`, `_forget`, `_top`, `_near` and `_words`, which may rely on checked
    arguments and on at least one row and one query; `_state` and `_restore` let it be saved. An approximate index
    documents which part of this it relaxes.
    """

    def __init__(self, signatures: Signatures) -> None:
        self._bits = signatures.bits
        self._digest = signatures.digest
        self._ids = RowIds()
        self._removed = np.empty(0, np.int64)
        self.add(signatures)

    def __len__(self) -> int:
        return len(self._ids) - len(self._removed)

    @property
    def bits(self) -> int:
        """The width of the signatures."""
        return self._bits

    @property
    def digest(self) -> str | None:
        """The spec that made the signatures, None if unknown."""
        return self._digest

    @property
    def ids(self) -> Any:
        """The id of every row that was ever added, by row number, as an Arrow array."""
        return self._ids.all

    @property
    def row_ids(self) -> RowIds:
        """What knows the rows by their ids."""
        return self._ids

    @property
    def signatures(self) -> Signatures:
        """The rows that are present, with their ids, in order."""
        rows = np.delete(np.arange(len(self._ids)), self._removed)
        return Signatures(self._words()[rows], self.bits, self._ids.of(rows), self.digest)

    def search(self, queries: Signatures, k: int, *, exclude_self: bool = False, threads: int | None = None) -> Matches:
        """Return the k nearest rows of each query; with `exclude_self`, of those that have another id than it."""
        self._check(queries)
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        if not len(self) or not len(queries):
            return self._nothing(len(queries))
        found = self._named(self._top(queries, min(k + exclude_self, len(self)), threads))
        return nearest(without_self(found, queries.ids), k) if exclude_self else found

    def within(
        self,
        queries: Signatures,
        radius: int,
        *,
        first: bool = False,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return all rows at most `radius` away from each query; with `first`, only the one with the lowest row.

        With `exclude_self`, rows that have the id of the query do not count.
        """
        self._check(queries)
        if not 0 <= radius <= self.bits:
            raise UsageError(f"radius must be between 0 and {self.bits}, got {radius}")
        if not len(self) or not len(queries):
            return self._nothing(len(queries))
        found = self._named(self._near(queries, radius, first and not exclude_self, threads))
        if not exclude_self:
            return found
        found = without_self(found, queries.ids)
        return lowest(found) if first else found

    def add(self, signatures: Signatures) -> None:
        """Append rows; they are found at once."""
        self._check(signatures)
        self._ids.add(signatures.ids)
        if len(signatures):
            self._append(signatures.words)

    def remove(self, ids: Any) -> None:
        """Remove rows by their ids (an Arrow array or any sequence); the other rows keep their numbers."""
        rows = self._ids.remove(ids)
        self._removed = np.concatenate([self._removed, rows])
        if len(rows):
            self._forget(rows)

    def save(self, directory: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the index to a directory, from which `load_index` maps it without building it again.

        The directory appears whole. It must not exist or be empty; `overwrite` replaces one that Sosie wrote.
        """
        parameters, arrays = self._state()
        state = {"bits": self.bits, **parameters}, {"removed": self._removed, **arrays}
        write_index(directory, type(self).__name__, self._ids, self.digest, state, overwrite=overwrite)

    @classmethod
    def restored(cls, ids: RowIds, digest: str | None, state: State) -> Self:
        """Return the index that `save` wrote; for `load_index`, which has checked what it can."""
        parameters, arrays = state
        index = cls.__new__(cls)
        index._bits, index._digest, index._ids = int(parameters["bits"]), digest, ids
        index._removed = np.array(arrays["removed"])
        index._restore(parameters, arrays)
        return index

    @abstractmethod
    def _append(self, words: U64) -> None:
        """Store rows after those that are there."""

    @abstractmethod
    def _forget(self, rows: I64) -> None:
        """Never find these rows again."""

    @abstractmethod
    def _top(self, queries: Signatures, k: int, threads: int | None) -> Matches:
        """Find the k nearest rows; k is at most the number of rows."""

    @abstractmethod
    def _near(self, queries: Signatures, radius: int, first: bool, threads: int | None) -> Matches:
        """Find the rows within a radius."""

    @abstractmethod
    def _words(self) -> U64:
        """Return the words of every row that was ever added; those of removed rows do not matter."""

    def _state(self) -> State:
        """Return the parameters (JSON) and the arrays from which `_restore` makes the index again."""
        raise UsageError(f"{type(self).__name__} cannot be saved: save its signatures, and build it from them")

    def _restore(self, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Take over parameters and arrays; the arrays cannot be written, and nothing about them is sure but the bytes.

        What does not fit raises `StorageError`, whose text names no file.
        """
        raise StorageError(f"{type(self).__name__} cannot be loaded")

    def _check(self, other: Signatures) -> None:
        if other.bits != self.bits:
            raise MismatchError(f"signatures of {other.bits} bits do not fit an index of {self.bits} bits")
        if self.digest is not None and other.digest is not None and other.digest != self.digest:
            raise MismatchError(
                f"signatures of spec {other.digest} do not fit an index of spec {self.digest}: sign both the same way"
            )

    def _nothing(self, queries: int) -> Matches:
        empty = np.empty(0, np.int64)
        return self._named(
            Matches(np.zeros(queries + 1, np.int64), empty, empty.astype(np.int32), None, {"comparisons": 0}, 1.0)
        )

    def _named(self, matches: Matches) -> Matches:
        return dataclasses.replace(matches, ids=self._ids.of(matches.rows))
