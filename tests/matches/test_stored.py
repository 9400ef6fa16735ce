import numpy as np
import pytest

from sosie.matches.stored import load_pairs, save_pairs
from sosie.storage.checkpoint import Checkpoints
from sosie.types import VerifiedPairs


@pytest.mark.parametrize("total", [None, np.array([3, 7])])
def test_pairs_that_were_saved_are_the_same_when_they_are_loaded(tmp_path, total):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key", forced=True)
    assert load_pairs(checkpoints, 4) is None
    similarity = np.array([1 / 3, np.nextafter(0.8, 1)])
    pairs = VerifiedPairs(
        np.array([0, 1]), np.array([2, 3]), similarity, np.array([1, 6]), total, {"candidates": 9}, 0.1 + 0.2
    )
    save_pairs(checkpoints, pairs)
    loaded = load_pairs(checkpoints, 4)
    assert loaded.recall == 0.1 + 0.2 and loaded.counters == {"candidates": 9}
    for name in ("a", "b", "similarity", "shared", "total"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(pairs, name))
    assert loaded.a.flags.writeable  # kernels are compiled for one kind of array


def test_nothing_is_written_where_it_is_not_worth_it(tmp_path):
    none = np.empty(0, np.int64)
    save_pairs(Checkpoints(tmp_path / "checkpoints", "key"), VerifiedPairs(none, none, none / 1, none))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("a", "b", "state"),
    [
        ([0], [9], {}),
        ([-1], [1], {}),
        ([1], [0], {}),
        ([0, 1], [1], {}),
        ([0.5], [1.5], {}),
        ([0], [1], {"recall": 7}),
        ([0], [1], {"counters": {"candidates": "x"}}),
        ([0], [1], {"counters": 5}),
    ],
)
def test_pairs_that_do_not_fit_are_worked_out_again(a, b, state, tmp_path, caplog):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key", forced=True)
    arrays = {"a": np.array(a), "b": np.array(b), "similarity": np.ones(1), "shared": np.ones(1, np.int64)}
    checkpoints.save("verify", arrays, {"counters": {}, "recall": None, **state})
    assert load_pairs(checkpoints, 4) is None
    assert "verify" in caplog.text and "its work is done again" in caplog.text


def test_columns_that_pairs_do_not_have(tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key", forced=True)
    checkpoints.save("verify", {"rows": np.arange(3)}, {"counters": {}, "recall": None})
    assert load_pairs(checkpoints, 4) is None
