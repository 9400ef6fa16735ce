"""Inner products: of lists, of the best and of given pairs, with the same bits in all three ways."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_vectors as oracle
from tests.kernels.vectors.rows import WIDTH, dicts, rows, sparse

from sosie.arrays import read_only
from sosie.kernels.vectors.dots import best_of_lists, list_rows, pair_products, pairs_of_lists


@given(rows(), st.data())
def test_lists_are_rows_by_column(drawn, data):
    made = sparse(drawn)
    last = data.draw(st.integers(0, len(drawn)))
    first = data.draw(st.integers(0, last))
    lists = list_rows(made, first, last, WIDTH)
    assert len(lists.offsets) == WIDTH + 1 and lists.offsets[0] == 0
    for column in range(WIDTH):
        own = slice(lists.offsets[column], lists.offsets[column + 1])
        expected = [(i, row[column]) for i, row in enumerate(dicts(made)[first:last]) if column in row]
        assert list(zip(lists.rows[own].tolist(), lists.weights[own].tolist(), strict=True)) == expected


def best_by_parts(asking, asked, cuts, first, last, k):
    """Ask one listed part after the other, as `best_rows` does."""
    best, products = np.full((last - first, k), -1), np.zeros((last - first, k))
    ends = [*cuts, len(asked.offsets) - 1]
    for start, end in zip([0, *ends], ends, strict=False):
        scores = np.full(end - start, np.nan)
        best_of_lists(asking, first, last, list_rows(asked, start, end, WIDTH), start, scores, best, products)
    return best, products


@settings(max_examples=200)
@given(rows(4, 1), rows(12), st.integers(1, 15), st.data())
def test_the_best_of_all_listed_parts(drawn, others, k, data):
    asking, asked = sparse(drawn), sparse(others)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(others)), max_size=3)))
    last = data.draw(st.integers(1, len(drawn)))
    first = data.draw(st.integers(0, last - 1))
    best, products = best_by_parts(asking, asked, cuts, first, last, k)
    for number, row in enumerate(dicts(asking)[first:last]):
        expected = oracle.best(row, dicts(asked), k)
        missing = k - len(expected)
        assert best[number].tolist() == [other for other, _ in expected] + [-1] * missing
        assert products[number].tolist() == [value for _, value in expected] + [0.0] * missing


def test_equal_products_stay_in_the_order_of_rows():
    asked = sparse([{0: 0.5}, {0: 1.0}, {}, {0: 0.5}, {0: 1.0}, {1: 1.0}, {0: 0.5}])
    for cuts in ([], [1], [3, 4], [4]):
        best, products = best_by_parts(sparse([{0: 1.0}]), asked, cuts, 0, 1, 4)
        assert best.tolist() == [[1, 4, 0, 3]] and products.tolist() == [[1.0, 1.0, 0.5, 0.5]]


@settings(max_examples=200)
@given(rows(6), rows(6), st.sampled_from([0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 0.3]), st.integers(0, 12), st.data())
def test_pairs_above_while_there_is_room(drawn, others, least, size, data):
    asking, asked = sparse(drawn), sparse(others)
    last = data.draw(st.integers(0, len(drawn)))
    first = data.draw(st.integers(0, last))
    found, products = np.full(size, -1), np.full(size, np.nan)
    lists, scores = list_rows(asked, 0, len(others), WIDTH), np.full(len(others), np.nan)
    row, count = pairs_of_lists(asking, first, last, lists, least, scores, found, products)
    expected = oracle.similar(dicts(asking), dicts(asked), least)
    fits = [row for row in range(first, last + 1) if sum(first <= a < row for a, _ in expected) <= size]
    assert row == max(fits)
    written = [(a, b) for a, b in sorted(expected) if first <= a < row]
    assert [(pair >> 32, pair & 0xFFFFFFFF) for pair in found[:count].tolist()] == written
    assert products[:count].tolist() == [expected[pair] for pair in written]


@settings(max_examples=150)
@given(rows(5, 1), rows(5, 1), st.data())
def test_given_pairs(drawn, others, data):
    a, b = sparse(drawn), sparse(others)
    pair = st.tuples(st.integers(0, len(drawn) - 1), st.integers(0, len(others) - 1))
    pairs = np.array(data.draw(st.lists(pair, max_size=8)), np.int64).reshape(-1, 2)
    products = np.full(len(pairs), np.nan)
    pair_products(a, b, read_only(pairs[:, 0].copy()), read_only(pairs[:, 1].copy()), products)
    assert products.tolist() == [oracle.product(dicts(a)[i], dicts(b)[j]) for i, j in pairs.tolist()]


def test_a_pair_has_the_same_bits_in_all_three_ways():
    rng = np.random.default_rng(3)
    wide = [{int(c): float(rng.random()) for c in rng.permutation(200)[:60]} for _ in range(40)]
    a, b = sparse(wide[:20]), sparse(wide[20:])
    best, values = np.full((20, 20), -1), np.zeros((20, 20))
    lists = list_rows(b, 0, 20, 200)
    best_of_lists(a, 0, 20, lists, 0, np.empty(20), best, values)
    assert (best >= 0).all()
    found, products = np.empty(400, np.int64), np.empty(400)
    assert pairs_of_lists(a, 0, 20, lists, 0.0, np.empty(20), found, products) == (20, 400)
    pairs = np.empty(400)
    pair_products(a, b, read_only(found >> 32), read_only(found & 0xFFFFFFFF), pairs)
    turned = np.empty(400)
    pair_products(b, a, read_only(found & 0xFFFFFFFF), read_only(found >> 32), turned)
    assert np.array_equal(pairs, products) and np.array_equal(turned, products)
    assert np.array_equal(np.take_along_axis(products.reshape(20, 20), best, axis=1), values)
