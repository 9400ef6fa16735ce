"""Documents as sparse vectors of unit length: BM25 weights of the words of one vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sosie.arrays import read_only
from sosie.crosslingual.terms import Terms
from sosie.kernels.vectors.dots import SparseRows
from sosie.kernels.vectors.project import Counted, Table, project
from sosie.kernels.vectors.weigh import rarities, weigh_rows
from sosie.parallel import ordered_map
from sosie.storage.room import Room
from sosie.storage.spill import Spill
from sosie.types import F64, I64, Bools, offsets_of


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """How rare each column is in a collection, as BM25 counts it, and how long its documents are on average."""

    rarity: F64
    mean_length: float

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.rarity)

    @classmethod
    def of(cls, frequencies: F64 | I64, documents: int, mean_length: float) -> Vocabulary:
        """Return what weighs columns that occur in so many of all documents: ln(1 + (N - df + 0.5) / (df + 0.5)).

        >>> Vocabulary.of(np.array([1, 3, 0]), 5, 2.0).rarity.round(2).tolist()
        [1.39, 0.54, 0.0]
        """
        rarity = np.empty(len(frequencies))
        rarities(read_only(np.asarray(frequencies, np.float64)), float(documents), rarity)
        return cls(rarity, mean_length)


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a vector: words of documents, what stands for each, how columns weigh, and how much all of them do.

    Without a table, words stand for themselves.
    """

    terms: Terms
    table: Table | None
    vocabulary: Vocabulary
    weight: float = 1.0


def make_vectors(parts: Sequence[Part], room: Room, without: Bools | None = None) -> SparseRows:
    """Return one vector for each document: parts beside each other, each as long as the root of its weight.

    So the inner product of two vectors is the weighted sum of the cosines of their parts. Documents `without` one have
    an empty vector.
    """
    with (
        Spill(room.scratch, np.int32, memory=room.memory) as columns,
        Spill(room.scratch, np.float32, memory=room.memory) as weights,
    ):
        sizes = [np.empty(0, np.int64)]
        for made in ordered_map(_vectors(parts, without), parts[0].terms.spans(), room.threads):
            sizes.append(np.diff(made.offsets))
            columns.append(made.columns)
            weights.append(made.weights)
        return SparseRows(offsets_of(np.concatenate(sizes)), columns.array(), weights.array())


def counted_columns(terms: Terms, table: Table, width: int, threads: int | None = None) -> tuple[I64, float]:
    """Return in how many documents each column occurs once words are replaced, and how long these are on average."""
    frequencies, total = np.zeros(width, np.int64), 0.0

    def count(span: tuple[int, int]) -> tuple[I64, float]:
        _, columns, sums = project(terms.rows(*span), table, width)
        return np.bincount(columns, minlength=width), float(sums.sum())

    for found, length in ordered_map(count, terms.spans(), threads):
        frequencies += found
        total += length
    return frequencies, total / max(len(terms), 1)


def _vectors(parts: Sequence[Part], without: Bools | None) -> Callable[[tuple[int, int]], SparseRows]:
    shifts = np.cumsum([0, *(part.vocabulary.width for part in parts)]).tolist()

    def make(span: tuple[int, int]) -> SparseRows:
        made = [_weighed(part, span, shift) for part, shift in zip(parts, shifts, strict=False)]
        count = span[1] - span[0]
        row = np.concatenate([np.repeat(np.arange(count), np.diff(each.offsets)) for each in made])
        order = np.argsort(row, kind="stable")
        columns, weights = (np.concatenate([each[i] for each in made])[order] for i in (1, 2))
        held = SparseRows(offsets_of(np.bincount(row, minlength=count)), columns, weights)
        return held if without is None else _emptied(held, without[span[0] : span[1]])

    return make


def _emptied(rows: SparseRows, without: Bools) -> SparseRows:
    """Return the same rows, those `without` empty."""
    if not without.any():
        return rows
    sizes = np.diff(rows.offsets)
    kept = np.repeat(~without, sizes)
    return SparseRows(offsets_of(np.where(without, 0, sizes)), rows.columns[kept], rows.weights[kept])


def _weighed(part: Part, span: tuple[int, int], shift: int) -> SparseRows:
    """Return one part of the vectors of a span of rows; columns that weigh nothing are left out."""
    if not part.weight:
        return SparseRows(np.zeros(span[1] - span[0] + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    rows = part.terms.rows(*span)
    if part.table is None:
        offsets, columns, counts = rows.offsets, rows.terms, rows.counts
    else:
        offsets, columns, counts = project(Counted(*rows), part.table, part.vocabulary.width)
    weights = np.empty(len(columns))
    mean_length = max(part.vocabulary.mean_length, 1e-9)  # it is 0 where no document has a column
    weigh_rows(read_only(offsets), read_only(columns), read_only(counts), part.vocabulary.rarity, mean_length, weights)
    kept = weights > 0
    before = offsets_of(kept)
    heavy = (weights[kept] * np.sqrt(part.weight)).astype(np.float32)
    return SparseRows(before[offsets], columns[kept] + np.int32(shift), heavy)
