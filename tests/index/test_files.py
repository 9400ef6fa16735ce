import json
import os

import numpy as np
import pyarrow as pa
import pytest
from tests.oracle_hamming import listed, near, nearest, queries_near, signatures

from sosie.errors import MismatchError, StorageError, UsageError
from sosie.index import blocks
from sosie.index.base import Index
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.flat import FlatIndex
from sosie.index.keys import KeyIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slice_store import slice_table
from sosie.index.slices import SliceIndex
from sosie.storage.manifest import _checksum, read_artefact, write_artefact
from sosie.storage.resident import mapping_of
from sosie.types import Keys, Signatures


@pytest.fixture(autouse=True)
def few_rows_have_tables(monkeypatch):
    monkeypatch.setattr(blocks, "SHORT", 4)


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("make", (FlatIndex, BlockIndex))
def test_a_loaded_index_is_mapped_and_its_files_never_change(make, tmp_path):
    rows = signatures("clustered", 700, 64, digest="spec", ids=[f"d{i}" for i in range(700)])
    index = make(rows)
    index.remove(["d3", "d600"])
    index.save(tmp_path / "a")
    before = files_in(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert type(loaded) is make and loaded.digest == "spec" and loaded.bits == 64
    assert mapping_of(loaded._state.stored.planes) is not None
    assert loaded.ids.equals(index.ids) and len(loaded) == 698
    with pytest.raises(MismatchError):
        loaded.remove(["d3"])
    loaded.add(Signatures(rows.words[3:4], ids=["d3"]))
    loaded.remove(["d5"])
    assert loaded.within(Signatures(rows.words[3:6]), 0).ids.to_pylist().count("d3") == 1
    with pytest.raises(MismatchError):
        loaded.add(Signatures(rows.words[:1], ids=["d7"]))
    assert files_in(tmp_path / "a") == before
    loaded.save(tmp_path / "a", overwrite=True)
    again = load_index(tmp_path / "a")
    both = Signatures(np.concatenate([rows.words, rows.words[3:4]]))
    live = [row for row in range(701) if row not in (3, 5, 600)]
    queries = queries_near(rows)
    for searched in (loaded, again):
        assert listed(searched.within(queries, 3)) == near(queries, both, 3, live)
        assert listed(searched.search(queries, 9)) == nearest(queries, both, 9, live)


def test_tables_are_loaded_as_they_were(tmp_path):
    rows = signatures("random", 900, 100)
    index = BlockIndex(Signatures(rows.words[:800], 100), radius=2, blocks=5)
    index.add(Signatures(rows.words[800:], 100))
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert loaded.radius == 2
    runs, loaded_runs = index._state.stored.runs, loaded._state.stored.runs
    assert [(run.first, run.count, run.cut.shape) for run in loaded_runs] == [(0, 800, (5, 3)), (800, 100, (5, 3))]
    for run, same in zip(runs, loaded_runs, strict=True):
        assert mapping_of(same.tables.near) is not None
        assert all(np.array_equal(a, b) for a, b in zip(run.tables[1:], same.tables[1:], strict=True))
    assert loaded.within(rows, 2).counters == index.within(rows, 2).counters


def test_slice_lists_are_loaded_as_they_were(tmp_path):
    rows = signatures("random", 900, 100, ids=[f"d{i}" for i in range(900)])
    index = SliceIndex(rows.take(np.arange(850)), 12, SliceSearch(2, 50, j=1))
    index.remove(["d3", "d700"])
    index.add(rows.take(np.arange(850, 900)))
    index.save(tmp_path / "a")
    before = files_in(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert type(loaded) is SliceIndex and loaded.effort == SliceSearch(2, 50, j=1)
    table, same = slice_table(index._state), slice_table(loaded._state)
    assert (same.listed, same.present) == (850, 898) and mapping_of(same.lists.rows) is not None
    assert all(np.array_equal(a, b) for a, b in zip(table.lists, same.lists, strict=True))
    queries = queries_near(rows)
    for changed in (False, True):
        for ask in (lambda index: index.search(queries, 20), lambda index: index.within(queries, 30)):
            assert listed(ask(loaded)) == listed(ask(index)) and ask(loaded).counters == ask(index).counters
        if not changed:
            for one in (index, loaded):
                one.add(Signatures(rows.words, 100, ids=[f"e{i}" for i in range(900)]))
                one.remove(["d5", "e899"])
    assert slice_table(loaded._state).listed == 1800
    assert files_in(tmp_path / "a") == before
    SliceIndex(rows.take(np.arange(0))).save(tmp_path / "empty")
    assert len(load_index(tmp_path / "empty").search(rows, 3).rows) == 0


SLICES = {"width": 4, "listed": 9, "effort": {}}


@pytest.mark.parametrize(
    "parameters",
    (
        {"width": 6},
        {"width": 4.0},
        {"width": 40},
        {"listed": 8},
        {"listed": 10},
        {"listed": "9"},
        {"bits": 4097},
        {"effort": None},
        {"effort": {"breadth": 5}},
        {"effort": {"breadth": 1.5}},
        {"effort": {"stop": "soon"}},
        {"effort": {"haste": 1}},
    ),
)
def test_wrong_parameters_of_slice_lists_are_named(parameters, tmp_path):
    SliceIndex(signatures("random", 9, 16), 4).save(tmp_path / "saved")
    rewrite(tmp_path / "saved", parameters={"bits": 16, **SLICES, **parameters})
    with pytest.raises(StorageError, match="saved"):
        load_index(tmp_path / "saved")


@pytest.mark.parametrize(
    ("name", "change"),
    (
        ("words", lambda a: a[:8]),
        ("words", lambda a: a.astype(np.int64)),
        ("removed", lambda a: np.array([9])),
        ("list_offsets", lambda a: a[:-1]),
        ("list_offsets", lambda a: a[::-1]),
        ("list_offsets", lambda a: a + np.uint32(1)),
        ("list_offsets", lambda a: np.where(np.arange(len(a)) == 3, np.uint32(2**32 - 1), a)),
        ("list_offsets", None),
        ("list_rows", lambda a: a + np.uint32(1)),
        ("list_rows", lambda a: a[:3]),
        ("list_rows", lambda a: a[:, :8]),
        ("list_rows", lambda a: a.reshape(-1)),
        ("list_rows", lambda a: a.astype(np.int64)),
        ("list_rows", None),
    ),
)
def test_wrong_slice_lists_with_right_checksums_are_named(name, change, tmp_path):
    SliceIndex(signatures("random", 9, 16), 4).save(tmp_path / "good")
    refuse_changed(tmp_path, name, change)


def test_an_index_of_keys_is_saved(tmp_path):
    values = np.random.default_rng(0).integers(0, 30, (300, 3), dtype=np.uint64)
    index = KeyIndex(Keys(values[:200], ids=[f"d{i}" for i in range(200)], digest="x"))
    index.add(Keys(values[200:], ids=[f"d{i}" for i in range(200, 300)]))
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert type(loaded) is KeyIndex and loaded.digest == "x" and loaded.tables == 3
    assert len(loaded._state.stored) == 2
    more = Keys(values[:5], ids=list("abcde"))
    for _ in range(2):
        found, expected = loaded.candidates(Keys(values[:40])), index.candidates(Keys(values[:40]))
        assert listed(found) == listed(expected) and found.ids.equals(expected.ids)
        loaded.add(more)
        index.add(more)
        more = Keys(values[:0])  # nothing, of whatever type its ids are
    KeyIndex(Keys(values[:0])).save(tmp_path / "empty")
    assert len(load_index(tmp_path / "empty").candidates(Keys(values[:2])).rows) == 0


@pytest.mark.parametrize(
    "ids",
    (
        None,
        pa.array([7, 1, 2**63], pa.uint64()),
        pa.array([-1, 5, 6], pa.int8()),
        pa.array(["a", "ä", ""]),
        pa.array(["a", "b", "c"], pa.large_string()),
    ),
)
def test_ids_keep_their_type(ids, tmp_path):
    FlatIndex(Signatures(np.arange(3, dtype=np.uint64), ids=ids)).save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert loaded.ids.equals(pa.array([0, 1, 2]) if ids is None else ids)
    more = None if ids is None else pa.array([100 if pa.types.is_integer(ids.type) else "new"], ids.type)
    loaded.add(Signatures(np.arange(1, dtype=np.uint64), ids=more))
    assert len(loaded) == 4


def test_what_cannot_be_saved_is_refused(tmp_path):
    index = FlatIndex(Signatures(np.arange(2, dtype=np.uint64), ids=pa.array([1.5, 2.5])))
    with pytest.raises(UsageError, match="double"):
        index.save(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(UsageError, match="full"):
            FlatIndex(signatures("random", 3, 64)).save(tmp_path / "full", overwrite)
    assert os.listdir(tmp_path / "full") == ["thesis.txt"]


def test_a_directory_that_holds_no_index_is_named(tmp_path):
    with pytest.raises(StorageError, match="nowhere"):
        load_index(tmp_path / "nowhere")
    write_artefact(tmp_path / "sigs", "signatures", {"words": np.zeros((1, 1), np.uint64)})
    with pytest.raises(StorageError, match=r"sigs.*'signatures', not 'index'"):
        load_index(tmp_path / "sigs")


def rewrite(folder, **changes):
    manifest = {**json.loads((folder / "manifest.json").read_text()), **changes}
    del manifest["crc32"]
    (folder / "manifest.json").write_text(json.dumps({**manifest, "crc32": _checksum(manifest)}))


@pytest.mark.parametrize(
    "changes",
    (
        {"version": 2},
        {"class": "GraphIndex"},
        {"class": "KeyIndex"},
        {"class": "RowIds"},
        {"rows": 8},
        {"rows": "x"},
        {"rows": -5},
        {"id_type": "string"},
        {"parameters": {}},
        {"parameters": None},
        {"parameters": {"bits": 0}},
        {"parameters": {"bits": 40, "radius": 3, "blocks": None, "header": None, "runs": []}},
        {"parameters": {"bits": 16, "radius": 3, "blocks": None, "header": None, "runs": []}},
        {"parameters": {"bits": 16, "radius": 3, "blocks": 2, "header": None, "runs": []}},
        *(
            {"parameters": {"bits": 16, "radius": 3, "blocks": None, "header": None, "runs": [run]}}
            for run in (
                {"first": 0, "count": 9, "cut": [5, 2]},
                {"first": 0, "count": 9, "cut": [3, 1]},
                {"first": 0, "count": 9, "cut": [0, 0]},
                {"first": 0, "count": 9, "cut": [1, 0]},
                {"first": 0, "count": 10, "cut": [4, 1]},
                {"first": 1, "count": 8, "cut": [4, 1]},
                {"first": 0, "count": "9", "cut": [4, 1]},
                {"first": 0, "count": 9.0, "cut": [4, 1]},
                {"first": 0},
            )
        ),
    ),
)
def test_a_wrong_manifest_with_a_right_checksum_is_named(changes, tmp_path):
    BlockIndex(signatures("random", 9, 16)).save(tmp_path / "saved")
    rewrite(tmp_path / "saved", **changes)
    with pytest.raises(StorageError, match="saved"):
        load_index(tmp_path / "saved")


@pytest.mark.parametrize(
    ("name", "change"),
    (
        ("live", lambda a: a ^ np.uint64(1)),
        ("live", lambda a: a | np.uint64(1 << 9)),
        ("planes", lambda a: a[:, :1]),
        ("words", lambda a: a[:8]),
        ("words", lambda a: a.astype(np.int64)),
        ("removed", lambda a: np.array([9])),
        ("removed", lambda a: np.array([1])),
        ("removed", lambda a: np.array([[1]])),
        ("run0_near", lambda a: a[:, :-8]),
        ("run0_rows", lambda a: a + np.uint32(1)),
        ("run0_rows", lambda a: a.astype(np.int64)),
        ("run0_starts", lambda a: a[:, ::-1]),
        ("run0_starts", lambda a: a + np.uint32(1)),
        ("run0_starts", None),
    ),
)
def test_wrong_arrays_with_right_checksums_are_named(name, change, tmp_path):
    BlockIndex(signatures("random", 9, 16)).save(tmp_path / "good")
    refuse_changed(tmp_path, name, change)


def refuse_changed(tmp_path, name, change):
    meta, arrays = read_artefact(tmp_path / "good", "index")
    digest = meta.pop("digest")
    wrong = {key: array for key, array in arrays.items() if key != name}
    if change is not None:
        wrong[name] = change(arrays[name])
    write_artefact(tmp_path / "bad", "index", wrong, digest=digest, meta=meta)
    with pytest.raises(StorageError, match="bad"):
        load_index(tmp_path / "bad")


def test_an_index_without_files_of_its_own_says_so(tmp_path):
    class Plain(FlatIndex):
        _saved = Index._saved

    with pytest.raises(UsageError, match=r"Plain cannot be saved"):
        Plain(signatures("random", 3, 64)).save(tmp_path / "a")
