"""Batches that are planned: all matches are found unless less is asked for, and it is told."""

import numpy as np
import pytest
from tests.cli.running import done, refused
from tests.jobs.planning.rows import planted

import sosie
from sosie.errors import UsageError
from sosie.jobs.planning import batches
from sosie.jobs.planning.batches import plan_of_batch
from sosie.matches.store import planned as store_plans
from sosie.planner.machine import Machine


@pytest.fixture
def store(tmp_path):
    made = sosie.SignatureStore(tmp_path / "store")
    made.append(planted(20_000, 64, 0, 1))
    return made


def near(store, count, far=3, seed=0):
    """Rows that are near one in the store, and as many that are not."""
    rng, rows = np.random.default_rng(seed), store.sample(count)
    words = rows.words.copy()
    for row in words:
        for place in rng.choice(64, far, replace=False).astype(np.uint64):
            row[0] ^= np.uint64(1) << place
    return sosie.Signatures(np.concatenate([words, planted(count, 64, 0, 1, seed=seed + 9).words]))


def pairs(matches):
    return list(zip(matches.rows.tolist(), matches.distances.tolist(), strict=True)), matches.offsets.tolist()


def test_all_is_found_by_either_way(store):
    few, many = near(store, 5), near(store, 4000)
    for batch in (few, many):
        found, tables = store.match(batch), store.match(batch, blocks=4)
        assert pairs(found) == pairs(tables) and found.recall == 1 and tables.planned is None
        planned = found.planned
        assert planned.asked == planned.predicted == planned.measured == 1
        for name, (predicted, counted) in planned.work.items():
            assert counted == found.counters[name] == pytest.approx(predicted, rel=0.3)
    assert store.match(many).planned.method == "store blocks"
    slow = Machine(constants={"store lookup": {64: 1e9}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_plans, "load_machine", lambda: slow)
        found = store.match(few)
        assert found.planned.method == "store probes" and pairs(found) == pairs(store.match(few, blocks=4))
        first = store.match(few, first=True)  # which one it is depends on no machine
        assert first.planned.method == "store blocks" and pairs(first) == pairs(store.match(few, first=True, blocks=4))


def test_less_is_found_if_less_is_asked_for(store, monkeypatch):
    monkeypatch.setattr(store_plans, "load_machine", lambda: Machine(constants={"store lookup": {64: 1e6}}))
    batch = near(store, 3000)
    found, every = store.match(batch, recall=0.8), store.match(batch, blocks=4)
    assert found.planned.method == "store probes" and found.recall == found.planned.predicted >= 0.8
    assert len(found.rows) / len(every.rows) == pytest.approx(found.recall, abs=0.03)


def test_a_sample_tells_how_far_matches_are(store, monkeypatch):
    monkeypatch.setattr(
        store_plans, "load_machine", lambda: Machine(constants={"store made": 1e9, "store header": {64: 1e9}})
    )
    batch = near(store, 3000, far=1)
    plan = plan_of_batch(store, batch, 3, 0.9)
    assert plan.facts.counted and plan.facts.distances.values.tolist() == [1.0]
    assert plan.facts.matches == pytest.approx(0.5, abs=0.05)
    looked = []
    monkeypatch.setattr(batches, "facts_of_signatures", lambda *args, **more: looked.append(args))
    assert plan_of_batch(store, batch, 3).chosen.exact and not looked  # all is wanted: nothing is to be known


def test_a_sample_of_a_store_is_of_all_its_runs(tmp_path):
    store = sosie.SignatureStore(tmp_path / "store")
    words = planted(1500, 64, 0, 1).words
    for part in (slice(0, 1000), slice(1000, 1400), slice(1400, 1500)):
        store.append(sosie.Signatures(words[part]))
    assert sorted(store.sample(5000).words[:, 0].tolist()) == sorted(words[:, 0].tolist())
    some = store.sample(300, seed=1)
    assert len(some) == len(np.unique(some.words)) == 300 and np.isin(some.words, words).all()


def test_recall_stands_alone(store):
    batch = near(store, 3)
    for more in ({"probes": 3}, {"blocks": 4}):
        with pytest.raises(UsageError, match="give recall, or probes, or blocks"):
            store.match(batch, recall=0.9, **more)
        with pytest.raises(UsageError, match="give recall, or probes, or blocks"):
            store.match_and_append(batch, recall=0.9, **more)
    with pytest.raises(UsageError, match="recall"):
        store.match(batch, recall=2)


def test_the_command_says_what_was_planned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sosie.save_signatures("sigs", planted(3000, 64, 0.3, 3), sosie.Simhash(bits=64))
    first = done("batch", "store", "sigs", "-o", "one.parquet")
    assert first["plan"]["predicted"] == first["recall"] == 1 and "asked 1" in first["plan"]["said"]
    sosie.save_signatures("more", sosie.Signatures(planted(2000, 64, 0, 3, seed=5).words), sosie.Simhash(bits=64))
    again = done("batch", "store", "more", "-o", "two.parquet", "--recall", 0.9)
    assert again["plan"]["asked"] == 0.9 <= again["plan"]["predicted"] and again["recall"] >= 0.9
    given = done("batch", "store", "more", "-o", "three.parquet", "--probes", 3, "--no-append")
    assert given["plan"] is None and given["recall"] is None
    _, said = refused("batch", "store", "more", "-o", "four.parquet", "--probes", 3, "--recall", 0.9)
    assert "--recall" in said
