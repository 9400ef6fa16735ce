"""Counts in another vocabulary: like a dictionary that adds up what stands for each term."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle_vectors as oracle

from sosie.kernels.vectors.project import Counted, Table, project
from sosie.types import offsets_of

TERMS, WIDTH = 6, 5
entry = st.tuples(st.integers(0, WIDTH - 1), st.sampled_from([0.0, 0.25, 0.5, 1.0, 0.1]))
tables = st.lists(st.lists(entry, max_size=5), min_size=TERMS, max_size=TERMS)
counted = st.lists(st.dictionaries(st.integers(0, TERMS - 1), st.integers(1, 9), max_size=5), max_size=6)


@given(counted, tables)
def test_against_a_dictionary(rows, entries):
    flat = [pair for own in entries for pair in own]
    columns = np.array([column for column, _ in flat], np.int32)
    table = Table(offsets_of([len(own) for own in entries]), columns, np.array([value for _, value in flat]))
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    counts = np.array([row[term] for row in rows for term in sorted(row)], np.float64)
    offsets, found, sums = project(Counted(offsets_of([len(row) for row in rows]), terms, counts), table, WIDTH)
    assert len(offsets) == len(rows) + 1 and offsets[0] == 0 and offsets[-1] == len(found) == len(sums)
    for number, row in enumerate(rows):
        own = slice(offsets[number], offsets[number + 1])
        expected = oracle.projected({term: row[term] for term in sorted(row)}, entries)
        assert found[own].tolist() == sorted(expected)
        assert sums[own].tolist() == pytest.approx([expected[column] for column in sorted(expected)], rel=1e-12)
