from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, distances, listed, near, nearest, queries_near, signatures

from sosie.errors import StorageError, UsageError
from sosie.index import multi
from sosie.index.files import load_index
from sosie.index.multi import MultiIndex
from sosie.planner.methods import multi as costs
from sosie.planner.methods.multi import choose_tables
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.resident import mapping_of
from sosie.types import Signatures


@pytest.fixture(autouse=True, scope="module")
def few_rows_have_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multi, "SHORT", 8)
        yield


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(costs, "PATIENCE", 10**9)


class Hashing:
    """Multi-index hashing as the paper has it: a dictionary for each substring, one step after another."""

    def __init__(self, rows, tables):
        self.rows, self.tables = rows, tables
        self.edges = [rows.bits * i // tables for i in range(tables + 1)]
        self.lists = [{} for _ in range(tables)]
        for row, parts in enumerate(self.parts(rows)):
            for table, part in enumerate(parts):
                self.lists[table].setdefault(part, []).append(row)

    def parts(self, signatures):
        numbers = [sum(int(word) << 64 * i for i, word in enumerate(words)) for words in signatures.words]
        pairs = list(zip(self.edges, self.edges[1:], strict=False))
        return [[number >> low & (1 << high - low) - 1 for low, high in pairs] for number in numbers]

    def steps(self, query):
        """Yield step by step how many values were looked up and the rows of their lists."""
        for flips in range(max(np.diff(self.edges)) + 1):
            for table, part in enumerate(self.parts(query)[0]):
                width = self.edges[table + 1] - self.edges[table]
                masks = [sum(1 << bit for bit in chosen) for chosen in combinations(range(width), flips)]
                yield len(masks), [row for mask in masks for row in self.lists[table].get(part ^ mask, [])]

    def search(self, query, wanted):
        """Return what was found, look-ups and rows; `wanted(found)` is up to which distance rows are wanted."""
        truth = distances(query.words, self.rows.words)[0]
        seen, probes, compared = set(), 0, 0
        for step, (values, rows) in enumerate(self.steps(query)):
            found = sorted((int(truth[row]), row) for row in seen)
            if step > wanted(found):
                break
            seen.update(rows)
            probes, compared = probes + values, compared + len(rows)
        return sorted((int(truth[row]), row) for row in seen), probes, compared


@pytest.mark.parametrize("kind", ("random", "clustered", "duplicated", "narrow"))
@pytest.mark.parametrize(("bits", "tables"), ((16, 2), (33, 4), (64, 7), (70, 9), (12, 12)))
def test_look_ups_are_those_of_the_paper(kind, bits, tables, patient):
    rows = signatures(kind, 80, bits)
    index, oracle = MultiIndex(rows, tables), Hashing(rows, tables)
    assert index.tables == tables
    for query in (queries_near(rows, 6).take(np.array([i])) for i in range(6)):
        for k in (1, 7):
            found, probes, compared = oracle.search(
                query, lambda found, k=k: found[k - 1][0] if len(found) >= k else bits
            )
            matches = index.search(query, k)
            assert listed(matches) == [found[:k]] == nearest(query, rows, k)
            assert matches.counters == {"comparisons": compared, "probes": probes, "scanned": 0}
        for radius in (0, 1, tables - 1, tables, min(bits, 2 * tables + 1)):
            found, probes, compared = oracle.search(query, lambda found, radius=radius: radius)
            matches = index.within(query, radius)
            assert listed(matches) == [[pair for pair in found if pair[0] <= radius]] == near(query, rows, radius)
            assert matches.counters == {"comparisons": compared, "probes": probes, "scanned": 0}


@settings(deadline=None, max_examples=80)
@given(
    kind=st.sampled_from(KINDS),
    bits=st.sampled_from((1, 2, 5, 16, 29, 64, 65, 130)),
    pieces=st.lists(st.integers(0, 60), max_size=5),
    share=st.sampled_from((0, 0.5, 2, 10**9)),
    data=st.data(),
)
def test_any_tables_and_any_patience_give_what_comparing_all_gives(kind, bits, pieces, share, data):
    tables = data.draw(st.none() | st.integers(max(1, -(-bits // 12)), bits))
    rows = signatures(kind, sum(pieces), bits)
    queries = queries_near(rows, 4)
    index = MultiIndex(Signatures(rows.words[:0], bits), tables)
    for start, piece in zip(np.cumsum([0, *pieces]), pieces, strict=False):
        index.add(Signatures(rows.words[start : start + piece], bits))
    gone = data.draw(st.sets(st.integers(0, max(0, len(rows) - 1)), max_size=len(rows)))
    index.remove(sorted(gone))
    live = [row for row in range(len(rows)) if row not in gone]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "PATIENCE", share)
        for radius in {0, bits // 10, bits // 3, bits}:
            expected = near(queries, rows, radius, live)
            found = index.within(queries, radius)
            assert listed(found) == expected and found.recall == 1
            firsts = [[min(pairs, key=lambda pair: pair[1])] if pairs else [] for pairs in expected]
            assert listed(index.within(queries, radius, first=True)) == firsts
            assert not live or (found.counters["scanned"] == 0 if share > 2 else share or found.counters["scanned"])
        for k in (1, 5, 100):
            assert listed(index.search(queries, k)) == nearest(queries, rows, k, live)


def test_only_queries_that_would_cost_more_are_scanned():
    rows = signatures("random", 30_000, 64)
    index = MultiIndex(rows)
    near_one, far_one = Signatures(rows.words[:1]), signatures("random", 1, 64, seed=9)
    both = Signatures(np.concatenate([near_one.words, far_one.words, near_one.words]))
    looked_up = index.search(near_one, 1).counters
    assert looked_up["probes"] == 1 and looked_up["comparisons"] < 200 and looked_up["scanned"] == 0
    assert index.search(far_one, 200).counters["scanned"] == 1
    found = index.search(both, 1)
    assert listed(found) == nearest(both, rows, 1)
    assert index.within(both, 3).counters["scanned"] == 0
    assert index.within(both, 40).counters == {"comparisons": 3 * 30_000, "probes": 0, "scanned": 3}


def test_one_long_list_is_not_read():
    """All rows but a few have the same bits: their list is longer than a scan, and the others are looked up."""
    words = np.zeros((40_000, 1), np.uint64)
    words[:20] = signatures("random", 20, 64).words
    index = MultiIndex(Signatures(words))
    queries = Signatures(np.array([0, words[3, 0]], np.uint64))
    found = index.within(queries, 0)
    assert found.counters["scanned"] == 1
    assert found.counters["comparisons"] < 41_000
    assert np.diff(found.offsets).tolist() == [39_980, 1]


def test_added_one_by_one_there_are_few_runs():
    rows = signatures("random", 500, 64)
    index = MultiIndex(Signatures(rows.words[:0]))
    for row in range(500):
        index.add(Signatures(rows.words[row : row + 1]))
        assert len(index._state.stored.runs) <= 8
    assert sum(len(run) for run in index._state.stored.runs) == 500
    queries = queries_near(rows)
    assert listed(index.search(queries, 4)) == nearest(queries, rows, 4)


def test_tables_follow_from_rows_and_bits():
    assert MultiIndex(signatures("random", 7, 64)).tables == 1
    assert MultiIndex(signatures("random", 0, 64)).tables == 1
    assert MultiIndex(signatures("random", 1000, 64)).tables == choose_tables(64, 1000) == 13
    assert MultiIndex(signatures("random", 1000, 64), tables=5).tables == 5
    assert choose_tables(64, 2**32) == 3 and choose_tables(29, 2**40) == 2 and choose_tables(1, 2**20) == 1


@pytest.mark.parametrize("tables", (0, -1, 2, 65, 3.0, "4"))
def test_tables_that_cannot_be_are_refused(tables):
    with pytest.raises(UsageError, match=r"3 to 64 substrings of up to 28 bits, got"):
        MultiIndex(signatures("random", 9, 64), tables)


def test_more_than_the_machine_can_hold_is_refused_and_nothing_changes(monkeypatch):
    rows = signatures("random", 100, 64)
    index = MultiIndex(rows, tables=4)
    needed = 16 * 200 + 4 * (12 * 200 + 4 * 2**16)
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed - 1)
    with pytest.raises(UsageError, match=r"200 rows in 4 tables need about 1\.1 MB .* FlatIndex takes 0\.0 MB"):
        index.add(rows)
    assert len(index) == 100 and len(index.ids) == 100
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed)
    index.add(rows)
    assert len(index) == 200


def test_tables_are_loaded_as_they_were(tmp_path):
    rows = signatures("random", 900, 100)
    index = MultiIndex(Signatures(rows.words[:800], 100), tables=9)
    index.add(Signatures(rows.words[800:], 100))
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    runs, loaded_runs = index._state.stored.runs, loaded._state.stored.runs
    shapes = [(run.first, len(run), run.tables.cut.shape) for run in loaded_runs]
    assert shapes == [(0, 800, (9, 1)), (800, 100, (9, 1))]
    for run, same in zip(runs, loaded_runs, strict=True):
        tables, same_tables = run.tables.tables, same.tables.tables
        assert mapping_of(same_tables.near) is not None and np.array_equal(run.words, same.words)
        assert all(np.array_equal(a, b) for a, b in zip(tables[1:], same_tables[1:], strict=True))
    assert loaded.search(rows, 2).counters == index.search(rows, 2).counters
    loaded.add(Signatures(rows.words[:300], 100))
    assert loaded.tables == 9 and len(loaded._state.stored.runs) == 2
    assert len(load_index(tmp_path / "a")) == 900


def saved_with(folder, change):
    """Save an index of 9 rows, and again as `change(parameters, arrays)` leaves it, with right checksums."""
    MultiIndex(signatures("random", 9, 16), tables=4).save(folder / "good")
    meta, arrays = read_artefact(folder / "good", "index")
    digest, arrays = meta.pop("digest"), dict(arrays)
    change(meta["parameters"], arrays)
    write_artefact(folder / "bad", "index", arrays, digest=digest, meta=meta)
    return folder / "bad"


@pytest.mark.parametrize(
    "wrong",
    (
        {"tables": 17},
        {"tables": 4.0},
        {"tables": "4"},
        {"runs": []},
        {"runs": None},
        {"runs": [{"count": 9}]},
        *({"runs": [{"count": count, "cut": [4, 1]}]} for count in (0, -9, 8, 10, 9.0, "9", True)),
        *({"runs": [{"count": 9, "cut": cut}]} for cut in ([1, 0], [0, 0], [4, 2], [5, 1], [4.0, 1], [4], [17, 1], 4)),
    ),
)
def test_wrong_parameters_with_a_right_checksum_are_named(wrong, tmp_path):
    with pytest.raises(StorageError, match="bad"):
        load_index(saved_with(tmp_path, lambda parameters, arrays: parameters.update(wrong)))


@pytest.mark.parametrize(
    ("name", "change"),
    (
        ("run0_words", lambda a: a[:8]),
        ("run0_words", lambda a: a.astype(np.int64)),
        ("run0_near", lambda a: a[:, :-8]),
        ("run0_rows", lambda a: a + np.uint32(1)),
        ("run0_starts", lambda a: a[:, ::-1]),
        ("run0_starts", lambda a: a[:, :-1]),
        ("planes", lambda a: a[:, :1]),
    ),
)
def test_wrong_arrays_with_right_checksums_are_named(name, change, tmp_path):
    with pytest.raises(StorageError, match="bad"):
        load_index(saved_with(tmp_path, lambda _, arrays: arrays.update({name: change(arrays[name])})))
    (tmp_path / "rest").mkdir()
    with pytest.raises(StorageError, match=rf"bad.*{name}"):
        load_index(saved_with(tmp_path / "rest", lambda _, arrays: arrays.pop(name)))
