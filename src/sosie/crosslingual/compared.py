"""Which documents of two languages are compared, and how similar they are: exactly, or the nearest by signatures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sosie.arrays import read_only
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Views
from sosie.errors import UsageError
from sosie.kernels.vectors.dots import SparseRows, best_of_lists, list_rows, pair_products, pairs_of_lists
from sosie.matches.check import MAX_PAIRS, check_pairs
from sosie.parallel import ordered_map, spans
from sosie.planner.constants.links import BACK, PAIR_BYTES
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import F64, I64, Counters

_LISTED = 1 << 16  # rows that are listed by column at a time; their scores stay in the cache
_ENTRIES = 1 << 26  # columns of rows that are listed at a time, eight bytes each ...
_SHARE = 128  # ... and no more than a sixteenth of the memory that there is
_SPAN = 1 << 7  # rows that one task asks
_ROOM = 1 << 16  # pairs that a task has room for


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs of a source row `a` and a target row `b`, each once, ordered by both, with their similarity.

    `recall` is the share of all pairs wanted that is to be expected among them, None where nobody knows; `interval`
    holds it in 95 of 100 runs. Of pairs that are less similar than `least` nothing is known.
    """

    a: I64
    b: I64
    similarity: F64
    counters: Counters = field(default_factory=dict)
    recall: float | None = 1.0
    interval: tuple[float, float] | None = None
    least: float = 0.0

    def __len__(self) -> int:
        return len(self.a)


def nearest(views: Views, count: int, room: Room, by: Signed | None = None) -> Compared:
    """Return each source with its `count` most similar targets, and each target with its most similar sources.

    They are the most similar of all, or with signatures those that are nearest by them, compared truly.
    """
    if count < 1:
        raise UsageError(f"at least 1 document is compared with each, got {count}")
    _check_room(views, count, room)
    if by is not None:
        return _compared(views, by.nearest(views, count, BACK, room), {"bits": by.bits}, room, recall=None)
    ahead = best_rows(views.source, views.target, views.width, count, room)
    back = best_rows(views.target, views.source, views.width, min(2, count), room)
    packed = np.unique(np.concatenate([_packed(ahead), _turned(_packed(back))]))
    return _compared(views, packed, {}, room, recall=1.0)


def above(views: Views, least: float, room: Room, by: Signed | None = None, max_pairs: int = MAX_PAIRS) -> Compared:
    """Return all pairs whose similarity is at least `least`; with signatures as many as these bring together.

    More than `max_pairs` are refused.
    """
    if not 0 < least <= 1:
        raise UsageError(f"a similarity to reach is above 0 and at most 1, got {least}")
    if by is None:
        found = list(_pairs_above(views, least, room, max_pairs))
        packed = np.concatenate([np.empty(0, np.int64), *(pairs for pairs, _ in found)])
        products = np.concatenate([np.empty(0), *(scores for _, scores in found)])
        order = np.argsort(packed, kind="stable")
        a, b = _unpacked(packed[order])
        comparisons = int((np.diff(views.source.offsets) > 0).sum() * (np.diff(views.target.offsets) > 0).sum())
        return Compared(a, b, products[order], {"comparisons": comparisons}, least=least)
    joined = by.above(views, least, room, max_pairs)
    compared = _compared(views, joined.a << 32 | joined.b, dict(joined.counters), room, recall=None)
    kept = compared.similarity >= least
    recall, interval = by.share(compared.similarity[kept], least, joined)
    return Compared(
        compared.a[kept], compared.b[kept], compared.similarity[kept], compared.counters, recall, interval, least
    )


