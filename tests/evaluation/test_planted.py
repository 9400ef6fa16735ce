"""The generated corpus and its known truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests import oracle

from sosie.errors import UsageError
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.truth import agreement
from sosie.types import Pairs


def texts_of(corpus, size=1 << 15):
    return [row for table in corpus.tables(size) for row in table.to_pylist()]


def shingle_sets(corpus):
    words = [row["text"].lower().split(" ") for row in texts_of(corpus)]
    return [set(zip(text, text[1:], text[2:], strict=False)) for text in words]


@pytest.mark.parametrize("seed", [0, 1, 2**24 - 1])
@pytest.mark.parametrize("threshold", ["1", "4/5", "1/2"])
def test_the_known_pairs_are_those_of_its_texts(seed, threshold):
    corpus = PlantedCorpus(documents=250, copies=0.6, seed=seed)
    pairs = corpus.pairs(threshold)
    found = list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    assert found == oracle.similar_pairs(shingle_sets(corpus), Fraction(threshold))
    assert len(found) > 20


def test_the_corpus_is_the_same_in_any_chunks():
    corpus = PlantedCorpus(documents=120, seed=3)
    whole = texts_of(corpus)
    assert [row["id"] for row in whole] == [f"d{i}" for i in range(120)]
    for size in (1, 7, 119, 120, 1000):
        assert texts_of(PlantedCorpus(documents=120, seed=3), size) == whole
    picked = corpus.texts(np.array([117, 3, 3]))
    assert picked.to_pylist() == [whole[row]["text"] for row in (117, 3, 3)]
    assert texts_of(PlantedCorpus(documents=120, seed=4)) != whole
    assert texts_of(PlantedCorpus(documents=60, seed=3)) == whole[:60]


def test_it_has_what_is_hard():
    """Exact copies, copies in capitals, copies on both sides of the threshold, and documents of their own."""
    corpus = PlantedCorpus(documents=1500, copies=0.4, seed=9)
    rows = texts_of(corpus)
    assert any(row["text"].isupper() for row in rows) and len({row["text"] for row in rows}) < 1500
    all_pairs, near, same = (len(corpus.pairs(threshold)) for threshold in ("0.3", "0.8", "1"))
    assert all_pairs > near > same > 0


def test_no_copies_and_no_documents():
    assert len(PlantedCorpus(documents=300, copies=0).pairs(0.5)) == 0
    empty = PlantedCorpus(documents=0)
    assert texts_of(empty) == [] and len(empty.pairs(0.8)) == 0
    assert PlantedCorpus(documents=2, copies=1).texts(np.arange(2)).type in (pa.string(), pa.large_string())


@pytest.mark.parametrize("wrong", [{"documents": -1}, {"copies": 1.1}, {"copies": -0.1}, {"seed": -1}, {"seed": 2**24}])
def test_what_cannot_be_generated(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        PlantedCorpus(**{"documents": 10, **wrong})


def pairs_of(*pairs):
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return Pairs(both[:, 0], both[:, 1])


def test_agreement():
    score = agreement(pairs_of((0, 1), (2, 3), (5, 9)), pairs_of((0, 1), (3, 2), (4, 5), (6, 7)))
    assert (score.true, score.found, score.right) == (4, 3, 2)
    assert score.recall == 0.5 and score.precision == pytest.approx(2 / 3)
    nothing = agreement(pairs_of(), pairs_of())
    assert nothing.recall == nothing.precision == 1
    assert agreement(pairs_of(), pairs_of((1, 2))).recall == 0
    assert agreement(pairs_of((1, 2)), pairs_of()).precision == 0
