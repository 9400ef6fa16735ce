"""The kind that is chosen where none is named: exact, within memory, and the one that is expected to be the fastest."""

import json

import numpy as np
import pytest
from tests.oracle_hamming import listed, near, nearest

from sosie.errors import UsageError
from sosie.index import auto
from sosie.index.auto import Asking, choose_index, facts_of_rows, nearest_facts, sharing
from sosie.index.flat import FlatIndex
from sosie.index.registry import check_kind, kind_of
from sosie.planner.machine import PROGRAM, Machine
from sosie.search.entries import Entries
from sosie.search.text_index import TextIndex
from sosie.types import Signatures

USUAL = Machine()


def random_rows(count, bits=64, seed=0):
    words = np.random.default_rng(seed).integers(0, 2**64, (count, bits // 64), dtype=np.uint64)
    return Signatures(words, bits)


def families(count, bits=64, size=20, flips=2):
    """Return rows in families that differ in a few bits: the nearest of each are near."""
    rng = np.random.default_rng(1)
    words = np.repeat(rng.integers(0, 2**64, (count // size, bits // 64), dtype=np.uint64), size, axis=0)
    for _ in range(flips):
        at = rng.integers(0, bits, len(words))
        words[np.arange(len(words)), at // 64] ^= np.uint64(1) << (at % 64).astype(np.uint64)
    return Signatures(words, bits)


@pytest.mark.parametrize(
    ("rows", "asking", "kind"),
    [
        (random_rows(3000), Asking(), "flat"),
        (random_rows(100), Asking(radius=3), "blocks"),  # no tables yet: it has them as soon as they pay
        (random_rows(50_000, 256), Asking(), "flat"),
        (random_rows(200_000), Asking(radius=3), "blocks"),
        (random_rows(50_000, 256), Asking(radius=100), "flat"),
        (families(400_000), Asking(), "blocks"),
        (families(400_000, flips=6), Asking(), "multi"),
        (families(400_000, flips=6), Asking(queries="batch"), "multi"),
    ],
)
def test_it_is_the_fastest_for_what_is_asked(rows, asking, kind):
    chosen = choose_index(rows, asking, USUAL)
    assert chosen.kind == kind and kind in str(chosen)
    assert set(chosen.plans) == ({"single", "batch"} if asking.queries is None else {asking.queries})
    for coming, plan in chosen.plans.items():
        best = min(chosen.candidates[coming].estimate.seconds, plan.chosen.estimate.seconds)
        assert chosen.candidates[coming].estimate.seconds < 1.5 * best
        assert all(each.exact for each in plan.candidates)
    index = chosen.index(rows)
    assert kind_of(index) == kind and len(index) == len(rows)
    said = json.loads(json.dumps(chosen.to_dict()))
    assert said["kind"] == kind and said["recall"] == 1 and said["bytes"]["disk"] > 0


def test_it_answers_as_any_index_does():
    rows, queries = families(2000), random_rows(5, seed=3)
    both = Signatures(np.concatenate([queries.words, rows.words[:5]]))
    for asking in (Asking(k=3), Asking(radius=2)):
        index = choose_index(rows, asking, USUAL).index(rows)
        assert listed(index.search(both, 3)) == nearest(both, rows, 3)
        assert listed(index.within(both, 2)) == near(both, rows, 2)


def test_what_does_not_fit_is_not_chosen(monkeypatch):
    rows = random_rows(200_000)
    assert choose_index(rows, Asking(radius=3), USUAL).kind == "blocks"
    monkeypatch.setattr(auto, "physical_memory", lambda: PROGRAM + 8 * 200_000 + 5_000_000)
    assert choose_index(rows, Asking(radius=3), USUAL).kind == "flat"
    monkeypatch.setattr(auto, "physical_memory", lambda: PROGRAM)
    assert choose_index(rows, Asking(radius=3), USUAL).candidates == {}


def test_of_no_rows_and_of_one():
    for count in (0, 1, 2):
        chosen = choose_index(random_rows(count), None, USUAL)
        assert chosen.kind == "flat" and len(chosen.index(random_rows(count))) == count
        assert json.dumps(chosen.to_dict())


def test_a_way_that_queries_do_not_come_in_is_refused():
    with pytest.raises(UsageError, match="single or in a batch, got 'often'"):
        Asking(queries="often")


def test_facts_are_those_of_exact_search():
    rows = families(4000, size=20)
    facts = facts_of_rows(FlatIndex(rows), rows, Asking(k=5))
    assert facts.counted and facts.nearest.mean(lambda d: d) <= 5 and facts.distances.total > 0
    found = nearest_facts(FlatIndex(rows).search(rows.take(np.arange(30)), 20), 5)
    apart = np.bitwise_count(rows.words[:30, None, 0] ^ rows.words[None, :, 0])
    ordered = np.sort(apart, axis=1)
    assert found.nearest.mean(lambda d: d) == ordered[:, 4].mean()
    assert found.distances.mean(lambda d: d) == ordered[:, :5].mean()
    assert found.tied == pytest.approx(np.mean(np.minimum(np.sum(apart <= ordered[:, 4:5], axis=1), 20)) / 5 - 1)
    within = facts_of_rows(FlatIndex(rows), rows, Asking(radius=4))
    assert 15 < within.matches < 20 and within.distances.values.max() <= 4


def test_sharing_is_told_by_the_bits_that_tables_are_made_of():
    words = random_rows(20_000).words
    assert dict(sharing(words, 64))[12] == pytest.approx(1, abs=0.05)
    skewed = words & random_rows(20_000, seed=5).words  # three of four bits are 0
    assert dict(sharing(skewed, 64))[12] == pytest.approx((0.75**2 + 0.25**2) ** 12 * 2**12, rel=0.2)


def test_an_index_of_texts_says_what_was_chosen():
    entries = Entries(families(2000))
    index = TextIndex.build(entries, None)
    assert index.chosen is not None and kind_of(index.index) == index.chosen.kind
    assert kind_of(TextIndex.build(entries, None, "auto", {"radius": 3}).index) == "blocks"
    assert TextIndex.build(entries, None, "flat").chosen is None
    assert kind_of(TextIndex.of(["a b c d", "e f g h"], task="duplicates").index) == "flat"
    assert kind_of(TextIndex.of(["a b c d", "e f g h"], task="duplicates", kind="multi").index) == "multi"
    with pytest.raises(UsageError, match="--tables is for an index of the kind multi: name it, as in --kind multi"):
        TextIndex.build(entries, None, "auto", {"tables": 4})
    check_kind("auto", holds="keys", options={})
