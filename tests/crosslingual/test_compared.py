"""Comparing two languages: exactly as brute force, in any tiles and on threads; by signatures a part of that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_vectors as oracle
from tests.kernels.vectors.rows import WIDTH, dicts, rows, sparse

from sosie.crosslingual import compared
from sosie.crosslingual.compared import above, best_rows, nearest, similarities
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.views import Views
from sosie.errors import UsageError
from sosie.matches.chunks import Window
from sosie.storage.room import Room

tiles = st.fixed_dictionaries(
    {"_LISTED": st.integers(1, 9), "_SPAN": st.integers(1, 9), "_ROOM": st.integers(1, 9)}
)  # fmt: skip
threads = st.sampled_from([1, 1, 2])


def views_of(source, target, width=WIDTH):
    unknown = np.zeros(len(source)), np.zeros(len(target))
    return Views(sparse(source), sparse(target), width, unknown, tuple(each > 0 for each in unknown))


def found_by(result):
    return dict(zip(zip(result.a.tolist(), result.b.tolist(), strict=True), result.similarity.tolist(), strict=True))


def tiled(sizes):
    patch = pytest.MonkeyPatch()
    for name, size in sizes.items():
        patch.setattr(compared, name, size)
    return patch


@settings(max_examples=150)
@given(rows(8), rows(8), st.integers(1, 9), tiles, threads)
def test_the_nearest_are_those_of_brute_force(source, target, count, sizes, workers):
    views = views_of(source, target)
    patch = tiled(sizes)
    try:
        result = nearest(views, count, Room(".", threads=workers))
        best, products = best_rows(views.source, views.target, WIDTH, count, Room(".", threads=workers))
    finally:
        patch.undo()
    expected = oracle.nearest(dicts(views.source), dicts(views.target), count, min(2, count))
    assert found_by(result) == expected and result.recall == 1
    assert list(found_by(result)) == sorted(expected)
    count = min(count, max(len(target), 1))
    for row, own, values in zip(dicts(views.source), best.tolist(), products.tolist(), strict=True):
        right = oracle.best(row, dicts(views.target), count)
        assert list(zip(own, values, strict=True)) == right + [(-1, 0.0)] * (count - len(right))


@settings(max_examples=150)
@given(rows(8), rows(8), st.sampled_from([0.0625, 0.125, 0.25, 0.3, 0.5, 1.0]), tiles, threads)
def test_pairs_above_are_those_of_brute_force(source, target, least, sizes, workers):
    views = views_of(source, target)
    patch = tiled(sizes)
    try:
        result = above(views, least, Room(".", threads=workers))
    finally:
        patch.undo()
    expected = oracle.similar(dicts(views.source), dicts(views.target), least)
    assert found_by(result) == expected and list(found_by(result)) == sorted(expected)
    assert result.counters == {"comparisons": sum(map(bool, source)) * sum(map(bool, target))}
    assert result.recall == 1 and result.interval is None


def test_progress_is_told():
    views, told = views_of([{0: 1.0}] * 5, [{0: 1.0}] * 5), []
    patch = tiled({"_LISTED": 2, "_SPAN": 2})
    try:
        above(views, 0.5, Room(".", tell=lambda done, total: told.append((done, total))))
        assert told == [(1, 9)] * 9
        best_rows(views.source, views.target, WIDTH, 1, Room(".", tell=lambda done, total: told.append((done, total))))
        assert told == [(1, 9)] * 18
    finally:
        patch.undo()


def near_twins(count, seed=1, width=60, noise=0.25):
    """Rows of length 1: target i is near to source i, and some rows are empty."""
    rng = np.random.default_rng(seed)
    own = rng.random((count, width)) * (rng.random((count, width)) < 0.3)
    other = own + noise * rng.random((count, width)) * (rng.random((count, width)) < 0.3)
    made = []
    for side, empty in ((own, 3), (other, 5)):
        side = side / np.linalg.norm(side, axis=1, keepdims=True)
        side[empty] = 0
        made.append([{c: float(row[c]) for c in np.flatnonzero(row).tolist()} for row in side])
    return views_of(*made, width)


TWINS = near_twins(40)
EVERY = oracle.similar(dicts(TWINS.source), dicts(TWINS.target), 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_nearest_by_signatures(workers):
    room = Room(".", threads=workers)
    few = nearest(TWINS, 3, room, Signed(512))
    assert found_by(few).items() <= EVERY.items() and list(found_by(few)) == sorted(found_by(few))
    assert few.recall is None and few.counters == {"bits": 512, "compared": len(few)}
    assert 3 * 39 <= len(few) < len(EVERY)
    assert all((i, i) in found_by(few) for i in range(40) if i not in (3, 5))
    alone = nearest(TWINS, 1, room, Signed(512))
    assert {b for _, b in found_by(alone)} == set(range(40)) - {5}  # each target asks for its sources, too
    assert {a for a, _ in found_by(alone)} == set(range(40)) - {3}
    for count in (40, 1000):
        assert found_by(nearest(TWINS, count, room, Signed(64))) == EVERY == found_by(nearest(TWINS, count, room))


@pytest.mark.parametrize("by", [Signed(512), Signed(512, 7), Signed(512, window=Window(tables=20, window=30))])
def test_pairs_above_by_signatures(by):
    result = above(TWINS, 0.8, Room(".", threads=2), by)
    expected = {pair: value for pair, value in EVERY.items() if value >= 0.8}
    assert found_by(result).items() <= expected.items() and len(result) >= 0.9 * len(expected) > 30
    low, high = result.interval
    assert 0 < low <= result.recall <= high <= 1 and result.recall > 0.9
    assert found_by(above(TWINS, 0.8, Room(".", threads=1), by)) == found_by(result)


def test_a_window_as_wide_as_all_rows_finds_what_brute_force_does():
    room = Room(".")
    wide = above(TWINS, 0.5, room, Signed(256, window=Window(tables=2, window=200)))
    assert found_by(wide) == found_by(above(TWINS, 0.5, room, Signed(256)))


@pytest.mark.parametrize("by", [None, Signed(64), Signed(64, window=Window(tables=2, window=2))])
@pytest.mark.parametrize("source, target", [([], []), ([{}], [{}, {}]), ([{}, {}], [{0: 1.0}]), ([{0: 1.0}], [])])
def test_what_is_empty_is_never_matched(source, target, by):
    views = views_of(source, target)
    for result in (nearest(views, 2, Room("."), by), above(views, 0.1, Room("."), by)):
        assert len(result) == 0 and result.similarity.tolist() == []


@pytest.mark.parametrize("by", [None, Signed(64)])
def test_too_many_pairs_are_refused(by):
    views = views_of([{0: 1.0}] * 4, [{0: 1.0}] * 5)
    assert len(above(views, 1.0, Room("."), by, max_pairs=20)) == 20
    with pytest.raises(UsageError, match="more than the 19 that are listed at most"):
        above(views, 1.0, Room("."), by, max_pairs=19)


def test_what_is_refused():
    for least in (0, -0.5, 1.01, float("nan")):
        with pytest.raises(UsageError, match="above 0 and at most 1"):
            above(TWINS, least, Room("."))
    with pytest.raises(UsageError, match="at least 1 document"):
        nearest(TWINS, 0, Room("."))


def test_as_many_as_anyone_may_ask_for():
    """Room is needed for the targets that there are, not for those that are asked for."""
    assert found_by(nearest(TWINS, 1 << 40, Room("."))) == EVERY


def test_similarities_of_given_pairs():
    a, b = (np.array(each, np.int64) for each in zip(*reversed(EVERY), strict=True))
    patch = tiled({"_ROOM": 7})
    try:
        assert similarities(TWINS, a, b, 2).tolist() == [EVERY[pair] for pair in reversed(EVERY)]
    finally:
        patch.undo()
