"""BM25 of fractions: by its formula, of length 1, and 0 where nothing is rare."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle_vectors as oracle

from sosie.arrays import read_only
from sosie.kernels.vectors.weigh import rarities, weigh_rows
from sosie.types import offsets_of


def rarity_of(frequencies, documents):
    found = np.full(len(frequencies), np.nan)
    rarities(read_only(np.array(frequencies, np.float64)), float(documents), found)
    return found.tolist()


@given(st.lists(st.one_of(st.floats(0, 50), st.integers(0, 30)), max_size=8), st.integers(0, 30))
def test_rarities_are_those_of_the_formula(frequencies, documents):
    expected = [oracle.rarity(df, documents) for df in frequencies]
    assert rarity_of(frequencies, documents) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_what_no_document_has_and_what_more_than_all_have():
    assert rarity_of([0, 10.5, 11, 1e9], 10) == [0, 0, 0, 0]
    assert rarity_of([10], 10) == pytest.approx([math.log(1 + 0.5 / 10.5)])
    assert rarity_of([], 10) == []


COLUMNS = 5
counted = st.dictionaries(st.integers(0, COLUMNS - 1), st.floats(0.001, 20), max_size=4)
idfs = st.lists(st.one_of(st.just(0.0), st.floats(0.01, 9)), min_size=COLUMNS, max_size=COLUMNS)


@given(st.lists(counted, max_size=6), idfs, st.floats(0.5, 30))
def test_weights_are_those_of_the_formula(rows, idf, mean):
    columns = np.array([column for row in rows for column in sorted(row)], np.int32)
    counts = np.array([row[column] for row in rows for column in sorted(row)], np.float64)
    offsets = offsets_of([len(row) for row in rows])
    weights = np.full(len(columns), np.nan)
    weigh_rows(*map(read_only, (offsets, columns, counts)), read_only(np.array(idf)), mean, weights)
    for number, row in enumerate(rows):
        own = weights[offsets[number] : offsets[number + 1]].tolist()
        expected = oracle.weighed({column: row[column] for column in sorted(row)}, idf, mean)
        assert own == pytest.approx([expected[column] for column in sorted(row)], rel=1e-9)
        assert [weight > 0 for weight in own] == [idf[column] > 0 for column in sorted(row)]
        assert math.hypot(*own) == pytest.approx(float(any(idf[column] for column in row)))
