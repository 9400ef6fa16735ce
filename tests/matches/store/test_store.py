"""A batch is matched with what a store holds as brute force would, whatever runs, chunks and threads there are."""

import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.artefacts import is_mapped
from tests.oracle_hamming import KINDS, signatures

from sosie import FlipModel, MismatchError, ProbeIndex, ProbeSearch, Signatures, SignatureStore, Simhash, UsageError
from sosie.matches.store import by_blocks, by_probes, sorted_rows, streaming


@pytest.fixture(autouse=True, scope="module")
def unflushed():
    """Stores are made by the hundred here: whether they outlive a power failure is asked elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture
def fresh(tmp_path):
    return tmp_path / "store"


def store_of(folder, batches):
    """Return a new store with batches in it."""
    shutil.rmtree(folder / "store", ignore_errors=True)
    store = SignatureStore(folder / "store")
    for batch in batches:
        store.append(batch)
    return store


def near(rows, queries, radius):
    """Return all (query, row, distance) within a radius."""
    found = []
    for i, query in enumerate(queries.words.tolist()):
        for j, row in enumerate(rows.words.tolist()):
            distance = sum((a ^ b).bit_count() for a, b in zip(query, row, strict=True))
            if distance <= radius:
                found.append((i, j, distance))
    return sorted(found, key=lambda match: (match[0], match[2], match[1]))


def listed(matches):
    asked = np.repeat(np.arange(len(matches)), np.diff(matches.offsets))
    return list(zip(asked.tolist(), matches.rows.tolist(), matches.distances.tolist(), strict=True))


def cut(rows, sizes):
    """Return the rows as batches of some sizes, the rest in the last one."""
    edges = [0, *(edge for edge in np.cumsum(sizes).tolist() if edge < len(rows)), len(rows)]
    return [rows.take(np.arange(a, b)) for a, b in pairwise(edges)] if len(rows) else []


def numbered(batch):
    return Signatures(batch.words, batch.bits, volatility=batch.volatility)


def volatile(count, bits, seed=0):
    """Return rows and queries with volatility that are near them."""
    rng = np.random.default_rng(seed)
    sums = rng.normal(size=(count, bits)).astype(np.float32)
    edited = (0.98 * sums + 0.2 * rng.normal(size=sums.shape)).astype(np.float32)
    packed = [np.zeros((count, -(-bits // 64) * 64), np.uint8) for _ in range(2)]
    for made, of in zip(packed, (sums, edited), strict=True):
        made[:, :bits] = of > 0
    rows, queries = (np.packbits(made, axis=1, bitorder="little").view(np.uint64) for made in packed)
    return Signatures(rows, bits), Signatures(queries, bits, volatility=edited)


@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    bits=st.sampled_from((1, 5, 64, 65, 130)),
    sizes=st.lists(st.integers(1, 30), max_size=4),
    radius=st.integers(0, 5),
    blocks=st.booleans(),
    task=st.sampled_from((1, 7, 1 << 17)),
    threads=st.sampled_from((1, 2)),
)
def test_tables_and_all_probes_find_all(folder, kind, bits, sizes, radius, blocks, task, threads):
    rows = numbered(signatures(kind, sum(sizes), bits))
    queries, radius = numbered(signatures(kind, 20, bits, seed=1)), min(radius, bits)
    store = store_of(folder, [numbered(batch) for batch in cut(rows, sizes)])
    effort = {"blocks": radius + 1 if radius < bits else None} if blocks else {"probes": 2**30}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "CHUNK", task)
        patch.setattr(by_blocks, "TASK", task)
        patch.setattr(by_probes, "TASK", task)
        found = store.match(queries, radius, threads=threads, **effort)
        some = store.match(queries, radius, first=True, threads=threads, **effort)
    right = near(rows, queries, radius)
    assert listed(found) == right
    assert found.recall == 1.0 and found.ids.to_pylist() == found.rows.tolist()
    met = listed(some)
    assert [query for query, _, _ in met] == sorted({query for query, _, _ in right})
    assert set(met) <= set(right)
    assert listed(SignatureStore(store.path).match(queries, radius, **effort)) == right


@pytest.mark.parametrize("bits", [40, 64, 70])
@pytest.mark.parametrize("flips", [False, True])
def test_probes_find_what_a_probe_index_finds(fresh, bits, flips):
    rows, queries = volatile(3000, bits)
    model = FlipModel.of(queries) if flips else None
    store = SignatureStore(fresh, flips=model)
    for batch in cut(rows, [1700, 900]):
        store.append(numbered(batch))
    index = ProbeIndex(rows, header=store.header_bits, flips=model)
    for probes in (0, 3, 16, 80):
        for asked in (queries, numbered(Signatures(queries.words, bits))):
            found, right = store.match(asked, 3, probes=probes), index.within(asked, 3, effort=ProbeSearch(probes))
            assert listed(found) == listed(right)
            assert found.recall is None
            assert found.counters["probes"] == right.counters["probes"] * len(store._state.runs)
            some = store.match(asked, 3, probes=probes, first=True)
            assert {i for i, _, _ in listed(some)} == {i for i, _, _ in listed(right)}
            assert set(listed(some)) <= set(listed(right))


def test_many_parts_and_tiles_change_nothing(fresh, monkeypatch):
    rows, queries = volatile(2000, 64)
    store = SignatureStore(fresh)
    store.append(rows)
    how = [{"probes": 16, "first": first} for first in (False, True)] + [{"first": True}, {}]
    right = [listed(store.match(queries, 3, **each)) for each in how]
    assert len(right[0]) > 500 and right[0] != right[3]
    monkeypatch.setattr(by_probes, "_PART", 3)
    monkeypatch.setattr(by_probes, "MOST", 17 * 333)
    monkeypatch.setattr(by_blocks, "_MOST", 700)
    monkeypatch.setattr(streaming, "CHUNK", 100)
    assert [listed(store.match(queries, 3, **each)) for each in how] == right


@pytest.mark.parametrize("effort", [{}, {"probes": 2**30}])
def test_a_pair_is_found_once_however_rows_are_cut_into_batches(folder, effort):
    rows = signatures("clustered", 90, 20)
    right = [(i, j, d) for i, j, d in near(rows, rows, 3) if j < i]
    for sizes in ([90], [1] * 19, [40, 7, 20]):
        store, pairs = store_of(folder, []), []
        for batch in cut(rows, sizes):
            begin = len(store)
            found = store.match_and_append(numbered(batch), 3, **effort)
            pairs += [(begin + i, j, d) for i, j, d in listed(found)]
        assert sorted(pairs) == sorted(right)
        store, asked = store_of(folder, []), set()
        for batch in cut(rows, sizes):
            begin = len(store)
            found = store.match_and_append(numbered(batch), 3, first=True, **effort)
            assert max(np.diff(found.offsets)) <= 1
            asked |= {begin + i for i, _, _ in listed(found)}
        assert asked == {i for i, _, _ in right}


@settings(deadline=None, max_examples=20)
@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=8),
    text=st.booleans(),
    piece=st.sampled_from((1, 3, 1 << 20)),
    kind=st.sampled_from(("random", "equal", "duplicated")),
)
def test_runs_merge_into_what_one_batch_is(folder, sizes, text, piece, kind):
    rows = signatures(kind, sum(sizes), 70)
    ids = [f"a {i * 7 % 97} é" if text else (i * 31 % 97) - 40 for i in range(len(rows))]
    batches = [Signatures(b.words, 70, ids=ids[b.ids[0].as_py() :][: len(b)]) for b in cut(rows, sizes) if len(b)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_rows.merged, "__defaults__", (piece,))
        store = store_of(folder, batches)
    state = SignatureStore(store.path)._state
    assert state.rows == len(rows)
    for run in state.runs:
        assert sorted(run.sorted.rows.tolist()) == list(range(len(run)))
        assert run.words.tolist() == rows.words[run.first + run.sorted.rows.astype(np.int64)].tolist()
        top = [(row[1] << 58) % 2**64 | row[0] >> 6 for row in run.words.tolist()]
        assert list(zip(top, run.sorted.rows, strict=True)) == sorted(zip(top, run.sorted.rows, strict=True))
        assert run.ids.ids.to_pylist() == ids[run.first : run.first + len(run)]
    counts = [len(run) for run in state.runs]
    assert all(a >= 2 * b for a, b in pairwise(counts))
    if len(rows):
        again = Signatures(rows.words[-1:], 70, ids=ids[-1:])
        with pytest.raises(MismatchError, match="in the store already"):
            store.append(again)
        assert store.match(again, 0).ids.to_pylist()[-1:] == ids[-1:]
        assert len(store) == len(rows)


def test_numbers_and_given_numbers_are_told_apart(fresh):
    words = np.arange(4, dtype=np.uint64)
    store = SignatureStore(fresh)
    store.append(Signatures(words))
    assert store._state.runs.runs[0].ids is None
    with pytest.raises(MismatchError, match="the id 3 is in the store already"):
        store.append(Signatures(words[:2], ids=[9, 3]))
    store.append(Signatures(words[:2] + np.uint64(100), ids=[9, 7]))
    with pytest.raises(MismatchError, match=r"the id 7 is in the store already \(1 ids of the batch are\)"):
        store.append(Signatures(words[:2]))  # they would be 6 and 7
    store.append(Signatures(words[:1]))
    assert store.match(Signatures(np.array([101, 0], np.uint64)), 0).ids.to_pylist() == [7, 0, 6]
    with pytest.raises(MismatchError, match="ids are numbers, and those of the batch texts"):
        store.append(Signatures(words, ids=list("abcd")))
    assert len(SignatureStore(fresh)) == 7


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "a"], "'a' occurs twice"),
        ([1.5, 2.5], "type double"),
        (["a", None], "null"),
        (np.array([2**63, 1], np.uint64), "64 bits"),
    ],
)
def test_ids_that_are_none_are_refused(fresh, ids, said):
    with pytest.raises(MismatchError, match=said):
        SignatureStore(fresh).append(Signatures(np.arange(2, dtype=np.uint64), ids=pa.array(ids)))
    assert not fresh.exists()


def test_another_width_or_spec_is_refused(fresh):
    texts = ["a rose is a rose", "the cat sat on the mat"]
    store = SignatureStore(fresh)
    store.append(Simhash().fit().sign(texts))
    for batch, said in (
        (Simhash(bits=128).fit().sign(texts), "holds signatures of 64 bits, and the batch has 128"),
        (Simhash(seed=1).fit().sign(texts), "sign both the same way"),
        (np.arange(3), "got ndarray"),
    ):
        for verb in (store.match, store.append, store.match_and_append):
            with pytest.raises((MismatchError, UsageError), match=said):
                verb(batch)
    assert len(SignatureStore(fresh)) == 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"radius": -1}, "radius"),
        ({"radius": 65}, "radius"),
        ({"probes": 3, "blocks": 4}, "not both"),
        ({"blocks": 3}, "do not guarantee radius 3"),
        ({"blocks": 65}, "do not guarantee radius 3"),
        ({"probes": -1}, "probes"),
        ({"probes": 16}, "17 probes of each query are too many"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(fresh, how, said, monkeypatch):
    monkeypatch.setattr(by_probes, "MOST", 16)
    store = SignatureStore(fresh)
    store.append(Signatures(np.random.default_rng(0).integers(0, 2**64, 1 << 10, dtype=np.uint64)))
    for verb in (store.match, store.match_and_append):
        with pytest.raises(UsageError, match=said):
            verb(Signatures(np.arange(3, dtype=np.uint64)), **how)
    assert len(SignatureStore(fresh)) == 1 << 10


def test_recall_is_stated_as_calibrated(fresh):
    rows, queries = volatile(4000, 64)
    sample, asked = queries.take(np.arange(2000)), queries.take(np.arange(2000, 4000))
    store = SignatureStore(fresh)
    for batch in cut(rows, [2500, 1000]):
        store.append(numbered(batch))
    index = ProbeIndex(rows, header=store.header_bits)
    for first in (False, True):
        made = store.calibrate(sample, 3, 0.9, first=first)
        assert made == index.calibrate(sample, 3, 0.9, first=first)
        found = store.match(asked, 3, probes=made, first=first)
        exact = store.match(asked, 3, first=first)
        assert found.recall == made.recall
        assert abs(len(found.rows) / len(exact.rows) - found.recall) < 0.04
        assert store.match(numbered(Signatures(asked.words)), 3, probes=made, first=first).recall is None
        assert store.match(asked, 4, probes=made, first=first).recall is None


def test_first_leaves_out_who_is_answered_and_stops_reading(fresh, monkeypatch):
    monkeypatch.setattr(streaming, "CHUNK", 64)
    monkeypatch.setattr(by_probes, "TASK", 64)
    monkeypatch.setattr(by_blocks, "TASK", 64)
    words = np.sort(np.random.default_rng(0).integers(0, 2**64, 4096, dtype=np.uint64))
    store = SignatureStore(fresh)
    store.append(Signatures(words))
    asked = Signatures(words[:100])  # what is read first
    for effort in ({"probes": 16}, {}):
        every, some = (store.match(asked, 3, first=first, **effort).counters for first in (False, True))
        assert some["bytes_read"] < every["bytes_read"] / 3
        assert some["chunks"] < every["chunks"] / 3
        assert some["probes"] < every["probes"] / 1.2
    assert store.match(asked, 3).counters["bytes_read"] == words.nbytes


def test_what_is_known_of_a_store(fresh):
    store = SignatureStore(fresh)
    assert len(store) == store.bits == 0 and store.signer is None and not fresh.exists()
    assert len(store.match(Signatures(np.arange(3, dtype=np.uint64)), 2)) == 3
    store.append(Signatures(np.empty(0, np.uint64)))
    assert not fresh.exists()
    signer = Simhash().fit()
    batch = signer.sign(["a rose is a rose", "the cat sat"], ids=["r", "c"])
    store = SignatureStore(fresh, signer=signer)
    store.append(batch)
    assert repr(store) == "SignatureStore(2 rows of 64 bits in 1 run)"
    again = SignatureStore(fresh)
    assert again.signer.digest == again.digest == signer.digest
    assert is_mapped(again._state.runs.runs[0].words)
    with pytest.raises(MismatchError, match="not by the signer"):
        SignatureStore(fresh, signer=Simhash(seed=3).fit()).append(signer.sign(["x y z"], ids=["x"]))
    store.append(signer.sign(["more words here"], ids=["m"]))
    assert len(again) == 2
    again.refresh()
    assert len(again) == 3


def test_matches_are_received_before_the_batch_is_in(fresh):
    store, batch = SignatureStore(fresh), Signatures(np.array([1, 3], np.uint64), ids=["a", "b"])
    seen = []

    def receive(matches):
        seen.append((len(SignatureStore(fresh)), matches.ids.to_pylist()))
        if len(seen) == 1:
            raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        store.match_and_append(batch, 1, receive=receive)
    assert len(store) == 0 and not Path(fresh).exists()
    store.match_and_append(batch, 1, receive=receive)
    assert seen == [(0, ["a"]), (0, ["a"])] and len(SignatureStore(fresh)) == 2
