"""Rows in the order of their leads: sorted, and merged piece by piece in little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import U32, U64, read_only
from sosie.kernels.tables.sort_rows import sort_by_top_bits
from sosie.kernels.tables.streamed import first_at_least, leads_of

PIECE = 1 << 20  # rows that are merged at a time
_LEADS = 1 << 64


class SortedRows(NamedTuple):
    """Words by their leads, those with equal leads by row; `rows` are numbered from 0 to one less than there are."""

    words: U64
    rows: U32

    @staticmethod
    def of(words: U64, bits: int) -> SortedRows:
        """Sort words of so many bits.

        >>> SortedRows.of(np.array([[5], [2], [5]], np.uint64), 3).rows.tolist()
        [1, 0, 2]
        """
        _, order = sort_by_top_bits(leads_of(read_only(words), bits), np.arange(len(words)), 64)
        return SortedRows(read_only(words[order]), read_only(order.astype(np.uint32)))


def merged(sources: Sequence[SortedRows], bits: int, most: int = PIECE) -> Iterator[SortedRows]:
    """Yield the rows of all sources in order, up to `most` at a time; rows of a source follow those of the ones before.

    Leads are halved again and again until few enough rows have those of a half: a search in each source, and the rows
    themselves are read once.

    >>> parts = [SortedRows.of(np.array(words, np.uint64), 64) for words in ([[9], [1]], [[5], [9]])]
    >>> [(part.words[:, 0].tolist(), part.rows.tolist()) for part in merged(parts, 64, most=2)]
    [([1, 5], [1, 2]), ([9, 9], [0, 3])]
    """
    first = np.cumsum([0, *(len(source.rows) for source in sources)])
    waiting = [(0, _LEADS, [0] * len(sources), [len(source.rows) for source in sources])]
    while waiting:
        low, high, begins, ends = waiting.pop()
        slices = [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]
        parts = [
            (source.words[each], source.rows[each], start)
            for source, each, start in zip(sources, slices, first[:-1].tolist(), strict=True)
            if each.start < each.stop
        ]
        if sum(ends) - sum(begins) <= most:
            if parts:
                yield _sorted(parts, bits)
        elif high - low == 1:  # all the same: rows follow each other as the sources do
            for words, rows, start in parts:
                for begin in range(0, len(rows), most):
                    yield _sorted([(words[begin : begin + most], rows[begin : begin + most], start)], bits)
        else:
            middle = (low + high) // 2
            lead: Any = np.uint64(middle)
            cuts = [
                int(first_at_least(read_only(source.words), bits, lead, begin, end))
                for source, begin, end in zip(sources, begins, ends, strict=True)
            ]
            waiting += [(middle, high, cuts, ends), (low, middle, begins, cuts)]


def _sorted(parts: Sequence[tuple[U64, U32, int]], bits: int) -> SortedRows:
    words = np.concatenate([words for words, _, _ in parts])
    rows = np.concatenate([rows + np.uint32(start) for _, rows, start in parts])
    if len(parts) > 1:
        order = np.argsort(leads_of(read_only(words), bits), kind="stable")  # quick: it is made of sorted parts
        words, rows = words[order], rows[order]
    return SortedRows(words, rows)
