"""The contract of every index that finds signatures by Hamming distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import MismatchError, UsageError
from sosie.index.answers import filled, lowest, nearest, no_matches, without_self
from sosie.index.base import Index, State, check_count
from sosie.index.ids import RowIds
from sosie.index.untrusted import whole
from sosie.shown import counted
from sosie.types import U64, Matches, Signatures

_WIDEST = 1 << 30  # bits; more are in no file


class HammingIndex(Index):
    """An `Index` of signatures, which are found by Hamming distance.

    Beside what every index promises:

    - **Near** means `distance <= radius`.
    - `search` gives k rows for every query, or all rows if there are fewer; `within` gives as many as there are,
      possibly none; `any_within` one where there is any. An index without rows gives empty results. A k below 1 or a
      radius outside 0..bits raises `UsageError`.
    - **Effort** is an argument of a search: how far an approximate index goes. None is the index's own `effort`, which
      it was built with. An exact index has none, and refuses one.
    - **Counters**: `comparisons` is the number of rows that had to be looked at, over all queries.
    - **Recall** is stated: `matches.recall` is the share of the exact answer that is to be expected, 1 where the answer
      is exact, None where nothing is known.

    An approximate index documents which part of this it relaxes. The hooks may rely on at least one row and one query.
    """

    rows_are = Signatures

    def __init__(self, signatures: Signatures) -> None:
        self._bits = signatures.bits
        super().__init__(signatures)

    def _what(self) -> str:
        return f" of {counted(self.bits, 'bit')}"

    @property
    def bits(self) -> int:
        """The width of the signatures."""
        return self._bits

    @property
    def effort(self) -> Any:
        """How far a search goes that says nothing else; None if the index is exact."""
        return None

    @property
    def signatures(self) -> Signatures:
        """The rows that are present, with their ids, in order."""
        state = self._state
        rows = state.ids.present_rows
        ids = None if state.ids.numbered and len(rows) == len(state.ids) else state.ids.of(rows)
        return Signatures(self._words(state)[rows], self.bits, ids, self.digest, space=self.space)

    def search(
        self,
        queries: Signatures,
        k: int,
        *,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return the k nearest rows of each query; with `exclude_self`, of those that have another id than it."""
        self._check(queries)
        chosen = self._chosen(effort)
        check_count("k", k, 1)
        state = self._state
        if not len(state) or not len(queries):
            return state.named(no_matches(len(queries)))
        found = state.named(self._top(state, queries, min(k + exclude_self, len(state)), chosen, threads))
        return nearest(without_self(found, queries.ids), k) if exclude_self else found

    def within(
        self,
        queries: Signatures,
        radius: int,
        *,
        first: bool = False,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return all rows at most `radius` away from each query; with `first`, only the one with the lowest row.

        With `exclude_self`, rows that have the id of the query do not count.
        """
        self._check_radius(queries, radius)
        chosen = self._chosen(effort)
        state = self._state
        if not len(state) or not len(queries):
            return state.named(no_matches(len(queries)))
        found = state.named(self._near(state, queries, radius, first and not exclude_self, chosen, threads))
        if not exclude_self:
            return found
        found = without_self(found, queries.ids)
        return lowest(found) if first else found

    def any_within(
        self,
        queries: Signatures,
        radius: int,
        *,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return for each query one row within the radius, whichever is met first, or none.

        It finds something where `within` does, and stops there: which row that is depends on the index. With
        `exclude_self`, rows that have the id of the query do not count.
        """
        self._check_radius(queries, radius)
        chosen, state = self._chosen(effort), self._state
        if not len(state) or not len(queries):
            return state.named(no_matches(len(queries)))
        found = state.named(self._any(state, queries, radius, chosen, threads))
        if not exclude_self:
            return found
        others = without_self(found, queries.ids)
        again = np.flatnonzero(np.diff(others.offsets) < np.diff(found.offsets))
        if not len(again):
            return others
        more = state.named(self._near(state, queries.take(again), radius, False, chosen, threads))
        return filled(others, again, lowest(without_self(more, queries.ids.take(pa.array(again)))))

    @abstractmethod
    def _top(self, state: State, queries: Signatures, k: int, effort: Any, threads: int | None) -> Matches:
        """Find the k nearest rows; k is at most the number of rows."""

    @abstractmethod
    def _near(
        self, state: State, queries: Signatures, radius: int, first: bool, effort: Any, threads: int | None
    ) -> Matches:
        """Find the rows within a radius."""

    def _any(self, state: State, queries: Signatures, radius: int, effort: Any, threads: int | None) -> Matches:
        """Find one row within a radius for each query that has any; by default the lowest."""
        return self._near(state, queries, radius, True, effort, threads)

    @abstractmethod
    def _words(self, state: State) -> U64:
        """Return the words of every row that was ever added; those of removed rows do not matter."""

    def _chosen(self, effort: Any) -> Any:
        """Return how far a search goes; what this index does not understand is refused."""
        if effort is not None:
            raise UsageError(f"{type(self).__name__} is exact: it takes no effort, got {effort!r}")
        return None

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"bits": self.bits}, {}

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        self._bits = whole("bits", parameters["bits"], 1, _WIDEST)

    def _check(self, other: Signatures) -> None:
        self._check_type(other)
        if other.bits != self.bits:
            raise MismatchError(
                f"signatures of {other.bits} bits do not fit an index of {self.bits} bits: sign both the same way"
            )
        self._check_space(other, "signatures", "sign both the same way")

    def _check_radius(self, queries: Signatures, radius: int) -> None:
        self._check(queries)
        check_count("radius", radius, 0, self.bits)
