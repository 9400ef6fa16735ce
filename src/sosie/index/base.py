"""The contract of every index: rows that are added, removed and saved, and found beside all that."""

from __future__ import annotations

import dataclasses
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from sosie.errors import MismatchError, StorageError, UsageError
from sosie.index.files import SavedIndex, write_index, write_index_files
from sosie.index.ids import RowIds
from sosie.shown import as_html, counted
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import U64, Bags, Features, Keys, Matches, Signatures


@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """An index between two changes: the ids of its rows, which of them are there, and what it holds of them.

    Neither ever changes. `stored` may have room behind its rows that later rows are written to; it knows how many rows
    are its own, and whether they are there is told by the bits of `ids`.
    """

    ids: RowIds
    stored: Any

    def __len__(self) -> int:
        return self.ids.present_count

    def named(self, matches: Matches) -> Matches:
        """Return matches with the ids of their rows."""
        return dataclasses.replace(matches, ids=self.ids.of(matches.rows))


class Index(ABC):
    """Rows that can be found: signatures by Hamming distance (`HammingIndex`), keys by those they share (`KeyIndex`).

    A `WordIndex` finds bags of features by how much of a query they have.

    - **Rows** are numbered from 0 in the order of adding and keep their numbers when others are removed.
      `len(index)` is the number of rows that are present.
    - **Results are ragged** (`Matches`), ordered by (distance, row); ties go to the lower row.
    - **Ids** travel with the rows: `matches.ids`. Rows added without ids go on being numbered, by their row; ids that
      are given are what they say. Adding an id that is present raises `MismatchError`, and so does removing one that
      is not.
    - **Changes are whole**: an `add` or `remove` that fails, for whatever reason, has changed nothing. So an `add`
      holds what it merges twice until it is done; what is refused for want of memory is what the index would hold.
    - **Searches may run beside changes.** An index has one state that never changes; `add` and `remove` make another
      one and put it in its place at once. A search works on the state that it began with, so its answer is that of some
      moment between two changes. Changes from several threads take turns.
    - **Shapes and spaces** are checked before anything is compared: other bits or tables, or another known space (by
      default the digest of what made the rows), raise `MismatchError`.
    - **Threads** (None: all cores) never change a result.
    - **Counters** tell the work that a search took.

    An implementation builds on the hooks below. They get the state, may rely on checked arguments, and change nothing
    that belongs to it.
    """

    rows_are: ClassVar[type[Any]] = object  # what rows and queries are; anything else is refused by name

    def __new__(cls, rows: Any = None, *_: Any, **__: Any) -> Self:
        """Refuse what is no rows before anything is asked of it; `restored` gives none."""
        if rows is not None:
            cls._check_type(rows)
        return super().__new__(cls)

    def __init__(self, rows: Signatures | Keys | Bags) -> None:
        self._digest, self._space = rows.digest, rows.space
        self._lock = threading.Lock()
        self._state = State(RowIds(), self._nothing_stored())
        self.add(rows)

    def __len__(self) -> int:
        return len(self._state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(value for _, value in self.lines())})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html(type(self).__name__, self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Say what the index holds, as names and values."""
        lines, removed = [("rows", f"{counted(len(self), 'row')}{self._what()}")], len(self._state.ids) - len(self)
        if removed:
            lines.append(("removed", f"{removed:,} removed"))
        return lines if self.digest is None else [*lines, ("made by", f"digest {self.digest[:8]}")]

    def _what(self) -> str:
        """Say what a row is."""
        return ""

    @property
    def digest(self) -> str | None:
        """The spec that made the rows, None if unknown."""
        return self._digest

    @property
    def space(self) -> str | None:
        """The comparison that the rows are made for, None if unknown."""
        return self._space

    @property
    def ids(self) -> Any:
        """The id of every row that was ever added, by row number, as an Arrow array."""
        return self._state.ids.all

    @property
    def row_ids(self) -> RowIds:
        """What knows the rows by their ids, as it is now."""
        return self._state.ids

    def add(self, rows: Any) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        with self._lock:
            state = self._state
            self._check(rows)
            self._check_room(len(state.ids) + len(rows))
            ids = state.ids.added(rows.ids, numbered=rows.numbered)
            self._state = State(ids, self._appended(state, ids, _values(rows)) if len(rows) else state.stored)

    def remove(self, ids: Any) -> None:
        """Remove rows by their ids (an Arrow array or any sequence); the other rows keep their numbers."""
        with self._lock:
            self._state = State(self._state.ids.without(ids)[0], self._state.stored)

    def save(self, directory: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the index to a directory, from which `load_index` maps it without building it again.

        The directory appears whole. It must not exist or be empty; `overwrite` replaces one that Sosie wrote. Changes
        wait until it is written: they may use the room behind the rows.
        """
        with self._lock:
            write_index(directory, self._to_save(), overwrite=overwrite)

    def write(self, directory: Path, parts: Mapping[str, int]) -> None:
        """Write the files of the index beside folders that belong to it; `parts` are the checksums of their manifests.

        The directory is part of an output: use `save` for one that appears whole.
        """
        with self._lock:
            write_index_files(directory, self._to_save(), parts)

    def _to_save(self) -> SavedIndex:
        state = self._state
        parameters, arrays = self._saved(state)
        arrays = {"removed": state.ids.removed, **arrays}
        return SavedIndex(type(self).__name__, state.ids, self.digest, self.space, parameters, arrays)

    @classmethod
    def restored(cls, saved: SavedIndex) -> Self:
        """Return the index that `save` wrote; for `load_index`, which has checked what it can."""
        index = cls.__new__(cls)
        for name in (saved.digest, saved.space):
            if not isinstance(name, str | None):
                raise StorageError(f"a digest is a text, got {type(name).__name__}")
        index._digest, index._space = saved.digest, saved.space
        index._lock = threading.Lock()
        index._state = State(saved.ids, index._restored(saved.ids, saved.parameters, saved.arrays))
        return index

    @abstractmethod
    def _nothing_stored(self) -> Any:
        """Return what is stored of no rows."""

    @abstractmethod
    def _appended(self, state: State, ids: RowIds, values: Any) -> Any:
        """Return what is stored when rows follow those of a state; `ids` are those of all, of the new ones too."""

    @abstractmethod
    def _check(self, other: Any) -> None:
        """Refuse rows and queries that are not of the shape or the space that the rows have."""

    @abstractmethod
    def _check_room(self, rows: int) -> None:
        """Refuse so many rows if they need more than the machine has, with `check_room`."""

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters (JSON) and the arrays from which `_restored` makes what is stored."""
        raise UsageError(f"{type(self).__name__} cannot be saved: save its rows, and build it from them")

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        """Take over the parameters, and return what is stored.

        The arrays cannot be written, and nothing about them is sure but the bytes. What does not fit raises
        `StorageError`, whose text names no file.
        """
        raise UsageError(f"{type(self).__name__} cannot be loaded")

    @classmethod
    def _check_type(cls, rows: Any) -> None:
        if not isinstance(rows, cls.rows_are):
            given, what = type(rows).__name__, cls.rows_are.__name__
            raise UsageError(f"{cls.__name__} takes {what}, and {given} is given: {_MAKING[what]}")

    def _check_space(self, other: Signatures | Keys | Bags, what: str, remedy: str) -> None:
        if self.space is not None and other.space is not None and other.space != self.space:
            theirs, own = _made_by(other.digest, other.space), _made_by(self.digest, self.space)
            raise MismatchError(f"{what} of {theirs} do not fit an index of {own}: {remedy}")


_MAKING = {
    "Signatures": "sign texts first, as in sosie.Simhash().fit().sign(texts)",
    "Keys": "make keys of texts first, as in sosie.Minhash().fit().keys(texts)",
}


def check_count(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Refuse what is no whole number from `least` on, up to `most` if there is one.

    >>> check_count("k", 1.5, 1)
    Traceback (most recent call last):
    ...
    sosie.errors.UsageError: k must be at least 1, and a whole number, got 1.5
    """
    if isinstance(value, int | np.integer) and least <= value and (most is None or value <= most):
        return
    wanted = f"at least {least}, and a whole number" if most is None else f"between {least} and {most}"
    raise UsageError(f"{name} must be {wanted}, got {value!r}")


def check_room(what: str, needed: int, remedy: str) -> None:
    """Refuse what takes more memory than the machine has, with the figure and what to do instead."""
    there = physical_memory()
    if needed > there:
        raise UsageError(
            f"{what} need about {show_size(needed)} of memory, and this machine has {show_size(there)}: {remedy}"
        )


def _made_by(digest: str | None, space: str) -> str:
    return f"spec {digest}" if digest == space else f"space {space}"


def _values(rows: Signatures | Keys | Bags) -> U64 | Features:
    if isinstance(rows, Bags):
        return rows.features
    return rows.words if isinstance(rows, Signatures) else rows.values
