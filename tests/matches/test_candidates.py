"""Candidates by method: of what they give, verification leaves a subset of the truth; what was bounded is counted."""

from fractions import Fraction

import numpy as np
import pytest
from tests import oracle, oracle_measures

from sosie import Exact, Features, Minhash, Simhash, UsageError
from sosie.jobs.stages import Collapsed, match, verify
from sosie.matches import candidates as module
from sosie.matches.equal.sets import collapse
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sides import Sides
from sosie.matches.verify import verify_rows
from sosie.storage.room import Room

THRESHOLD = Fraction(4, 5)


def candidates(method, features, sets, groups, threshold, room, similarity=Similarity()):  # noqa: B008
    """The stage of the main job that chooses among the methods."""
    found = match(Collapsed(features, groups, sets, similarity, Sides.of(groups, 0)), method, threshold, room)
    assert found.dense is None
    return found.pairs


@pytest.fixture(scope="module")
def collection():
    """Families of near-duplicates in a shuffled keep order, identical rows and rows without features among them."""
    rng = np.random.default_rng(6)
    sets = [frozenset()] * 3
    for _ in range(60):
        base = rng.integers(0, 2**64, 60, dtype=np.uint64).tolist()
        for _ in range(int(rng.integers(1, 5))):
            sets.append(frozenset(base[int(rng.integers(0, 6)) :]))
    sets = [sets[i] for i in rng.permutation(len(sets))]
    features = Features(
        np.array([h for each in sets for h in sorted(each)], np.uint64), np.cumsum([0, *map(len, sets)])
    )
    rank = rng.permutation(len(sets))
    groups = collapse(rows_of(features.hashes, features.offsets[:-1], features.offsets[1:]), rank)
    first = groups.representatives
    representatives = rows_of(features.hashes, features.offsets[first], features.offsets[first + 1])
    truth = oracle.similar_pairs([sets[row] for row in first.tolist()], THRESHOLD)
    return features, representatives, groups, truth


@pytest.mark.parametrize(
    ("method", "recall"),
    [(Exact(), 1), (Minhash.for_threshold(0.8), 0.99), (Simhash(bits=256, weighting="binary"), 0.97)],
    ids=["exact", "minhash", "simhash"],
)
def test_every_method_finds_what_it_predicts(collection, method, recall, tmp_path):
    features, sets, groups, truth = collection
    assert len(truth) > 50 and len(groups) < len(features) - 3
    for threads, memory in ((1, 1 << 28), (2, 64), (7, 1 << 28)):
        room = Room(tmp_path, memory, threads)
        pairs = candidates(method, features, sets, groups, THRESHOLD, room)
        predicted = pairs.recall
        verified = verify_rows(sets, pairs, THRESHOLD)
        found = set(zip(verified.a.tolist(), verified.b.tolist(), strict=True))
        assert found <= set(truth) and len(found) >= recall * len(truth)
        assert (pairs.a < pairs.b).all() and 0.97 <= predicted <= 1


def test_the_radius_of_simhash_is_in_the_counters(collection, tmp_path):
    features, sets, groups, _ = collection
    method = Simhash(bits=64, weighting="binary")
    pairs = candidates(method, features, sets, groups, THRESHOLD, Room(tmp_path))
    predicted = pairs.recall
    assert pairs.counters["radius"] == 17 and predicted == 0.99


def test_groups_of_very_many_equal_keys_are_set_apart(collection, monkeypatch, tmp_path):
    features, sets, groups, truth = collection
    monkeypatch.setattr(module, "DENSE", 1)
    collapsed = Collapsed(features, groups, sets, Similarity(), Sides.of(groups, 0))
    method, room = Minhash.for_threshold(0.8), Room(tmp_path)
    found = match(collapsed, method, THRESHOLD, room)
    assert len(found.pairs) == 0 and found.dense is not None
    verified = verify(collapsed, found, THRESHOLD, "anchored", 1)
    listed = set(zip(verified.a.tolist(), verified.b.tolist(), strict=True))
    assert listed <= set(truth) and len(listed) >= 0.97 * len(truth)
    assert verified.at_threshold == found.pairs.recall <= verified.recall and verified.counters["bounded_lists"] == 0


def cosine_truth(sets, weights=None) -> set[tuple[int, int]]:
    spans = list(zip(sets.starts.tolist(), sets.stops.tolist(), strict=True))
    whole = np.ones(len(sets.hashes), np.int64) if weights is None else weights.astype(np.int64)
    rows = [dict(zip(sets.hashes[i:j].tolist(), whole[i:j].tolist(), strict=True)) for i, j in spans]
    return set(oracle_measures.similar_pairs("cosine", rows, THRESHOLD))


@pytest.mark.parametrize(
    ("method", "recall"),
    [(Exact(), 1), (Minhash.for_threshold(0.64), 0.99), (Simhash(bits=256, weighting="binary"), 0.97)],
    ids=["exact", "minhash", "simhash"],
)
def test_every_method_finds_pairs_by_cosine(collection, method, recall, tmp_path):
    features, sets, groups, jaccard = collection
    similarity = Similarity("cosine")
    pairs = candidates(method, features, sets, groups, THRESHOLD, Room(tmp_path, threads=2), similarity)
    predicted = pairs.recall
    verified = verify_rows(sets, pairs, THRESHOLD, similarity=similarity)
    found, truth = set(zip(verified.a.tolist(), verified.b.tolist(), strict=True)), cosine_truth(sets)
    assert truth >= set(jaccard) and found <= truth and len(found) >= recall * len(truth)
    assert 0.97 <= predicted <= 1


@pytest.mark.parametrize("method", [Exact(), Simhash(bits=256)], ids=["exact", "simhash"])
def test_the_cosine_of_weights(collection, method, tmp_path):
    features, sets, groups, _ = collection
    similarity = Similarity("cosine", (1 + features.hashes % np.uint64(9)).astype(np.float64))
    pairs = candidates(method, features, sets, groups, THRESHOLD, Room(tmp_path, threads=2), similarity)
    verified = verify_rows(sets, pairs, THRESHOLD, similarity=similarity)
    found, truth = (
        set(zip(verified.a.tolist(), verified.b.tolist(), strict=True)),
        cosine_truth(sets, similarity.weights),
    )
    assert len(truth) > 50 and found <= truth and len(found) >= 0.97 * len(truth)


@pytest.mark.parametrize("method", [Minhash.for_threshold(0.8), Simhash(weighting="binary")])
def test_containment_is_found_by_the_exact_method_alone(collection, method, tmp_path):
    features, sets, groups, _ = collection
    room = Room(tmp_path, threads=1)
    with pytest.raises(UsageError, match="cannot find containment: use --method exact"):
        candidates(method, features, sets, groups, THRESHOLD, room, Similarity("containment"))
    pairs = candidates(Exact(), features, sets, groups, THRESHOLD, room, Similarity("containment"))
    predicted = pairs.recall
    assert len(pairs) > 50 and predicted == 1
