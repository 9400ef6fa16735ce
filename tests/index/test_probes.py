import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import KINDS, listed, near, pack, queries_near, signatures

from sosie.errors import MismatchError, StorageError, UsageError
from sosie.index import probes
from sosie.index.files import load_index
from sosie.index.flips import FlipModel
from sosie.index.ids import forget_bits, live_bits, more_bits
from sosie.index.probe_run import ProbeHeader
from sosie.index.probe_search import ProbeSearch, choose_probes
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.kernels.tables.vosh import NEVER
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.resident import mapping_of
from sosie.types import Signatures


@pytest.fixture(autouse=True, scope="module")
def several_runs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probes, "SHORT", 8)
        yield


def volatile_pairs(count, bits=64, seed=0, others=0):
    """Return rows and queries: a query's sums are those of a row with some noise, as in near-duplicates."""
    rng = np.random.default_rng(seed)
    sums = rng.normal(size=(count, bits)).astype(np.float32)
    cosine = 1 - rng.uniform(0.001, 0.04, (count, 1)).astype(np.float32)
    edited = cosine * sums + np.sqrt(1 - cosine**2) * rng.normal(size=(count, bits)).astype(np.float32)
    rows = np.concatenate([pack((sums > 0).astype(np.uint8)), signatures("random", others, bits, seed + 1).words])
    return Signatures(rows, bits), Signatures(pack((edited > 0).astype(np.uint8)), bits, volatility=edited)


def header_of(words, places):
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return [sum(int(line[place]) << i for i, place in enumerate(places)) for line in bits]


def order_of(sizes, most):
    """Return all flips of a header, in order: by the sum of |W|."""
    masks = [mask for mask in range(1 << len(sizes)) if mask.bit_count() <= most]
    return sorted(masks, key=lambda mask: sum(size for i, size in enumerate(sizes) if mask >> i & 1))


