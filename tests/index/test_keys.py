from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import listed

from sosie.errors import MismatchError, UsageError
from sosie.index.files import load_index
from sosie.index.keys import KeyIndex
from sosie.types import Keys


def keys_of(count, tables, kinds, seed=0):
    return np.random.default_rng(seed).integers(0, kinds, (count, tables), dtype=np.uint64)


def sharing(queries, values):
    found = []
    for query in queries:
        disagree = (values != query).sum(axis=1)
        found.append(sorted((int(d), row) for row, d in enumerate(disagree) if d < values.shape[1]))
    return found


@settings(deadline=None, max_examples=60)
@given(
    pieces=st.lists(st.integers(0, 90), min_size=1, max_size=8),
    tables=st.integers(1, 5),
    kinds=st.sampled_from((1, 2, 30, 1000, 2**63)),
    seed=st.integers(0, 99),
)
def test_candidates_share_a_key(pieces, tables, kinds, seed):
    values = keys_of(sum(pieces), tables, kinds, seed)
    queries = np.concatenate([values[::7], keys_of(5, tables, kinds, seed + 1)])
    cuts = np.cumsum([0, *pieces])
    index = KeyIndex(Keys(values[: cuts[1]]))
    for start, stop in pairwise(cuts[1:]):
        index.add(Keys(values[start:stop]))
    found = index.candidates(Keys(queries))
    assert listed(found) == sharing(queries, values)
    assert found.ids.to_pylist() == found.rows.tolist()
    assert len(index) == len(values)


def test_added_one_by_one_there_are_few_runs():
    values = keys_of(300, 2, 50)
    index = KeyIndex(Keys(values[:0]))
    for row in range(300):
        index.add(Keys(values[row : row + 1]))
    assert len(index._state.stored.runs) <= 9
    assert listed(index.candidates(Keys(values[:20]))) == sharing(values[:20], values)


@pytest.mark.parametrize("loaded", [False, True])
def test_removed_rows_are_not_found_and_the_others_keep_their_numbers(tmp_path, loaded):
    values, ids = keys_of(90, 3, 20), [f"d{row}" for row in range(90)]
    index = KeyIndex(Keys(values[:60], ids=ids[:60]))
    index.remove(["d7", "d41"])
    if loaded:
        index.save(tmp_path / "a")
        index = load_index(tmp_path / "a")
    index.add(Keys(values[60:], ids=ids[60:]))
    index.remove(["d60"])
    live = [[(far, row) for far, row in found if row not in (7, 41, 60)] for found in sharing(values[:20], values)]
    assert listed(index.candidates(Keys(values[:20]))) == live and len(index) == 87
    with pytest.raises(MismatchError, match="no row has the id 'd7'"):
        index.remove(["d7"])
    index.add(Keys(values[7:8], ids=["d7"]))
    assert index.candidates(Keys(values[7:8])).ids[0].as_py() == "d7" and len(index) == 88


def test_one_key_for_all_and_threads_change_nothing():
    values = np.zeros((5000, 3), np.uint64)
    index = KeyIndex(Keys(values))
    alone = index.candidates(Keys(values[:300]), threads=1)
    assert np.array_equal(np.diff(alone.offsets), np.full(300, 5000))
    assert np.array_equal(alone.of(7)[0], np.arange(5000))
    for threads in (2, 7):
        together = index.candidates(Keys(values[:300]), threads=threads)
        assert np.array_equal(together.rows, alone.rows)
        assert together.counters == alone.counters


def test_ids_and_refusals():
    values = keys_of(4, 2, 2**60)
    index = KeyIndex(Keys(values, ids=list("abcd"), digest="x"))
    assert index.candidates(Keys(values[2:3])).ids.to_pylist() == ["c"]
    assert index.ids.to_pylist() == list("abcd")
    for wrong in (Keys(values, ids=list("efga")), Keys(keys_of(1, 3, 9)), Keys(values, ids=list("efgh"), digest="y")):
        with pytest.raises(MismatchError):
            index.add(wrong)
    with pytest.raises(MismatchError):
        index.candidates(Keys(keys_of(1, 3, 9)))
    assert len(index) == 4
    assert index.tables == 2
    assert len(index.candidates(Keys(values[:0]))) == 0


def test_more_than_the_machine_can_hold_is_refused_and_nothing_changes(monkeypatch):
    values = keys_of(3000, 4, 50)
    index = KeyIndex(Keys(values[:1000]))
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: 4 * 24 * 3000)
    with pytest.raises(UsageError, match=r"3,000 rows of 4 keys need about 0\.4 MB .* 0\.3 MB"):
        index.add(Keys(values[1000:]))
    assert len(index) == 1000
    monkeypatch.undo()
    index.add(Keys(values[1000:]))
    assert listed(index.candidates(Keys(values[:9]))) == sharing(values[:9], values)


def test_many_threads_look_up_one_index():
    values = keys_of(3000, 4, 50)
    index = KeyIndex(Keys(values))
    parts = [Keys(values[start : start + 40]) for start in range(0, 1280, 40)]
    alone = [listed(index.candidates(part, threads=1)) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda part: listed(index.candidates(part, threads=2)), parts)) == alone


@pytest.mark.parametrize("kinds", (3, 40, 2**63))
def test_what_is_found_does_not_depend_on_how_it_is_counted(kinds, monkeypatch):
    values = keys_of(700, 4, kinds)
    index = KeyIndex(Keys(values[:500]))
    index.add(Keys(values[500:]))
    index.remove([7, 600])
    found = []
    for many in (0, 16, 2**60):
        monkeypatch.setattr("sosie.planner.methods.keys.FEW_FOUND", many)
        found.append(listed(index.candidates(Keys(values[:50]))))
    assert found[0] == found[1] == found[2]
    truth = sharing(values[:50], values)
    assert found[0] == [[(far, row) for far, row in pairs if row not in (7, 600)] for pairs in truth]


def test_a_single_query_has_no_counter_for_every_row(monkeypatch):
    values = keys_of(5000, 3, 2**63)
    index = KeyIndex(Keys(values))
    monkeypatch.setattr("sosie.index.keys.find_rows", lambda *args: pytest.fail("all rows are counted"))
    assert index.candidates(Keys(values[77:78])).rows.tolist() == [77]


def test_a_query_can_leave_itself_out():
    values = keys_of(60, 3, 9)
    ids = [f"d{row}" for row in range(60)]
    index = KeyIndex(Keys(values, ids=ids))
    found = index.candidates(Keys(values[:20], ids=ids[:20]), exclude_self=True)
    others = [
        [(far, row) for far, row in pairs if row != own] for own, pairs in enumerate(sharing(values[:20], values))
    ]
    assert listed(found) == others
    assert index.keys.ids.to_pylist() == ids and np.array_equal(index.keys.values, values)
    with pytest.raises(MismatchError, match="nothing can be itself"):
        index.candidates(Keys(values[:20]), exclude_self=True)
