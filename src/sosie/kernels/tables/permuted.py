"""Rows in the order of their permuted bits, as the tables of a sliding window have them (NFL 4.3)."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import drawn_words
from sosie.kernels.tables.sort_rows import sort_by_top_bits


def draw_permutation(bits: int, seed: int, table: int) -> I64:
    """Return the places of the bits in a random order, the same on every machine; the first is the most significant.

    >>> draw_permutation(8, seed=0, table=1).tolist()
    [2, 3, 6, 7, 4, 0, 1, 5]
    """
    return np.argsort(drawn_words(np.arange(bits) + bits * table, seed), kind="stable")


def permuted_order(sides: list[U64], places: I64) -> I64:
    """Return the rows of one or two collections, numbered through, in the order of their bits at `places`.

    Rows that agree in all of these bits stay in the order of their numbers.

    >>> rows = np.array([[0b01], [0b10], [0b11], [0b01]], np.uint64)
    >>> permuted_order([rows], np.array([0, 1])).tolist()
    [1, 0, 3, 2]
    """
    places = read_only(places)
    keys = np.concatenate([gather_bits(read_only(words), places[:64]) for words in sides])
    keys, order = sort_by_top_bits(keys, np.arange(len(keys)), 64)
    opens = np.concatenate([np.ones(min(1, len(keys)), np.bool_), keys[1:] != keys[:-1]])
    for start in range(64, len(places), 64):
        tied = np.flatnonzero(~opens | ~np.append(opens[1:], True))
        if not len(tied):
            break
        rows = order[tied]
        more = _bits_of_rows(sides, rows, places[start : start + 64])
        group = np.cumsum(opens[tied])
        by = np.lexsort((more, group))
        order[tied], more, group = rows[by], more[by], group[by]
        opens[tied[1:]] = (more[1:] != more[:-1]) | (group[1:] != group[:-1])
    return order


def _bits_of_rows(sides: list[U64], rows: I64, places: I64) -> U64:
    """Return the bits at some places of rows of either side."""
    keys, split = np.empty(len(rows), np.uint64), len(sides[0])
    for side, words in enumerate(sides):
        here = np.flatnonzero((rows >= split) == bool(side))
        keys[here] = gather_bits(read_only(words[rows[here] - side * split]), places)
    return keys


@kernel
def gather_bits(words: U64, places: I64) -> U64:
    """Return up to 64 bits of each row, the first of them as the most significant."""
    keys = np.empty(words.shape[0], np.uint64)
    for row in range(words.shape[0]):
        key = np.uint64(0)
        for i in range(places.size):
            bit = words[row, places[i] >> 6] >> np.uint64(places[i] & 63) & np.uint64(1)
            key |= bit << np.uint64(63 - i)
        keys[row] = key
    return keys
