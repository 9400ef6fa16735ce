from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.documents import seen as module
from sosie.documents.ids import DocumentIds
from sosie.documents.input import Input
from sosie.documents.seen import SeenIds
from sosie.storage.ids import hash_ids

strings = st.lists(st.text("aé", max_size=3), max_size=40)
integers = st.lists(st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63)]), max_size=40)


@given(values=strings | integers, cuts=st.lists(st.integers(0, 40), max_size=5), collide=st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_earlier_owner_is_found_whatever_the_batches_and_the_hash(values, cuts, collide):
    kind = pa.int64() if values and isinstance(values[0], int) else pa.large_string()
    ids = pa.array(values, kind)
    first: dict[object, int] = {}
    expected = [-1 if first.setdefault(value, row) == row else first[value] for row, value in enumerate(values)]
    found = []
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(module, "hash_ids", lambda part: np.array([hash(v) % 3 for v in part.to_pylist()], np.uint64))
        index = SeenIds(lambda rows: ids.take(pa.array(rows)))
        edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
        for start, stop in pairwise(edges):
            found += index.admit(ids[start:stop], np.arange(start, stop)).tolist()
    assert found == expected


def test_hashes_are_distinct_and_do_not_depend_on_the_slice():
    values = [f"doc-{i}" for i in range(20_000)] + ["", "a", "aa", "a\0", "\0", "\0\0", "x" * 70_000, "x" * 70_001]
    ids = pa.array(values, pa.large_string())
    hashes = hash_ids(ids)
    assert len(np.unique(hashes)) == len(values)
    np.testing.assert_array_equal(hash_ids(ids[7:]), hashes[7:])


@given(
    files=st.lists(st.lists(st.lists(st.booleans(), max_size=6), max_size=4), min_size=1, max_size=4), data=st.data()
)
def test_made_ids_know_the_line_of_every_record(files, data):
    """Each file is a list of blocks, each block a list of lines that are blank or not."""
    ids = DocumentIds([Input(f"{n}.jsonl", f"{n}.jsonl", "jsonl") for n in range(len(files))], None)
    expected = []
    for number, blocks in enumerate(files):
        before = 0
        for block in blocks:
            lines = np.flatnonzero(block)
            expected += [f"{number}.jsonl:{before + line + 1}" for line in lines]
            ids.extend(number, len(lines), None, None if all(block) else lines, len(block))
            before += len(block)
    assert len(ids) == len(expected)
    rows = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=9)) if expected else []
    assert ids.take(rows).to_pylist() == [expected[row] for row in rows]
    places = ids.places(np.array(rows, np.int64))
    assert [place.replace(", line ", ":") for place in places] == [expected[row] for row in rows]


@given(chunks=st.lists(st.lists(st.none() | st.text(max_size=3), max_size=5), max_size=6), data=st.data())
def test_stored_ids_are_taken_from_any_chunk(chunks, data):
    ids = DocumentIds([Input("a.jsonl", "a.jsonl", "jsonl")], pa.large_string())
    for chunk in chunks:
        known = np.array([i for i, value in enumerate(chunk) if value is not None], np.int64)
        ids.extend(0, len(chunk), pa.array([chunk[i] for i in known], pa.large_string()), None, len(chunk), known)
    flat = [value for chunk in chunks for value in chunk]
    rows = data.draw(st.lists(st.integers(0, len(flat) - 1), max_size=9)) if flat else []
    assert ids.take(rows).to_pylist() == [flat[row] for row in rows]
