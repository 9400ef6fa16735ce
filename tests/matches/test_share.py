"""What share of all pairs was found: by simulation, and of de-duplications whose exact pairs are known."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

import sosie
from sosie.matches.share import crowds_of, weighted_share


def test_the_interval_holds_the_truth_in_95_of_100_runs():
    held, off = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        chances = rng.uniform(0.2, 1, 2000)
        found = np.flatnonzero(rng.random(2000) < chances)
        said = weighted_share(chances[found], found, np.ones(len(found), np.int64))
        held += said.interval[0] <= len(found) / 2000 <= said.interval[1]
        off.append(said.recall - len(found) / 2000)
    assert held >= 180
    assert abs(np.mean(off)) < 0.003


def test_pairs_of_one_crowd_are_lucky_together():
    """Ten pairs of a row that are found, or not, by the same bits: as many crowds as there are, not as many pairs."""
    held, alone = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.flatnonzero(rng.random(300) < 0.5), 10)
        chances, once = np.full(len(rows), 0.5), np.ones(len(rows), np.int64)
        truth = len(rows) / 3000
        low, high = weighted_share(chances, rows, once).interval
        held += low <= truth <= high
        low, high = weighted_share(chances, np.arange(len(rows)), once).interval
        alone += low <= truth <= high
    assert held >= 180 > alone


def test_crowds_are_connected_components():
    rng = np.random.default_rng(2)
    for rows, pairs in ((10, 0), (50, 30), (200, 150), (300, 900)):
        a, b = rng.integers(0, rows, (2, pairs))
        graph = scipy.sparse.coo_matrix((np.ones(pairs), (a, b)), (rows, rows))
        labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        first = np.array([np.flatnonzero(labels == label)[0] for label in labels], np.int64)
        assert crowds_of(a, b, rows).tolist() == first[a].tolist()


def test_pairs_count_as_often_as_they_stand_for_rows_and_some_are_certain():
    said = weighted_share(np.array([0.5, 1.0]), np.array([0, 1]), np.array([3, 4]), certain=5)
    assert said.recall == pytest.approx(12 / (6 + 4 + 5))
    assert weighted_share(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)) is None


@pytest.fixture(scope="module")
def corpus():
    """Texts of 60 words, and copies with up to 20 of them changed."""
    rng = np.random.default_rng(3)
    originals = rng.integers(0, 20_000, (1200, 60))
    copies = originals.copy()
    for row in copies:
        row[rng.choice(60, rng.integers(1, 12), replace=False)] = rng.integers(0, 20_000)
    return [" ".join(f"w{word}" for word in row) for row in (*originals, *copies, *originals[:50])]


@pytest.mark.parametrize(
    "method",
    [sosie.Minhash(minima=16, rows=4), sosie.Minhash(minima=36, rows=6), sosie.Minhash(minima=12, rows=3)],
    ids=lambda method: f"{method.minima} in {method.rows}",
)
def test_minhash_says_what_share_it_found(corpus, method):
    truth, held, off = sosie.dedup(corpus, threshold=0.5), 0, []
    for seed in range(10):
        found = sosie.dedup(corpus, threshold=0.5, method=replace(method, seed=seed))
        recall = len(found.pairs) / len(truth.pairs)
        estimated = found.report["estimated_recall"]
        off.append(estimated["recall"] - recall)
        held += estimated["interval"][0] <= recall <= estimated["interval"][1]
        assert recall < 0.99
        assert found.report["predicted_recall"] == pytest.approx(method.recall(0.5), abs=1e-6)
    assert held >= 8 and abs(np.mean(off)) < 0.02 and np.max(np.abs(off)) < 0.08
    assert "estimated_recall" not in truth.report
