"""How many pairs share no key: of collections whose pairs are all known, crowds of near rows among them."""

from dataclasses import replace

import numpy as np
import pytest

import sosie
from sosie.matches import missed, neighbours
from sosie.matches.missed import MANY, NONE, Banded
from sosie.matches.neighbours import Neighbours

METHOD = sosie.Minhash(minima=30, rows=3)


@pytest.fixture(scope="module")
def crowds():
    """Crowds of up to 30 texts: versions of one that differ in some words, and copies of each that differ in one."""
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(40):
        common = rng.integers(0, 50_000, 60)
        for _ in range(3):
            version = changed(common, int(rng.integers(2, 7)), rng)
            copies = [changed(version, 1, rng) for _ in range(int(rng.integers(1, 11)))]
            texts += [" ".join(f"w{word}" for word in copy) for copy in copies]
    return [texts[i] for i in rng.permutation(len(texts))]


def changed(words, count, rng):
    other = words.copy()
    other[rng.choice(len(words), count, replace=False)] = rng.integers(0, 50_000, count)
    return other


@pytest.fixture(scope="module")
def runs(crowds):
    """What share was found in runs with other hash functions: the true one, and what is said of it."""
    every = len(sosie.join(crowds, threshold=0.5).table)
    return [run(crowds, every, seed) for seed in range(20)]


def run(texts, every, seed, **other):
    result = sosie.dedup(texts, 0.5, method=replace(METHOD, seed=seed), **other)
    said = result.report["estimated_recall"]
    weighted = len(result.pairs) / (1 / METHOD.chances(result.pairs["similarity"].to_numpy())).sum()
    return len(result.pairs) / every, said["recall"], said["interval"], weighted


def test_crowds_are_no_matter_of_luck(runs):
    """Weighted by their chances alone, the pairs of crowds are off by the luck of the crowds."""
    truth, said, weighted = np.array([(true, recall, other) for true, recall, _, other in runs]).T
    assert 0.7 < truth.mean() < 0.95
    assert np.sqrt(((said - truth) ** 2).mean()) < 0.6 * np.sqrt(((weighted - truth) ** 2).mean())
    assert abs((said - truth).mean()) < 0.005


def test_the_interval_holds_the_truth(runs):
    assert sum(low <= true <= high for true, _, (low, high), _ in runs) >= 17
    assert np.mean([high - low for _, _, (low, high), _ in runs]) < 0.1


def test_some_rows_say_what_all_do(crowds, runs, monkeypatch):
    monkeypatch.setattr(missed, "_MOST", 1500)
    monkeypatch.setattr(missed, "_ALONE", 200)
    true, said, *_ = run(crowds, len(sosie.join(crowds, threshold=0.5).table), 0)
    assert true == runs[0][0] and said != runs[0][1]
    assert abs(said - true) < 0.05


def test_pieces_change_nothing(crowds, runs, monkeypatch):
    for module in (missed, neighbours):
        monkeypatch.setattr(module, "_PIECE", 7)
    _, said, interval, _ = run(crowds, 1, 0)
    assert (said, interval) == (pytest.approx(runs[0][1]), pytest.approx(runs[0][2]))


def test_equal_rows_count_as_often_as_they_are_there(crowds):
    texts = crowds + crowds[:200]
    every = len(sosie.join(texts, threshold=0.5).table)
    off = [said - true for true, said, *_ in (run(texts, every, seed) for seed in range(5))]
    assert abs(np.mean(off)) < 0.01


def test_pairs_inside_a_reference_are_not_missing(crowds):
    """Rows of a crowd lead to pairs of the reference, too, which nobody asked for."""
    reference, texts = crowds[:400], crowds[400:]
    found = len(sosie.dedup(texts, 0.5, against=reference).pairs)
    true, said, *_ = run(texts, found, 2, against=reference)
    assert true < 0.97 and abs(said - true) < 0.03


def test_the_one_band_of_a_pair():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 40) for _ in range(4)]
    a, b = rng.integers(0, 40, (2, 300))
    for first, second, said in zip(a, b, Banded(columns, 1).once(a, b), strict=True):
        equal = [band for band, column in enumerate(columns) if column[first] == column[second]]
        assert said == (NONE if not equal else equal[0] if len(equal) == 1 else MANY)


def edges(rows, count, seed):
    pairs = {tuple(sorted(pair)) for pair in np.random.default_rng(seed).integers(0, rows, (count, 2)).tolist()}
    return np.array(sorted((a, b) for a, b in pairs if a != b)).T


@pytest.mark.parametrize("piece", (1, 5, 1 << 20))
def test_rows_in_common(piece, monkeypatch):
    monkeypatch.setattr(neighbours, "_PIECE", piece)
    a, b = edges(30, 90, seed=3)
    graph = Neighbours.of(a, b, 30)
    beside = [set(graph.rows[graph.offsets[row] : graph.offsets[row + 1]].tolist()) for row in range(30)]
    assert beside == [set(b[a == row]) | set(a[b == row]) for row in range(30)]
    first, second = np.random.default_rng(4).integers(0, 30, (2, 200))
    common = [set() for _ in first]
    for found in graph.common(first, second):
        for pair, one, other in zip(*found, strict=True):
            row = int(graph.rows[one])
            assert row == graph.rows[other] and row not in common[pair]
            given = {frozenset((int(a[i]), int(b[i]))) for i in graph.given[[one, other]]}
            assert given == {frozenset((int(first[pair]), row)), frozenset((int(second[pair]), row))}
            common[pair].add(row)
    assert common == [beside[x] & beside[y] for x, y in zip(first, second, strict=True)]


def test_no_edges_have_no_rows_in_common():
    none = np.empty(0, np.int64)
    graph = Neighbours.of(none, none, 3)
    assert graph.has(np.array([0]), np.array([1])).tolist() == [-1]
    assert not list(graph.common(np.array([0]), np.array([1]))) and not list(graph.common(none, none))


def test_walks_come_by_as_often_as_they_should():
    a, b = edges(12, 25, seed=8)
    graph, count = Neighbours.of(a, b, 12), 400_000
    walks = graph.walks(count, seed=3)
    assert (walks.start == (graph.edges[walks.first] >> np.uint64(32))).all()
    assert (graph.rows[walks.first] == (graph.edges[walks.second] >> np.uint64(32))).all()
    x, y = np.triu_indices(12, 1)
    chance = np.zeros(len(x))
    for found in graph.common(x, y):
        chance += np.bincount(found.pair, graph.chances(found), len(x))
    low, high = np.minimum(walks.start, walks.end), np.maximum(walks.start, walks.end)
    drawn = np.array([((low == i) & (high == j)).sum() for i, j in zip(x, y, strict=True)])
    assert drawn / count == pytest.approx(chance, abs=0.002)
    assert ((drawn == 0) == (chance == 0)).all()
