import numpy as np
import pytest
from tests.oracle_hamming import bits_of, distances, listed, pack, signatures

from sosie.errors import StorageError, UsageError
from sosie.index.files import load_index
from sosie.index.flat import FlatIndex
from sosie.index.planes import PlaneIndex
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.resident import mapping_of
from sosie.types import Signatures

ROWS, BITS = 18_000, 512


def data(kind, seed=0):
    """Return rows, and queries that are none of them."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        bits = bits_of("random", ROWS + 64, BITS, seed)
    elif kind == "clustered":
        centres = rng.integers(0, 2, (200, BITS), dtype=np.uint8)
        noise = rng.random((ROWS + 64, BITS)) < rng.uniform(0.05, 0.35, (ROWS + 64, 1))
        bits = centres[rng.integers(0, 200, ROWS + 64)] ^ noise
    else:  # skewed: most bits are nearly always the same
        bits = (rng.random((ROWS + 64, BITS)) < rng.beta(0.3, 0.6, BITS)).astype(np.uint8)
    words = pack(bits.astype(np.uint8))
    return Signatures(words[64:], BITS), Signatures(words[:64], BITS)


@pytest.mark.parametrize("kind", ("random", "clustered", "skewed"))
def test_the_stated_recall_is_reached(kind):
    rows, queries = data(kind)
    truth = np.sort(distances(queries.words, rows.words), axis=1)[:, :10]
    index, before = PlaneIndex(rows), None
    for recall in (0.5, 0.8, 0.95):
        index.recall = recall
        matches = index.search(queries, 10)
        found = matches.distances.reshape(-1, 10)
        true = np.bitwise_count(rows.words[matches.rows] ^ np.repeat(queries.words, 10, axis=0)).sum(axis=1)
        assert np.array_equal(matches.distances, true)
        assert np.all(found >= truth) and np.all(np.diff(found) >= 0)
        measured = np.mean(found <= truth[:, -1:])
        assert recall <= matches.recall <= measured + 0.02
        assert matches.counters["comparisons"] <= len(queries) * ROWS
        assert before is None or np.all(found <= before)
        before = found


def test_a_higher_recall_compares_the_same_rows_and_more():
    rows, queries = data("clustered")
    comparisons = [PlaneIndex(rows, recall).search(queries, 10).counters["comparisons"] for recall in (0.3, 0.9, 0.99)]
    assert comparisons == sorted(comparisons) and comparisons[0] < comparisons[-1]
    assert PlaneIndex(rows, 1).search(queries, 10).counters == FlatIndex(rows).search(queries, 10).counters


def test_threads_batches_and_pieces_change_nothing():
    rows, queries = data("clustered")
    index, pieces = PlaneIndex(rows, 0.8), PlaneIndex(Signatures(rows.words[:100], BITS), 0.8)
    for start, stop in ((100, 101), (101, 7000), (7000, ROWS)):
        pieces.add(Signatures(rows.words[start:stop], BITS))
    alone = index.search(queries, 10, threads=1)
    for other in (index.search(queries, 10, threads=7), pieces.search(queries, 10)):
        assert listed(other) == listed(alone)
        assert other.counters == alone.counters and other.recall == pytest.approx(alone.recall)
    for start, stop in ((0, 1), (1, 30), (30, 64)):
        part = index.search(queries.take(np.arange(start, stop)), 10, threads=3)
        assert listed(part) == listed(alone)[start:stop]


def test_easy_queries_count_fewer_planes_and_hopeless_ones_all():
    rows, _ = data("clustered")
    easy = PlaneIndex(rows).search(rows.take(np.arange(9)), 1)
    assert listed(easy) == [[(0, row)] for row in range(9)]
    assert easy.counters["planes"] < 9 * BITS / 4
    same = signatures("equal", ROWS, BITS)
    hopeless = PlaneIndex(same).search(same.take(np.arange(5)), 3)
    assert hopeless.counters == {"comparisons": 5 * ROWS + 5 * 64, "planes": 5 * BITS}
    assert listed(hopeless) == [[(0, 0), (0, 1), (0, 2)]] * 5 and hopeless.recall == 1


def test_removed_rows_are_not_found():
    rows, queries = data("clustered")
    index = PlaneIndex(rows)
    gone = np.unique(index.search(queries, 3).rows)
    index.remove(gone)
    again = index.search(queries, 3)
    assert not np.intersect1d(again.rows, gone).size
    assert np.all(np.diff(again.offsets) == 3)


def test_an_index_that_was_saved_answers_the_same(tmp_path):
    rows, queries = data("clustered")
    index = PlaneIndex(rows, 0.7)
    index.remove([3, 4000])
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert type(loaded) is PlaneIndex and loaded.recall == 0.7 and mapping_of(loaded._majorities) is not None
    for _ in range(2):
        found, expected = loaded.search(queries, 10), index.search(queries, 10)
        assert listed(found) == listed(expected) and found.counters == expected.counters
        for changed in (loaded, index):
            changed.add(Signatures(queries.words, BITS))
    assert loaded.search(queries, 1).rows.tolist() == list(range(ROWS, ROWS + 64))


@pytest.mark.parametrize(
    ("name", "change"),
    (
        ("majorities", lambda a: a[:, :-32]),
        ("majorities", lambda a: a.astype(np.int64)),
        ("majorities", None),
        ("words", lambda a: a[:-1]),
    ),
)
def test_wrong_arrays_are_named(name, change, tmp_path):
    PlaneIndex(signatures("random", 9, 512)).save(tmp_path / "good")
    meta, arrays = read_artefact(tmp_path / "good", "index")
    wrong = {key: array for key, array in arrays.items() if key != name}
    if change is not None:
        wrong[name] = change(arrays[name])
    write_artefact(tmp_path / "bad", "index", wrong, digest=meta.pop("digest"), meta=meta)
    with pytest.raises(StorageError, match="bad"):
        load_index(tmp_path / "bad")


@pytest.mark.parametrize("recall", (0, -0.1, 1.01, float("nan")))
def test_a_recall_that_cannot_be_is_refused(recall):
    with pytest.raises(UsageError, match="recall"):
        PlaneIndex(signatures("random", 3, 256), recall)
    index = PlaneIndex(signatures("random", 3, 256))
    with pytest.raises(UsageError, match="recall"):
        index.recall = recall


def test_a_saved_recall_that_cannot_be_is_named(tmp_path):
    index = PlaneIndex(signatures("random", 3, 256))
    index._recall = 2
    index.save(tmp_path / "a")
    with pytest.raises(StorageError, match="recall must be above 0"):
        load_index(tmp_path / "a")


def test_narrow_signatures_have_no_majorities_and_every_row_is_compared():
    rows = signatures("random", 20_000, 511)
    index = PlaneIndex(rows)
    assert index._majorities.size == 0
    assert index.search(rows.take(np.arange(2)), 3).counters == {"comparisons": 40_000}


def test_more_than_the_memory_is_refused(monkeypatch):
    index = PlaneIndex(signatures("random", 9, 4096))
    monkeypatch.setattr("sosie.index.room.physical_memory", lambda: 300_000)
    with pytest.raises(UsageError, match=r"1,009 rows .* PlaneIndex need about 1\.5 MB.*FlatIndex needs 0\.5 MB"):
        index.add(signatures("random", 1000, 4096, ids=range(9, 1009)))
    assert len(index) == 9
