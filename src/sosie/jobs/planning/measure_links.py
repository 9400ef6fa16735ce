"""What single steps of linking take on this machine: vectors compared over lists by column, signed, and in pairs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from sosie.crosslingual.compared import best_rows, similarities
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Views
from sosie.jobs.planning.of_links import products_of, rows_taken
from sosie.kernels.vectors.dots import SparseRows
from sosie.storage.room import Room

_ROWS, _ASKING, _COLUMNS, _WIDTH = 20_000, 300, 300, 60_000
_NARROW = 4  # columns of vectors whose products are hardly worth adding: what is left is looking at them
_SIGNED = 400  # rows
_PAIRS = 40_000
_REPEATS = 3


def measure(threads: int) -> dict[str, float | dict[int, float]]:
    """Return the constants of links, of one thread, measured on vectors whose columns are as skewed as words are."""
    views, narrow = _views(_COLUMNS), _views(_NARROW)
    chance = np.random.default_rng(1)
    a, b = chance.integers(0, _ASKING, _PAIRS), chance.integers(0, _ROWS, _PAIRS)
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        room = Room(scratch, threads=1)
        wide, little = (_nanoseconds(partial(_compare, each, room)) for each in (views, narrow))
        few = rows_taken(views.target, np.arange(_SIGNED))
        signing = {bits: _nanoseconds(partial(Signed(bits).sign, few, room)) / len(few.columns) for bits in (256, 1024)}
        paired = _nanoseconds(lambda: similarities(views, a, b, 1))
    products, others, pairs = products_of(views), products_of(narrow), _ASKING * _ROWS
    each = (wide - little) / (products - others)
    return {
        "link.product": each,
        "link.score": max(little - each * others, 0.1 * little) / pairs,
        "link.sign": signing,
        "link.column": paired / (2 * _COLUMNS * _PAIRS),
    }


def _compare(views: Views, room: Room) -> None:
    best_rows(views.source, views.target, views.width, 10, room)


def _views(columns: int) -> Views:
    """Return vectors of so many columns each, of which few are in most and most are in few."""
    source, target = _rows(_ASKING, columns, 2), _rows(_ROWS, columns, 3)
    return Views(
        source,
        target,
        _WIDTH,
        (np.ones(_ASKING), np.ones(_ROWS)),
        (np.zeros(_ASKING, np.bool_), np.zeros(_ROWS, np.bool_)),
    )


def _rows(count: int, columns: int, seed: int) -> SparseRows:
    drawn = np.random.default_rng(seed).random((count, columns)) ** 3  # the commonest columns come first
    apart = np.sort((drawn * (_WIDTH - columns)).astype(np.int32), axis=1) + np.arange(columns, dtype=np.int32)[None]
    weights = np.full(count * columns, columns**-0.5, np.float32)
    return SparseRows(np.arange(count + 1) * columns, apart.astype(np.int32).reshape(-1), weights)


def _nanoseconds(job: Callable[[], object]) -> float:
    """Return the shortest of some times, after one that compiles."""
    job()
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter_ns()
        job()
        times.append(time.perf_counter_ns() - start)
    return float(min(times))
