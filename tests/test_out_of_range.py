"""Rows and offsets that lead outside arrays, given in Python: named errors, where the arrays are given."""

import numpy as np
import pytest

import sosie
from sosie import Clusters, Features, FlipModel, Keys, MismatchError, Pairs, Signatures, UsageError, VerifiedPairs

HASHES = np.array([1, 2, 3], np.uint64)


@pytest.mark.parametrize(
    "offsets", [[0, 9, 3], [0, -5, 3], [0, 2, 1], [-1, 3], [0, 4], [0, 10**12, 3], [], [[0, 3]], [0.0, 3.0]]
)
def test_offsets_of_features(offsets):
    with pytest.raises(MismatchError, match="the offsets of features"):
        sosie.join(Features(HASHES, np.array(offsets, float if offsets == [0.0, 3.0] else np.int64)), threshold=0.5)


def test_hashes_and_counts_of_features():
    with pytest.raises(MismatchError, match="the hashes of features are uint64"):
        Features(np.arange(3), np.array([0, 3]))
    with pytest.raises(MismatchError, match=r"the counts of features are int32\[3\], got int32\[2\]"):
        Features(HASHES, np.array([0, 3]), np.ones(2, np.int32))
    assert len(Features(HASHES, np.array([1, 1, 3]))) == 2


@pytest.mark.parametrize("rows", [[3], [-1], [10**15]])
def test_rows_that_are_taken(rows):
    features = Features(HASHES, np.array([0, 1, 2, 3]))
    with pytest.raises(MismatchError, match="rows are numbered from 0"):
        features.take(np.array(rows))


@pytest.mark.parametrize("measure", ["jaccard", "cosine", "containment"])
@pytest.mark.parametrize(("a", "b"), [(9, 1), (0, 2), (2**40, 0), (0, 2**62)])
def test_pairs_beyond_the_rows(a, b, measure):
    features = sosie.Shingles().extract(["a b c", "d e f"], counts=True)
    with pytest.raises(MismatchError, match="the rows of pairs are numbered from 0 to 1"):
        sosie.verify(Pairs(np.array([a]), np.array([b])), features, threshold=0.5, measure=measure)


def test_pairs_beyond_the_rows_of_the_other_side():
    features = sosie.Shingles().extract(["a b c", "d e f"])
    with pytest.raises(MismatchError, match="the rows of pairs are numbered from 0 to 0, got 1"):
        sosie.verify(Pairs(np.array([1]), np.array([1])), features, features.rows(0, 1), threshold=0.5)


@pytest.mark.parametrize(
    ("a", "b"), [(np.array([-1]), np.array([0])), (np.array([0]), np.array([0, 1])), ([0], [1]), (np.ones(1),) * 2]
)
def test_pairs_that_are_none(a, b):
    with pytest.raises(MismatchError, match=r"the rows of pairs are|pairs have two rows each"):
        Pairs(a, b)
    with pytest.raises(MismatchError, match=r"the rows of pairs are|pairs have two rows each"):
        VerifiedPairs(a, b, np.ones(1), np.ones(1, np.int64))


def test_verified_pairs_have_one_similarity_each():
    rows = np.array([0])
    with pytest.raises(MismatchError, match="the similarities of pairs are"):
        VerifiedPairs(rows, rows + 1, np.ones(2), rows)
    with pytest.raises(MismatchError, match="the shared features of pairs are"):
        VerifiedPairs(rows, rows + 1, np.ones(1), np.ones(1))


@pytest.mark.parametrize("anchor", [np.array([-1]), np.array([2**62]), np.array([0, 0]), [0]])
def test_anchors(anchor):
    with pytest.raises(MismatchError, match=r"the anchors of rows|the similarities to anchors"):
        Clusters(anchor, np.ones(1))


def test_signatures_and_keys():
    words = np.arange(3, dtype=np.uint64)
    for bits in (1.5, True, "64"):
        with pytest.raises(MismatchError, match="the bits of a signature are a whole number"):
            Signatures(words, bits)
    with pytest.raises(MismatchError, match="signatures are a NumPy array, got list"):
        Signatures([1, 2])
    with pytest.raises(MismatchError, match=r"keys are uint64\[n, tables\]"):
        Keys(np.empty((3, 0), np.uint64))
    with pytest.raises(MismatchError, match="bags are made of Features"):
        sosie.Bags(words)


@pytest.mark.parametrize(("step", "costs"), [(0.0, [1]), (-1.0, [1]), (1.0, []), (1.0, [0]), (float("nan"), [1])])
def test_costs_of_flips(step, costs):
    with pytest.raises(MismatchError, match="flip"):
        FlipModel(step, np.array(costs, np.int32))


@pytest.mark.parametrize("number", [1.5, None, "3", -1, float("nan")])
@pytest.mark.parametrize("kind", ["FlatIndex", "BlockIndex", "MultiIndex", "ProbeIndex", "SliceIndex"])
def test_numbers_of_a_search(kind, number):
    rows = Signatures(np.arange(50, dtype=np.uint64))
    index = getattr(sosie, kind)(rows)
    with pytest.raises(UsageError, match="k must be at least 1, and a whole number"):
        index.search(rows, number)
    with pytest.raises(UsageError, match="radius must be between 0 and 64"):
        index.within(rows, number)
    assert len(index.search(rows, 10**30).rows)


def test_more_candidates_than_rows_are_all_rows():
    rows = Signatures(np.arange(50, dtype=np.uint64))
    index = sosie.SliceIndex(rows, effort=sosie.SliceSearch(None, candidates=10**30))
    assert index.search(rows, 1).rows.tolist() == list(range(50))


@pytest.mark.parametrize("options", [{"candidates": None}, {"breadth": 1.5}, {"j": "1"}, {"candidates": True}])
def test_efforts_in_whole_numbers(options):
    with pytest.raises(UsageError, match="must be at least"):
        sosie.SliceSearch(**options)
    with pytest.raises(UsageError, match="probes must be a whole number"):
        sosie.ProbeSearch(1.5)


def test_a_radius_below_0_is_named():
    with pytest.raises(UsageError, match="radius"):
        sosie.join(Signatures(np.arange(3, dtype=np.uint64)), radius=-1)