@settings(deadline=None, max_examples=40)
@given(
    bits=st.sampled_from((5, 64, 70)),
    pieces=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    wanted=st.integers(0, 40),
    data=st.data(),
)
def test_what_is_found_has_a_probed_header_whatever_the_runs(bits, pieces, wanted, data):
    places = data.draw(st.one_of(st.none(), st.lists(st.integers(0, bits - 1), min_size=1, max_size=6, unique=True)))
    rows, queries = volatile_pairs(max(1, sum(pieces)), bits)
    rows, queries = Signatures(rows.words[: sum(pieces)], bits), queries.take(np.arange(min(8, len(queries))))
    index = ProbeIndex(Signatures(rows.words[:0], bits), ProbeSearch(wanted), places)
    for start, piece in zip(np.cumsum([0, *pieces]), pieces, strict=False):
        index.add(Signatures(rows.words[start : start + piece], bits))
    gone = data.draw(st.sets(st.integers(0, max(0, len(rows) - 1)), max_size=len(rows) // 2))
    index.remove(sorted(gone))
    chosen = places or list(range(bits - min(bits, max(1, round(math.log2(max(1, len(rows)))))), bits))
    assert index.header_bits == len(chosen)
    for radius in (0, 1, 3, bits):
        expected = []
        truth = near(queries, rows, radius, [row for row in range(len(rows)) if row not in gone])
        for query, pairs in enumerate(truth):
            order = order_of(np.abs(queries.volatility[query, chosen]).tolist(), min(radius, len(chosen)))
            own = header_of(queries.words[query : query + 1], chosen)[0]
            probed = {own ^ mask for mask in order[: wanted + 1]}
            found = header_of(rows.words, chosen) if len(rows) else []
            expected.append([pair for pair in pairs if found[pair[1]] in probed])
        assert listed(index.within(queries, radius)) == expected
        firsts = [[min(pairs, key=lambda pair: pair[1])] if pairs else [] for pairs in expected]
        assert listed(index.within(queries, radius, first=True)) == firsts
        met = listed(index.any_within(queries, radius))
        assert [bool(one) for one in met] == [bool(pairs) for pairs in expected]
        assert all(set(one) <= set(pairs) for one, pairs in zip(met, expected, strict=True))
    everything = index.within(queries, bits)
    assert listed(index.search(queries, 3)) == [pairs[:3] for pairs in listed(everything)]


@pytest.mark.parametrize("kind", KINDS)
def test_more_probes_find_all_that_fewer_find(kind):
    rows = signatures(kind, 300, 64)
    queries = queries_near(rows, 6)
    before = [set()] * 6
    for count in (0, 1, 2, 7, 63, 64, 65, 200, 256):
        found = [set(pairs) for pairs in listed(ProbeIndex(rows, ProbeSearch(count)).within(queries, 20))]
        assert all(less <= more for less, more in zip(before, found, strict=True))
        before = found
    assert before == [set(pairs) for pairs in near(queries, rows, 20)]


def test_no_more_flips_than_the_radius_are_made():
    rows, queries = volatile_pairs(500)
    index = ProbeIndex(rows, ProbeSearch(1 + 9), header=9)
    for radius, probed in ((0, 1), (1, 10), (2, 11), (64, 11)):
        found = index.within(queries, radius)
        assert found.counters["probes"] == probed * len(queries)
        assert (found.recall == 1.0) == (radius <= 1)
    assert index.search(queries, 1).recall is None
    assert index.search(queries, 1, effort=ProbeSearch(511)).recall == 1.0
    assert index.search(queries, 1).recall is None


def test_volatility_finds_more_than_chance_and_a_model_as_much():
    rows, queries = volatile_pairs(4000, others=30_000)
    plain = Signatures(queries.words)
    exact = len(ProbeIndex(rows, ProbeSearch(2**20)).within(queries, 3).rows)
    model = FlipModel.of(queries)
    found = {
        "volatility": len(ProbeIndex(rows, ProbeSearch(12)).within(queries, 3).rows),
        "model": len(ProbeIndex(rows, ProbeSearch(12), flips=model).within(queries, 3).rows),
        "none": len(ProbeIndex(rows, ProbeSearch(12)).within(plain, 3).rows),
    }
    assert found["volatility"] > 0.96 * exact and found["none"] < 0.9 * exact
    assert abs(found["model"] - found["volatility"]) < 0.02 * exact


@pytest.mark.parametrize("first", (False, True))
@pytest.mark.parametrize("target", (0.8, 0.95))
def test_the_probes_that_were_chosen_reach_the_recall_on_other_data(target, first):
    rows, sample = volatile_pairs(3000, others=20_000)
    index = ProbeIndex(rows)
    assert index.within(sample, 3).recall is None
    made = index.calibrate(sample, 3, target, first=first)
    assert index.effort == ProbeSearch() and made.probes > 0 and abs(made.recall - target) < 0.02
    assert index.within(sample, 3, first=first, effort=made).recall == made.recall
    assert index.within(sample, 3, first=first).recall is None
    others, asked = volatile_pairs(3000, seed=7, others=20_000)
    other = ProbeIndex(others, ProbeSearch(made.probes))
    exact, found = ProbeIndex(others, ProbeSearch(2**20)).within(asked, 3), other.within(asked, 3)
    assert exact.recall == 1.0 and found.recall is None
    if first:
        reached = np.mean(np.diff(found.offsets)[np.diff(exact.offsets) > 0] > 0)
    else:
        reached = len(found.rows) / len(exact.rows)
    assert abs(reached - target) < 0.02


def test_recall_is_stated_only_where_it_was_measured(tmp_path):
    rows, sample = volatile_pairs(2000, others=2000)
    index = ProbeIndex(rows)
    made = index.calibrate(sample, 3)
    ProbeIndex(rows, made).save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert loaded.effort == made
    for searched, effort in ((index, made), (loaded, None)):
        for radius, recall in ((2, made.recall), (3, made.recall), (4, None)):
            assert searched.within(sample, radius, effort=effort).recall == recall
        assert searched.within(sample, 3, first=True, effort=effort).recall is None
        assert searched.within(Signatures(sample.words), 3, effort=effort).recall is None
    firsts = index.calibrate(sample, 3, first=True)
    for found in (index.any_within(sample, 3, effort=firsts), index.within(sample, 3, first=True, effort=firsts)):
        assert found.recall == firsts.recall
    assert index.within(sample, 3, effort=firsts).recall is None
    assert loaded.within(sample, 3, effort=ProbeSearch(made.probes)).recall is None
    index.add(signatures("random", 4000, 64))  # the header grows
    assert index.any_within(sample, 3, effort=firsts).recall is None


def test_calibration_can_leave_queries_out_of_their_matches():
    _, sample = volatile_pairs(400)
    twice = Signatures(np.concatenate([sample.words, sample.words ^ np.uint64(1 << 63)]))
    index = ProbeIndex(twice)
    assert index.calibrate(sample, 1, 0.4).probes == 0
    assert index.calibrate(sample, 1, 0.4, exclude_self=True).probes > 0


def test_what_cannot_be_calibrated_is_refused():
    rows, sample = volatile_pairs(100)
    index = ProbeIndex(rows)
    for wrong in (0, 1.5):
        with pytest.raises(UsageError, match="recall"):
            index.calibrate(sample, 3, wrong)
    with pytest.raises(UsageError, match="too few"):
        index.calibrate(sample.take(np.arange(10)), 3)
    with pytest.raises(UsageError, match="radius"):
        index.calibrate(sample, 65)
    with pytest.raises(UsageError, match="too few"):
        ProbeIndex(Signatures(rows.words[:0])).calibrate(sample, 3)
    with pytest.raises(UsageError, match="too many"):
        choose_probes(np.full(80, NEVER), np.arange(80), 0.5, first=False)


@pytest.mark.parametrize("bits", (64, 128, 1024))
def test_memory_is_little_more_than_one_copy(bits):
    count = 1 << 12
    index = ProbeIndex(signatures("random", count, bits), header=10)
    table = index._state.stored.runs[0].table
    copy = count * bits // 8
    assert len(index._state.stored.runs) == 1
    assert table.words.nbytes + table.starts.nbytes + index._state.ids.live.nbytes <= 1.25 * copy  # row numbers are ids


def test_skew_is_what_a_row_shares_its_bucket_with():
    rows = signatures("random", 4096, 64)
    assert 1.8 < ProbeIndex(rows).skew < 2.2
    assert ProbeIndex(signatures("equal", 100, 64)).skew == 100
    assert ProbeIndex(signatures("random", 0, 64)).skew == 0


def test_added_one_by_one_there_are_few_runs():
    rows = signatures("random", 500, 64)
    index = ProbeIndex(Signatures(rows.words[:0]))
    for row in range(500):
        index.add(Signatures(rows.words[row : row + 1]))
        assert len(index._state.stored.runs) <= 8
    assert sum(len(run) for run in index._state.stored.runs) == 500
    assert np.array_equal(index.signatures.words, rows.words)


@pytest.mark.parametrize("header", (0, 65, 31, [], [1, 1], [64], [-1], list(range(31))))
def test_a_header_that_cannot_be_is_refused(header):
    with pytest.raises(UsageError, match="header"):
        ProbeIndex(signatures("random", 9, 64), header=header)


def test_what_makes_no_sense_is_refused():
    rows = signatures("random", 9, 64)
    with pytest.raises(UsageError, match="probes"):
        ProbeIndex(rows, ProbeSearch(-1))
    index = ProbeIndex(rows)
    for wrong in (SliceSearch(), 16):
        with pytest.raises(UsageError, match="ProbeSearch or a Calibration"):
            index.within(rows, 1, effort=wrong)
    with pytest.raises(UsageError, match="radius"):
        index.any_within(rows, 65)
    with pytest.raises(MismatchError, match="65"):
        index.any_within(signatures("random", 1, 65), 1)
    assert len(index.any_within(Signatures(rows.words[:0]), 1)) == 0
    for sums, what in ((np.zeros((9, 63), np.float32), "shape"), (np.full((9, 64), np.nan, np.float32), "finite")):
        with pytest.raises(MismatchError, match=what):
            index.within(Signatures(rows.words, volatility=sums), 1)
    with pytest.raises(UsageError, match="volatility"):
        FlipModel.of(rows)


def test_more_than_the_machine_can_hold_is_refused_and_nothing_changes(monkeypatch):
    rows = signatures("random", 100, 64)
    index = ProbeIndex(rows)
    needed = 4 * 2**8 + 32 * 200
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed - 1)
    with pytest.raises(UsageError, match=r"200 rows sorted by 8 bits need about 0\.0 MB"):
        index.add(rows)
    assert len(index) == len(index.ids) == 100
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: needed)
    index.add(rows)
    assert len(index) == 200


