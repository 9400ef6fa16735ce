"""Advice on thresholds says what de-duplications then do, and something clear where there is nothing to say."""

import json
from fractions import Fraction

import numpy as np
import pytest

import sosie
from sosie.errors import UsageError
from sosie.jobs.planning import threshold as planning
from sosie.jobs.planning.threshold import THRESHOLDS, advise, plan_threshold

WORDS = [
    f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "pu", "ra", "so", "ti") for b in ("", "na", "le", "sto", "ri", "gu")
]


def corpus(seed=0, originals=80, edited=120):
    """Texts, copies of some of them with words replaced, and some that are the same or have no words."""
    random = np.random.default_rng(seed)
    texts = [list(random.choice(WORDS, random.integers(8, 60))) for _ in range(originals)]
    for _ in range(edited):
        copy = list(texts[random.integers(len(texts))])
        for _ in range(int(random.integers(0, 6))):
            copy[random.integers(len(copy))] = random.choice(WORDS)
        texts.append(copy)
    said = [" ".join(text) for text in texts] + ["", "!!!", "!!!", "..."]
    return [said[place] for place in random.permutation(len(said))]


@pytest.mark.parametrize("measure", ["jaccard", "cosine", "containment"])
def test_what_is_said_to_go_is_what_goes(measure):
    texts = corpus()
    advice = plan_threshold(texts, similarity=measure)
    assert [each.threshold for each in advice.going] == [each.threshold for each in advice.near]
    assert advice.documents == len(texts) == advice.sampled and advice.wordless == 4 and len(advice.going) == 6
    dropped = [len(sosie.dedup(texts, each.threshold, similarity=measure).dropped) for each in advice.going]
    assert [each.documents for each in advice.going] == dropped and dropped[0] > dropped[-1] > 0
    assert all(each.exact and each.share == each.documents / len(texts) for each in advice.going)


@pytest.mark.parametrize("shingles", [sosie.Shingles(width=1), sosie.Shingles(width=5, unit="char")])
def test_other_shingles(shingles):
    texts = corpus(1)
    for each in plan_threshold(texts, shingles=shingles).going:
        assert each.documents == len(sosie.dedup(texts, each.threshold, shingles=shingles).dropped)


def test_what_is_estimated_holds_what_goes(monkeypatch):
    monkeypatch.setattr(planning, "JOINED", 0)
    texts = corpus(2, originals=400, edited=800)
    for sample in (len(texts), 300):
        advice = plan_threshold(texts, sample=sample)
        assert advice.sampled == sample
        for each in advice.going:
            share = len(sosie.dedup(texts, each.threshold).dropped) / len(texts)
            low, high = each.interval
            assert not each.exact and low - 1e-9 <= share <= high + 1e-9
            assert high - low < 0.2 and low <= each.share <= high


def test_a_crowded_collection_is_estimated():
    """All of a template are alike: their pairs are not all listed, so nobody is counted by them."""
    template = " ".join(WORDS)
    texts = [f"{template} {number}" for number in range(2200)] + corpus(3)
    advice = plan_threshold(texts)
    going = {each.threshold: each for each in advice.going}
    assert not going[0.8].exact
    share = len(sosie.dedup(texts, 0.8).dropped) / len(texts)
    assert going[0.8].interval[0] <= share <= going[0.8].interval[1]


def test_a_valley_is_where_the_threshold_is():
    random = np.random.default_rng(4)
    originals = [" ".join(random.choice(WORDS, 80)) for _ in range(300)]
    copies = [text + " and one more" for text in originals[:100]]
    advice = plan_threshold([*originals, *copies])
    assert advice.valley is not None and 0.5 <= advice.threshold <= 0.9 and advice.related is None
    chosen = [each for each in advice.going if each.threshold == advice.threshold]
    assert len(advice.going) == 6 and len(chosen) == 1 and chosen[0].documents == 100
    assert "There is a valley" in " ".join(advice.said()) and f"--threshold {advice.threshold:g}" in advice.command()


def test_where_there_is_none_the_usual_threshold_is_left():
    advice = plan_threshold(corpus()[:60])
    assert advice.valley is None and advice.threshold == 0.8
    assert [each.threshold for each in advice.going] == [float(each) for each in THRESHOLDS]
    assert "no valley" in " ".join(advice.said())


def test_the_pairs_are_those_nearest_to_each_threshold():
    texts = corpus(5)
    advice = plan_threshold(texts)
    joined = sosie.join(texts, threshold=0.3, max_pairs=10**6).table.to_pylist()
    similarities = sorted(each["similarity"] for each in joined)
    for near in advice.near:
        above = [each for each in similarities if each >= near.threshold]
        below = [each for each in similarities if each < near.threshold]
        assert near.above[0].similarity == above[0] and near.below[0].similarity == below[-1]
        for pair in (*near.above, *near.below):
            assert Fraction(pair.shared, pair.total) == Fraction(pair.similarity).limit_denominator(10**4)
            assert advice.texts[pair.a] == texts[pair.a] and advice.texts[pair.b] == texts[pair.b]


def test_the_same_whatever_the_threads_and_the_seed_decides_the_sample():
    texts = corpus(6)
    first, second = (plan_threshold(texts, sample=50, threads=threads).to_dict() for threads in (1, 2))
    del first["stages"], second["stages"]
    assert first == second and json.loads(json.dumps(first)) == first
    others = {plan_threshold(texts, sample=50, seed=seed).nearest for seed in range(4)}
    assert len(others) > 1


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "There are no documents"),
        (["one fox"], "There is one document"),
        (["", "?", "?"], "No document has words"),
        (["a rose is a rose"] * 5, "each has one with a similarity of 1"),
        (["a rose is a rose", "the fox jumps over"], "none has a similar one"),
        (["a b c d e f", "a b c d e f", "u v w x y z"], "so few documents could hardly show one"),
    ],
)
def test_little_to_say_is_said_clearly(texts, said):
    advice = plan_threshold(sosie.Source.from_texts(texts))
    assert said in " ".join(advice.said()) and said in repr(advice) and advice.threshold == 0.8
    dropped = len(sosie.dedup(sosie.Source.from_texts(texts)).dropped)
    assert [each.documents for each in advice.going] == [dropped] * 6


def test_bad_records_are_counted(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a rose is a rose"}\n{"text": 3}\n{"text": "a rose is a rose"}\n')
    advice = advise(sosie.Source(tmp_path / "in.jsonl", on_error="skip"))
    assert (advice.documents, advice.rejected, advice.going[0].documents) == (2, 1, 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        plan_threshold(["a", "b"], sample=0)
    with pytest.raises(UsageError, match="too little"):
        plan_threshold(["a", "b"], memory="1MB")
    with pytest.raises(UsageError, match="similarity"):
        plan_threshold(["a", "b"], similarity="dice")
