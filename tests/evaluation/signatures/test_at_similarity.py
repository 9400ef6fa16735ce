"""Recall and precision at similarity, against all pairs compared one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from sosie import Features, Keys, Minhash, MismatchError, Shingles, UsageError
from sosie.evaluation.signatures import at_similarity as module
from sosie.evaluation.signatures.at_similarity import at_similarity

WORDS = [f"w{n}" for n in range(40)]


def texts_of(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(3, 12))) for _ in range(count)]
    return [*texts, *texts[: count // 3], "", "...", *(f"{text} w1" for text in texts[: count // 4])]


def cosine(a: Counter, b: Counter) -> float:
    dot = sum(a[word] * b[word] for word in a)
    return dot / math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))


@pytest.mark.parametrize("block", [1, 100, 1 << 23])
def test_counts_are_those_of_all_pairs(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    texts = texts_of(1, 60)
    features = Shingles(1).extract(texts, counts=True)
    keys = Minhash(minima=12, rows=2).fit().keys(features)
    found = at_similarity(keys, features, features.counts, [0.2, 0.6, 0.9, 1.0], sample=10**6)
    vectors = [Counter(text.split()) for text in texts if "w" in text]
    pairs = [(i, j) for i in range(len(vectors)) for j in range(len(vectors)) if i != j]
    shared = {(i, j) for i, j in pairs if (keys.values[i] == keys.values[j]).any()}
    for place, level in enumerate(found.thresholds):
        similar = {(i, j) for i, j in pairs if cosine(vectors[i], vectors[j]) >= level - 1e-9}
        assert found.similar[place] == len(similar) > 0
        assert found.recall[place] == pytest.approx(len(similar & shared) / len(similar))
        assert found.precision[place] == pytest.approx(len(similar & shared) / len(shared))
    assert found.documents == found.queries == len(vectors)
    assert found.result_size == pytest.approx(len(shared) / len(vectors))
    assert found.reduction == pytest.approx(len(vectors) ** 2 / len(shared))


def test_a_sample_is_drawn_by_the_seed():
    features = Shingles(1).extract(texts_of(2, 90), counts=True)
    keys = Minhash(minima=12, rows=2).fit().keys(features)
    first, again, other = (at_similarity(keys, features, features.counts, sample=20, seed=s) for s in (1, 1, 2))
    assert first.queries == 20 and first.documents == 142
    assert first.similar.tolist() == again.similar.tolist() != other.similar.tolist()


def test_nothing_similar_and_nothing_found():
    features = Features(np.arange(4, dtype=np.uint64), np.arange(5))
    keys = Keys(np.arange(8, dtype=np.uint64).reshape(4, 2))
    found = at_similarity(keys, features, np.ones(4), [0.5])
    assert np.isnan(found.recall).all() and np.isnan(found.precision).all()
    assert found.result_size == 0 and found.reduction == math.inf


def test_keys_of_other_documents_are_refused():
    features = Shingles(1).extract(["a b", "", "c"], counts=True)
    keys = Minhash().fit().keys(["a b", "c", "d"])
    with pytest.raises(MismatchError, match="3 documents, but 2"):
        at_similarity(keys, features, features.counts)
    with pytest.raises(UsageError, match="cannot draw 0 of 2"):
        at_similarity(Minhash().fit().keys(features), features, features.counts, sample=0)
    nothing = Shingles(1).extract([""], counts=True)
    with pytest.raises(UsageError, match="cannot draw"):
        at_similarity(Minhash().fit().keys(nothing), nothing, nothing.counts)