def test_a_loaded_index_is_mapped_and_goes_on(tmp_path):
    rows, queries = volatile_pairs(300, 100)
    index = ProbeIndex(
        Signatures(rows.words[:200], 100), ProbeSearch(5), header=[99, 3, 64, 63, 50], flips=FlipModel.of(queries)
    )
    index.add(Signatures(rows.words[200:], 100))
    index.remove([7, 250])
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    assert type(loaded) is ProbeIndex and loaded.effort == ProbeSearch(5) and loaded.header_bits == 5
    assert mapping_of(loaded._state.stored.runs[0].table.words) is not None
    for again in (False, True):
        found, expected = loaded.within(queries, 4), index.within(queries, 4)
        assert listed(found) == listed(expected) and found.counters == expected.counters
        for either in (index, loaded):
            if not again:
                either.remove([1])
                either.add(Signatures(rows.words[:50], 100))
    assert np.array_equal(loaded.signatures.words, index.signatures.words)


@pytest.mark.parametrize(
    ("name", "change"),
    (
        ("run0_words", lambda a: a[:-1]),
        ("run0_words", lambda a: a.astype(np.int64)),
        ("run0_rows", lambda a: a + np.uint32(1)),
        ("run0_rows", lambda a: a[:-1]),
        ("run0_starts", lambda a: a[::-1]),
        ("run0_starts", lambda a: a[:-1]),
        ("run0_starts", lambda a: np.concatenate([a, a])),
        ("run0_starts", None),
        ("flip_costs", lambda a: a * 0),
        ("flip_costs", lambda a: a.astype(np.int64)),
        ("flip_costs", None),
    ),
)
def test_wrong_arrays_with_right_checksums_are_named(name, change, tmp_path):
    rows, queries = volatile_pairs(40)
    ProbeIndex(rows, flips=FlipModel.of(queries)).save(tmp_path / "good")
    meta, arrays = read_artefact(tmp_path / "good", "index")
    digest = meta.pop("digest")
    wrong = {key: array for key, array in arrays.items() if key != name}
    if change is not None:
        wrong[name] = change(arrays[name])
    write_artefact(tmp_path / "bad", "index", wrong, digest=digest, meta=meta)
    with pytest.raises(StorageError, match="bad"):
        load_index(tmp_path / "bad")


