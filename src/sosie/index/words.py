"""The word index: which rows have most of a query's features? An inverted file, and the similarity of each match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.arrays import U32, read_only
from sosie.errors import StorageError, UsageError
from sosie.features.weighting import fixed_point
from sosie.index.answers import nearest, no_matches, without_self
from sosie.index.base import Index, State, check_count, check_room
from sosie.index.files import check_array
from sosie.index.ids import RowIds
from sosie.index.segments import Segments
from sosie.kernels.sets.best import Held, Lists, best_rows
from sosie.kernels.sets.inverted import Inverted, ascend_in_parts, find_terms, invert, revert
from sosie.kernels.sign.weigh import tf_idf
from sosie.parallel import ordered_map
from sosie.planner.constants.search import SHORT_RUN as SHORT
from sosie.planner.methods.words import least_room
from sosie.types import I64, Bags, Features, Matches, offsets_of

_ARRAYS = "terms", "starts", "rows", "sizes"  # of a run
_ROWS = 2**32 - 1


@dataclass(frozen=True, eq=False)
class WordRun:
    """Rows `first` and up: an inverted file of their features, and how many features each has."""

    first: int
    inverted: Inverted
    sizes: U32

    def __len__(self) -> int:
        return len(self.sizes)

    @staticmethod
    def of(features: Features, first: int) -> WordRun:
        """Invert the features of rows that follow each other."""
        sizes = features.sizes.astype(np.uint32)
        rows = np.repeat(np.arange(len(sizes), dtype=np.uint32), features.sizes)
        return WordRun(first, _frozen(invert(features.hashes, rows)), read_only(sizes))

    def features(self) -> Features:
        """Return the features of the rows, in order."""
        return Features(*revert(self.inverted, len(self)))

    def arrays(self) -> dict[str, Any]:
        """Return the arrays from which the run is made again."""
        return {**self.inverted._asdict(), "sizes": self.sizes}

    @staticmethod
    def restored(first: int, count: int, arrays: Mapping[str, Any]) -> WordRun:
        """Return a run from its arrays, which were read from a file and are not trusted."""
        terms, starts, rows, sizes = (arrays[name] for name in _ARRAYS)
        check_array(terms, np.uint64, (terms.size,))
        check_array(starts, np.int64, (terms.size + 1,))
        check_array(rows, np.uint32, (rows.size,))
        check_array(sizes, np.uint32, (count,))
        if starts[0] != 0 or starts[-1] != len(rows) or np.any(np.diff(starts) < 1) or np.any(terms[1:] <= terms[:-1]):
            raise StorageError("the lists of the features do not follow each other")
        if not ascend_in_parts(read_only(rows), read_only(starts), count):
            raise StorageError("a list names a row that is not in the run, or one twice")
        return WordRun(first, _frozen(Inverted(terms, starts, rows)), read_only(sizes))


class WordIndex(Index):
    """Exact search by the features themselves: the rows that have most of the query's, with their true similarity.

    The **similarity** of a query and a row is the share of the query that the row has. Each feature weighs
    ln(1 + N / df), where df of the N rows have it, so rare ones count more; one that no row has counts as one of a
    single row. A row that has more features than the query counts a little less: its share is divided by
    1 + 0.05 ln(features of the row / features of the query), 3 % for one that is twice as long. It is 1 for a row with
    the features of the query and no others, and a row that shares nothing with the query is no match.

    Rows are `Bags`: with the words of documents and the pairs of words that stand together (`sosie.Phrases`) this is
    the search that people expect. Rows that were removed are never found, but count in N and df as before.

    Every feature has a list of its rows. Lists are read from the heaviest feature on, and frequent ones only as far as
    they can change the best k: `counters["postings"]` tells how many entries were read, `counters["lookups"]` how many
    rows were looked up in a list instead. Memory: 4 bytes for each feature of each row, and 16 for each that occurs.

    Added rows form a run of their own; runs are merged by the rule of `index.segments`. No result depends on them.

    >>> bags = Bags(Features(np.array([1, 2, 1, 3], np.uint64), np.array([0, 2, 4])), ids=["a", "b"])
    >>> found = WordIndex(bags).search(Bags(Features(np.array([1, 2], np.uint64), np.array([0, 2]))), k=2)
    >>> found.ids.to_pylist(), found.similarities.round(2).tolist()
    (['a', 'b'], [1.0, 0.39])
    """

    def add(self, rows: Bags) -> None:
        """Append rows; they are found at once. More than the machine's memory can hold is refused."""
        if isinstance(rows, Bags):
            held: Segments[WordRun] = self._state.stored
            features = sum(len(run.inverted.rows) for run in held) + len(rows.features.hashes)
            together = len(self._state.ids) + len(rows)
            what = f"{together:,} rows with {features:,} features"
            check_room(what, least_room(together, features), "use several indexes, or a width of 1")
        super().add(rows)

    @property
    def bags(self) -> Bags:
        """The rows that are present, with their ids, in order."""
        state = self._state
        rows = state.ids.present_rows
        ids = None if state.ids.numbered and len(rows) == len(state.ids) else state.ids.of(rows)
        parts = [run.features() for run in state.stored]
        held = Features.joined(parts) if parts else _no_features()
        return Bags(held.take(rows), ids, self.digest, space=self.space)

    def search(self, queries: Bags, k: int, *, exclude_self: bool = False, threads: int | None = None) -> Matches:
        """Return the k most similar rows of each query, fewer where fewer share a feature with it.

        With `exclude_self`, rows that have the id of their query do not count. `distances` are the number of the
        query's features that a row lacks.
        """
        self._check(queries)
        check_count("k", k, 1)
        state = self._state
        if not len(state) or not len(queries):
            return state.named(replace(no_matches(len(queries)), similarities=np.empty(0)))
        wanted = min(k + exclude_self, len(state))
        parts = list(ordered_map(lambda query: self._best(state, queries, query, wanted), range(len(queries)), threads))
        found = state.named(_joined(parts))
        return nearest(without_self(found, queries.ids), k) if exclude_self else found

    def _best(self, state: State, queries: Bags, query: int, k: int) -> tuple[Any, ...]:
        """Return similarities, rows and distances of the best rows for one query, and the work that it took."""
        runs: Segments[WordRun] = state.stored
        asked = queries.features.rows(query, query + 1).hashes
        places = [find_terms(run.inverted.terms, asked) for run in runs]
        counts = [_lengths(run.inverted, place) for run, place in zip(runs, places, strict=True)]
        weights = _weights(np.sum(counts, axis=0), len(state.ids))
        order = np.argsort(-weights, kind="stable")  # ties go to the lower hash: asked for in order
        live, total, parts = read_only(state.ids.live), int(weights.sum()), []
        for run, place in zip(runs, places, strict=True):
            here = order[place[order] >= 0]
            if len(here):
                begins, ends = run.inverted.starts[place[here]], run.inverted.starts[place[here] + 1]
                lists = Lists(run.inverted.rows, begins, ends, weights[here].astype(np.uint32), total, len(asked))
                parts.append(best_rows(lists, Held(run.sizes, live, run.first), k))
        if not parts:
            return np.empty(0), np.empty(0, np.int64), np.empty(0, np.int32), np.zeros(2, np.int64)
        similarities, rows, distances = (np.concatenate([part[i] for part in parts]) for i in range(3))
        best = np.lexsort((rows, -similarities))[:k]
        return similarities[best], rows[best], distances[best], sum(part[3] for part in parts)

    def _nothing_stored(self) -> Segments[WordRun]:
        return Segments()

    def _appended(self, state: State, ids: RowIds, values: Features) -> Segments[WordRun]:
        runs: Segments[WordRun] = state.stored

        def build(first: int, merged: tuple[WordRun, ...]) -> WordRun:
            together = Features.joined([*(run.features() for run in merged), _bare(values)]) if merged else values
            return WordRun.of(together, first)

        return runs.grown(len(values), build, SHORT)

    def _check(self, other: Any) -> None:
        if not isinstance(other, Bags):
            raise UsageError(f"an index of words holds bags of features, not {type(other).__name__.lower()}")
        self._check_space(other, "features", "take both out of texts the same way")

    def _check_room(self, rows: int) -> None:
        if rows > _ROWS:
            raise UsageError(f"a WordIndex holds up to {_ROWS:,} rows, not {rows:,}: use several")

    def _saved(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        runs: Segments[WordRun] = state.stored
        return {"runs": [len(run) for run in runs]}, runs.arrays()

    def _restored(self, ids: RowIds, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
        def restore(first: int, count: int, saved: Any, own: Any) -> WordRun:
            return WordRun.restored(first, count, own)

        return Segments.restored(parameters["runs"], len(ids), arrays, _ARRAYS, restore)


def _weights(frequencies: I64, rows: int) -> I64:
    """Return ln(1 + N / df) of each feature in units of 2^-16, so that sums do not depend on their order.

    Units are larger for queries of thousands of features, whose sum would not fit 32 bits.
    """
    weights = np.empty(len(frequencies))
    tf_idf(read_only(np.ones(len(frequencies), np.int32)), frequencies, rows, weights)
    fixed = fixed_point(weights)
    return np.asarray(np.maximum(fixed >> max(int(fixed.sum()).bit_length() - 31, 0), 1))


def _lengths(inverted: Inverted, places: I64) -> I64:
    """Return how many rows have each of the features at these places; none has one at -1."""
    found = np.maximum(places, 0)
    if not len(inverted.terms):
        return np.zeros(len(places), np.int64)
    return np.where(places < 0, 0, inverted.starts[found + 1] - inverted.starts[found])


def _joined(parts: list[tuple[Any, ...]]) -> Matches:
    similarities, rows, distances = (np.concatenate([part[i] for part in parts]) for i in range(3))
    work: Any = sum(part[3] for part in parts)
    counters = {"postings": int(work[0]), "lookups": int(work[1])}
    offsets = offsets_of([len(part[1]) for part in parts])
    return Matches(offsets, rows, distances, None, counters, 1.0, similarities)


def _bare(features: Features) -> Features:
    """Return features without counts, which nothing here looks at."""
    return Features(features.hashes, features.offsets)


def _no_features() -> Features:
    return Features(np.empty(0, np.uint64), np.zeros(1, np.int64))


def _frozen(inverted: Inverted) -> Inverted:
    terms, starts, rows = (read_only(array) for array in inverted)
    return Inverted(terms, starts, rows)
