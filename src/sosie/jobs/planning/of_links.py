"""Facts of two collections in one space of words: what comparing all takes, counted, and how far signatures reach."""

from __future__ import annotations

import numpy as np

from sosie.crosslingual.compared import best_rows
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Views
from sosie.index.flat import FlatIndex
from sosie.kernels.vectors.dots import SparseRows
from sosie.planner.constants.links import BACK
from sosie.planner.facts import Facts, Spread
from sosie.storage.room import Room
from sosie.types import F64, I64, Signatures, offsets_of

SAMPLE = 400  # sources that are compared with all targets
FARTHEST = 4096  # of the nearest by signatures that are looked at


def facts_of_links(views: Views, room: Room, *, by: Signed | None = None, k: int | None = None) -> Facts:
    """Return what is known before documents are compared.

    With signatures and `k`, some sources are compared with all targets, and it is looked up how many of the nearest by
    signatures have to be compared for each of the `k` most similar targets to be among them.
    """
    sides = views.source, views.target
    columns = sum(int(side.offsets[-1]) for side in sides)
    rows = sum(int(np.count_nonzero(np.diff(side.offsets))) for side in sides)
    return Facts(
        counted=True,
        features=columns / max(rows, 1),
        products=products_of(views),
        reached=None if by is None or k is None else _reached(views, room, by, k),
    )


def products_of(views: Views) -> float:
    """Return how many additions the products of all pairs take: of each column, the rows of one side times the other's.

    >>> rows = SparseRows(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.ones(3, np.float32))
    >>> products_of(Views(rows, rows, 2, (np.ones(2), np.ones(2)), (np.zeros(2, np.bool_), np.zeros(2, np.bool_))))
    5.0
    """
    counted = (np.bincount(side.columns, minlength=views.width) for side in (views.source, views.target))
    first, second = (counts.astype(np.float64) for counts in counted)
    return float(first @ second)


def rows_taken(rows: SparseRows, which: I64) -> SparseRows:
    """Return some rows, in the order that is given."""
    sizes = np.diff(rows.offsets)[which]
    ends = offsets_of(sizes)
    places = np.arange(ends[-1]) + np.repeat(rows.offsets[which] - ends[:-1], sizes)
    return SparseRows(ends, rows.columns[places], rows.weights[places])


def _reached(views: Views, room: Room, by: Signed, k: int) -> Spread | None:
    """Return the places of the most similar targets among the nearest by signatures, infinite beyond the farthest.

    A target that has the source among its own nearest is compared anyway: its place is 1.
    """
    sources = np.flatnonzero(np.diff(views.source.offsets))
    step = max(-(-len(sources) // SAMPLE), 1)
    sample = sources[step // 2 :: step]  # others than those by which the recall is measured afterwards
    best, _ = best_rows(rows_taken(views.source, sample), views.target, views.width, k, room)
    own, place = np.nonzero(best >= 0)
    if not len(own):
        return None
    wanted = best[own, place]
    (source, numbers), (target, others) = (by.sign(rows, room) for rows in (views.source, views.target))
    asking = _rows_of(source, numbers, sample)
    found = _places(asking, target, np.searchsorted(others, wanted), own, FARTHEST, room.threads)
    distinct, which = np.unique(wanted, return_inverse=True)
    turned = _rows_of(target, others, distinct)
    back = _places(turned, source, np.searchsorted(numbers, sample[own]), which, BACK, room.threads)
    found[np.isfinite(back)] = 1.0
    values, weights = np.unique(found, return_counts=True)
    return Spread(values, weights.astype(np.float64))


def _rows_of(signed: Signatures, numbers: I64, wanted: I64) -> Signatures:
    return Signatures(np.ascontiguousarray(signed.words[np.searchsorted(numbers, wanted)]), signed.bits)


def _places(asking: Signatures, asked: Signatures, rows: I64, own: I64, farthest: int, threads: int | None) -> F64:
    """Return at which place row rows[i] comes among the nearest of asking row own[i], from 1; infinite beyond."""
    count = min(farthest, len(asked))
    near = FlatIndex(Signatures(asked.words, asked.bits)).search(asking, k=count, threads=threads).rows
    ahead = near.reshape(len(asking), count)
    places = np.full(len(rows), np.inf)
    for i, (row, query) in enumerate(zip(rows.tolist(), own.tolist(), strict=True)):
        at = np.flatnonzero(ahead[query] == row)
        if len(at):
            places[i] = at[0] + 1
    return places