def best_rows(asking: SparseRows, asked: SparseRows, width: int, count: int, room: Room) -> tuple[I64, F64]:
    """Return the `count` rows with the greatest products for every asking row, and these; -1 and 0 where there is none.

    Equal ones are in the order of the rows. Where fewer rows are asked, there are so many, or one that is none.
    """
    rows, count = len(asking.offsets) - 1, min(count, max(len(asked.offsets) - 1, 1))
    best, products = np.full((rows, count), -1), np.zeros((rows, count))
    held = _held(asking)
    tiles = _tiles(asked, room)
    for first, last in tiles:
        lists = list_rows(asked, first, last, width)

        def ask(start: int, first: int = first, last: int = last, lists: object = lists) -> None:
            stop = min(start + _SPAN, rows)
            own, values = best[start:stop], products[start:stop]
            best_of_lists(held, start, stop, lists, first, np.empty(last - first), own, values)  # type: ignore[arg-type]

        for _ in ordered_map(ask, range(0, rows, _SPAN), room.threads):
            room.tell(1, -(-rows // _SPAN) * len(tiles))
    return best, products


def similarities(views: Views, a: I64, b: I64, threads: int | None = None) -> F64:
    """Return the similarity of each pair of a source and a target."""
    products = np.empty(len(a))
    source, target = _held(views.source), _held(views.target)

    def compare(start: int) -> None:
        span = slice(start, start + _ROOM)
        pair_products(source, target, read_only(a[span]), read_only(b[span]), products[span])

    for _ in ordered_map(compare, range(0, len(a), _ROOM), threads):
        pass
    return products


def _check_room(views: Views, count: int, room: Room) -> None:
    """Refuse to hold more pairs than there is memory for, where there is a limit."""
    rows, others = len(views.source.offsets) - 1, len(views.target.offsets) - 1
    needed = PAIR_BYTES * (rows * count + others * BACK)
    if room.limit is not None and needed > room.limit // 2:
        raise UsageError(
            f"comparing {count:,} others with each of {rows:,} documents takes about {show_size(needed)} of memory:"
            " allow more (--memory), compare fewer (--compared), or ask for a --threshold"
        )


def _compared(views: Views, packed: I64, counters: Counters, room: Room, recall: float | None) -> Compared:
    a, b = _unpacked(packed)
    products = similarities(views, a, b, room.threads)
    kept = products > 0
    return Compared(a[kept], b[kept], products[kept], {**counters, "compared": len(a)}, recall)


def _pairs_above(views: Views, least: float, room: Room, max_pairs: int) -> Iterator[tuple[I64, F64]]:
    """Yield pairs and their products, one listed part after the other."""
    rows, total = len(views.source.offsets) - 1, 0
    source = _held(views.source)
    tiles = _tiles(views.target, room)
    for first, last in tiles:
        lists = list_rows(views.target, first, last, views.width)

        def ask(start: int, first: int = first, last: int = last, lists: object = lists) -> tuple[I64, F64]:
            found, scores = [np.empty(0, np.int64)], [np.empty(0)]
            row, stop, size = start, min(start + _SPAN, rows), max(_ROOM, last - first)
            while row < stop:
                room_for, products = np.empty(size, np.int64), np.empty(size)
                dense = np.empty(last - first)
                row, count = pairs_of_lists(source, row, stop, lists, least, dense, room_for, products)  # type: ignore[arg-type]
                found.append(room_for[:count] + first)
                scores.append(products[:count])
            return np.concatenate(found), np.concatenate(scores)

        for found, scores in ordered_map(ask, range(0, rows, _SPAN), room.threads):
            total += len(found)
            check_pairs(total, max_pairs)
            room.tell(1, -(-rows // _SPAN) * len(tiles))
            yield found, scores


def _tiles(rows: SparseRows, room: Room) -> list[tuple[int, int]]:
    """Cut rows into consecutive tiles that are listed at a time: few enough for the cache, small enough for memory."""
    most = _ENTRIES if room.limit is None else max(min(_ENTRIES, room.limit // _SHARE), 1)
    cuts = spans(rows.offsets, most)
    return [(at, min(at + _LISTED, stop)) for start, stop in cuts for at in range(start, stop, _LISTED)]


def _held(rows: SparseRows) -> SparseRows:
    return SparseRows(read_only(rows.offsets), read_only(rows.columns), read_only(rows.weights))


def _packed(best: tuple[I64, F64]) -> I64:
    """Return the pairs of a table of best rows: the asking row in the upper half."""
    rows, _ = best
    places = np.nonzero(rows >= 0)
    return places[0] << 32 | rows[places]


def _turned(packed: I64) -> I64:
    a, b = _unpacked(packed)
    return b << 32 | a


def _unpacked(packed: I64) -> tuple[I64, I64]:
    return packed >> 32, packed & 0xFFFFFFFF
