"""One suite over every join of signatures; and the join of keys."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, WIDTHS, pairs_sharing, pairs_within, signatures

import sosie
from sosie.errors import MismatchError, UsageError
from sosie.matches import keys as key_module
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.matches.keys import join_keys, key_groups
from sosie.types import Keys, Signatures

JOINS = {
    "blocks": join_blocks,
    "brute": join_brute,
}
every_join = pytest.mark.parametrize("join", JOINS.values(), ids=JOINS.keys())


def listed(pairs):
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


def radii(width):
    return sorted({0, 1, 3, width // 16, width // 5, width // 2, width - 1} & set(range(width)))


@every_join
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_collection_with_itself(join, kind, width):
    rows = signatures(kind, 90, width)
    for radius in radii(width):
        pairs = join(rows, None, radius)
        assert listed(pairs) == pairs_within(rows, None, radius)
        assert pairs.a.dtype == pairs.b.dtype == np.int64


@every_join
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_two_collections(join, kind, width):
    a, b = signatures(kind, 80, width), signatures(kind, 75, width, seed=0)
    b = Signatures(np.concatenate([b.words[40:], signatures("random", 10, width, 5).words]), width)
    for radius in radii(width)[:4]:
        assert listed(join(a, b, radius)) == pairs_within(a, b, radius)


@every_join
@pytest.mark.parametrize("count", (0, 1, 2, 255, 256, 257, 700))
@pytest.mark.parametrize("width", (64, 130))
def test_any_number_of_rows(join, count, width):
    rows = signatures("clustered", count, width)
    none = Signatures(rows.words[:0], width)
    assert listed(join(rows, None, 5)) == pairs_within(rows, None, 5)
    assert listed(join(rows, none, 5)) == listed(join(none, rows, 5)) == []


@every_join
@pytest.mark.parametrize("width", (64, 256))
def test_threads_change_nothing(join, width):
    rows = signatures("clustered", 900, width)
    alone = join(rows, None, 6, threads=1)
    assert len(alone)
    for threads in (2, 7):
        together = join(rows, None, 6, threads=threads)
        assert listed(together) == listed(alone)
        assert together.counters == alone.counters


@every_join
def test_large_groups_of_equal_rows_become_stars(join):
    zero, one = np.zeros((100, 1), np.uint64), np.ones((3, 1), np.uint64)
    pairs = join(Signatures(np.concatenate([zero, one])), None, 0)
    assert listed(pairs) == [(0, i) for i in range(1, 100)] + [(100, 101), (100, 102), (101, 102)]
    assert pairs.counters["bounded_groups"] == 1
    assert pairs.counters["bounded_pairs"] == 100 * 99 // 2 - 99
    near = join(Signatures(np.concatenate([zero, one])), None, 1)
    assert listed(near) == pairs_within(Signatures(np.concatenate([zero, one])), None, 1)
    assert len(near) + near.counters["bounded_pairs"] == 103 * 102 // 2
    across = join(Signatures(zero), Signatures(np.concatenate([zero, one])), 1)
    assert listed(across) == pairs_within(Signatures(zero), Signatures(np.concatenate([zero, one])), 1)
    assert len(across) + across.counters["bounded_pairs"] == 100 * 103


@every_join
def test_an_exact_join_says_so_and_what_stars_leave_out(join):
    rows, none = signatures("clustered", 90, 64), Signatures(np.empty((0, 1), np.uint64))
    assert join(rows, None, 3).recall == join(rows, rows, 3).recall == 1.0
    assert join(none, None, 3).recall == join(rows, none, 3).recall == 1.0
    copies = Signatures(np.array([7] * 65 + [9, 9], np.uint64))
    inside, across = join(copies, None, 0), join(copies, copies, 0)
    assert inside.recall == len(inside) / (65 * 64 // 2 + 1) and len(inside) == 65
    assert across.recall == len(across) / (65 * 65 + 4) < 1


@every_join
def test_signatures_made_for_each_other_are_joined(join):
    german = Signatures(np.array([5], np.uint64), digest="german", space="both")
    english = Signatures(np.array([4], np.uint64), digest="english", space="both")
    assert listed(join(german, english, 1)) == [(0, 0)]
    with pytest.raises(MismatchError, match="sign both with one signer, or with signers within one space"):
        join(german, Signatures(np.array([4], np.uint64), digest="german"), 1)


@every_join
def test_many_equal_rows_are_quick(join):
    pairs = join(Signatures(np.zeros((50_000, 1), np.uint64)), None, 3)
    assert len(pairs) == 49_999


@every_join
def test_more_pairs_than_any_buffer_holds(join):
    rows = Signatures(np.arange(1200, dtype=np.uint64))
    assert len(join(rows, None, 40)) == 1200 * 1199 // 2


@settings(deadline=None, max_examples=40)
@given(
    width=st.sampled_from((5, 20, 64, 100)),
    radius=st.integers(0, 12),
    seed=st.integers(0, 999),
    count=st.integers(0, 300),
)
def test_blocks_and_brute_force_agree(width, radius, seed, count):
    rows = signatures("clustered", count, width, seed)
    radius = min(radius, width - 1)
    blocks, brute = join_blocks(rows, None, radius), join_brute(rows, None, radius)
    assert listed(blocks) == listed(brute)
    assert {**blocks.counters, "tables": 0, "comparisons": 0} == {**brute.counters, "tables": 0, "comparisons": 0}


@every_join
def test_what_does_not_fit_is_refused(join):
    rows = signatures("random", 10, 64, digest="a")
    for radius in (-1, 65):
        with pytest.raises(UsageError):
            join(rows, None, radius)
    with pytest.raises(MismatchError):
        join(rows, signatures("random", 10, 65), 1)
    with pytest.raises(MismatchError):
        join(rows, signatures("random", 10, 64, digest="b"), 1)


def keys_of(count, tables, kinds, seed=0):
    return np.random.default_rng(seed).integers(0, kinds, (count, tables), dtype=np.uint64)


@settings(deadline=None, max_examples=40)
@given(
    count=st.integers(0, 120),
    others=st.integers(0, 60),
    tables=st.integers(1, 5),
    kinds=st.integers(1, 400),
    seed=st.integers(0, 999),
)
def test_key_joins(count, others, tables, kinds, seed):
    a, b = keys_of(count, tables, kinds, seed), keys_of(others, tables, kinds, seed + 1)
    assert listed(join_keys(Keys(a))) == pairs_sharing(a)
    assert listed(join_keys(Keys(a), Keys(b))) == pairs_sharing(a, b)


@settings(deadline=None, max_examples=40)
@given(count=st.integers(2, 80), tables=st.integers(1, 4), kinds=st.integers(1, 30), limit=st.integers(2, 9))
def test_dense_groups_are_given_apart(count, tables, kinds, limit):
    values = keys_of(count, tables, kinds)
    groups = key_groups(list(values.T), limit)
    dense, loose = [], set()
    for table in range(tables):
        for key in range(kinds):
            rows = np.flatnonzero(values[:, table] == key).tolist()
            if len(rows) > limit:
                dense.append((table, rows))
            else:
                loose.update((i, j) for i in rows for j in rows if i < j)
    assert list(zip(groups.a.tolist(), groups.b.tolist(), strict=True)) == sorted(loose)
    given_apart = [part.tolist() for part in np.split(groups.members, groups.offsets[1:-1]) if len(part)]
    assert sorted(given_apart) == sorted(rows for _, rows in dense)
    assert len(groups.offsets) == len(dense) + 1


@pytest.mark.parametrize("part", [1, 7, 50])
def test_large_tables_are_grouped_in_parts(part, monkeypatch):
    values = keys_of(300, 3, 90)
    whole = key_groups(list(values.T), 4)
    monkeypatch.setattr(key_module, "PART", part)
    parts = key_groups(list(values.T), 4)
    assert np.array_equal(whole.a, parts.a) and np.array_equal(whole.b, parts.b)
    apart = [sorted(rows.tolist() for rows in np.split(found.members, found.offsets[1:-1])) for found in (whole, parts)]
    assert apart[0] == apart[1] and apart[0]
    assert listed(join_keys(Keys(values[:100]), Keys(values[100:]))) == pairs_sharing(values[:100], values[100:])


def test_crowded_tables_are_bounded_by_the_first(monkeypatch):
    values = [np.repeat(np.arange(5, dtype=np.uint64), 20), np.arange(100, dtype=np.uint64)]
    assert len(key_groups(values, 64, most=2 * 5 * 190).a) == 5 * 190
    crowded = key_groups(values, 64, most=2 * 5 * 190 - 1)
    assert len(crowded.a) == 0 and len(crowded.offsets) == 6


def test_more_pairs_than_asked_for_are_refused():
    values = np.array([[1, i] for i in range(8)] + [[2, 3], [3, 3]], np.uint64)
    every = sorted([*itertools.combinations(range(8), 2), (3, 8), (3, 9), (8, 9)])
    assert listed(join_keys(Keys(values), max_pairs=len(every))) == every
    for most in (len(every) - 1, 5):  # of all tables, and of one table alone
        with pytest.raises(UsageError, match=f"more than the {most} that are listed at most"):
            join_keys(Keys(values), max_pairs=most)
    with pytest.raises(UsageError, match="15 pairs are similar"):
        join_keys(Keys(values[:3]), Keys(values[3:]), max_pairs=14)


@pytest.mark.parametrize("method", ["blocks", "brute"])
def test_with_a_limit_equal_signatures_are_listed_with_all_pairs(method):
    words = np.repeat(np.array([7, 6, 2**40], np.uint64), 100)
    every = [(a, b) for a, b in itertools.combinations(range(300), 2) if b < 200 or a >= 200]
    assert listed(sosie.join(Signatures(words), radius=1, method=method)) == every
    across = sosie.join(Signatures(words[:100]), Signatures(words[100:]), radius=1, method=method)
    assert len(across) == 100 * 100 and across.recall == 1.0
    with pytest.raises(UsageError, match=f"{len(every):,} pairs are similar"):
        sosie.join(Signatures(words), radius=1, method=method, max_pairs=len(every) - 1)


def test_far_too_many_pairs_are_estimated_before_the_work():
    words = np.arange(1 << 13, dtype=np.uint64)
    with pytest.raises(UsageError, match=r"about [0-9,]+ pairs are similar"):
        sosie.join(Signatures(words), radius=64, method="brute", max_pairs=10**6)


def test_key_joins_do_not_depend_on_threads():
    values = Keys(keys_of(3000, 6, 900))
    alone = listed(join_keys(values, threads=1))
    assert alone == listed(join_keys(values, threads=2)) == listed(join_keys(values, threads=7))


def test_keys_say_nothing_of_the_recall():
    assert join_keys(Keys(keys_of(50, 2, 9))).recall is None


def test_keys_made_for_each_other_are_joined():
    german, english = (Keys(np.array([[5, key]], np.uint64), digest=str(key), space="both") for key in (1, 2))
    assert listed(join_keys(german, english)) == [(0, 0)]


def test_keys_that_do_not_fit_are_refused():
    with pytest.raises(MismatchError):
        join_keys(Keys(keys_of(3, 2, 9)), Keys(keys_of(3, 4, 9)))
    with pytest.raises(MismatchError):
        join_keys(Keys(keys_of(3, 2, 9), digest="a"), Keys(keys_of(3, 2, 9), digest="b"))