@pytest.mark.parametrize(
    "changes",
    (
        {"probes": -1},
        {"probes": "x"},
        {"header": 99},
        {"header": [64]},
        {"flip_step": "x"},
        {"calibration": {"probes": 3}},
        {"runs": []},
        {"runs": [{"first": 0, "count": 41}]},
        {"runs": [{"first": 1, "count": 39}]},
        {"runs": [{"first": 0, "count": 40.0}]},
    ),
)
def test_wrong_parameters_with_right_checksums_are_named(changes, tmp_path):
    ProbeIndex(signatures("random", 40, 64)).save(tmp_path / "good")
    meta, arrays = read_artefact(tmp_path / "good", "index")
    digest = meta.pop("digest")
    meta["parameters"] = {**meta["parameters"], **changes}
    write_artefact(tmp_path / "bad", "index", arrays, digest=digest, meta=meta)
    with pytest.raises(StorageError, match="bad"):
        load_index(tmp_path / "bad")


def test_the_files_are_as_they_were_from_the_beginning(tmp_path):
    """The format is a promise: rows by header, then by number; where headers begin."""
    rows = Signatures(np.array([3 << 62, 5, 1 << 62, 6, 2 << 62], np.uint64), ids=list("abcde"), digest="spec")
    index = ProbeIndex(rows, ProbeSearch(2))
    index.save(tmp_path / "a")
    meta, arrays = read_artefact(tmp_path / "a", "index")
    runs = [{"first": 0, "count": 5}]
    fixed = {"bits": 64, "probes": 2, "header": None, "flip_step": None, "calibration": None, "runs": runs}
    assert (meta["class"], meta["parameters"]) == ("ProbeIndex", fixed)
    assert arrays["run0_words"].tolist() == [[5], [6], [1 << 62], [2 << 62], [3 << 62], [0], [0], [0]]
    assert arrays["run0_rows"].tolist() == [1, 3, 2, 4, 0]
    assert arrays["run0_starts"].tolist() == [0, 2, 3, 4, 5]


@given(st.lists(st.integers(0, 199), min_size=1, max_size=30, unique=True), st.integers(0, 2**200 - 1))
def test_moves_bring_bits_to_a_header(places, number):
    words = np.frombuffer(number.to_bytes(32, "little"), np.uint64)
    header = 0
    for word, down, mask, up in ProbeHeader.of(np.array(places)).moves.tolist():
        header |= ((int(words[word]) >> down) & mask) << up
    assert header == sum((number >> place & 1) << i for i, place in enumerate(places))


@given(st.lists(st.integers(0, 150), max_size=6), st.data())
@settings(deadline=None, max_examples=40)
def test_bits_of_rows_that_are_there(pieces, data):
    live, total = np.empty(0, np.uint64), 0
    for piece in pieces:
        live, total = more_bits(live, total, total + piece), total + piece
    gone = np.array(sorted(data.draw(st.sets(st.integers(0, max(0, total - 1)), max_size=total))), np.int64)
    forget_bits(live, gone)
    bits = np.unpackbits(live.view(np.uint8), bitorder="little")[:total]
    assert np.flatnonzero(bits == 0).tolist() == gone.tolist()
    exact = np.unpackbits(live_bits(total, gone).view(np.uint8), bitorder="little")
    assert exact[:total].tolist() == bits.tolist() and not exact[total:].any()
