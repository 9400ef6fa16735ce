"""The index of words beside the definition of its similarity: every row compared, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import MismatchError, UsageError
from sosie.features.phrases import Phrases
from sosie.features.shingles import Shingles
from sosie.index import words
from sosie.index.files import load_index
from sosie.index.words import WordIndex
from sosie.kernels.sets import best
from sosie.types import Bags, Features, Signatures


def bags(rows, ids=None, **made):
    """Return rows of features: sets of numbers, mixed so that they are spread like hashes."""
    mixed = [sorted((value * 0x9E3779B97F4A7C15 + 1) % 2**64 for value in row) for row in rows]
    flat = np.array([value for row in mixed for value in row], np.uint64)
    return Bags(Features(flat, np.cumsum([0, *map(len, mixed)])), ids, **made)


def expected(query, rows, live, k):
    """The definition: the weight of what is shared, by that of the query; longer rows count a little less."""
    holding = Counter(value for row in rows for value in row)
    weights = {value: round(65536 * math.log(1 + len(rows) / max(1, holding[value]))) for value in query}
    found = []
    for row in live:
        share = sum(weights[value] for value in query & rows[row]) / sum(weights.values())
        found.append((-share / (1 + 0.05 * math.log(max(len(rows[row]) / len(query), 1))), row))
    return sorted(each for each in found if each[0] < 0)[:k]


def check(index, queries, rows, live, k):
    found = index.search(bags(queries), k)
    assert found.recall == 1 and len(found) == len(queries)
    for number, query in enumerate(queries):
        span = slice(found.offsets[number], found.offsets[number + 1])
        truth = expected(query, rows, live, k)
        assert np.allclose(found.similarities[span], [-each for each, _ in truth], rtol=1e-12, atol=0)
        # Equal in the definition may differ in the last place of a float, and then the order of these is open.
        exact = {row: round(-each, 9) for each, row in expected(query, rows, live, len(rows))}
        said = found.rows[span].tolist()
        assert [exact[row] for row in said] == [round(-each, 9) for each, _ in truth]
        assert found.distances[span].tolist() == [len(query - rows[row]) for row in said]


ROWS = st.lists(st.frozensets(st.integers(0, 30), min_size=1, max_size=12), min_size=1, max_size=60)


@settings(deadline=None, max_examples=80)
@given(rows=ROWS, queries=ROWS, k=st.integers(1, 12), cuts=st.lists(st.integers(0, 60), max_size=3), data=st.data())
def test_the_best_are_those_of_comparing_everything(rows, queries, k, cuts, data):
    edges = sorted({0, *(cut for cut in cuts if cut < len(rows)), len(rows)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "SHORT", 2)
        index = WordIndex(bags(rows[: edges[1]]))
        for start, stop in pairwise(edges[1:]):
            index.add(bags(rows[start:stop]))
    gone = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    index.remove(sorted(gone))
    check(index, queries[:5], rows, [row for row in range(len(rows)) if row not in gone], k)
    assert len(index.bags) == len(rows) - len(gone)


def test_frequent_features_are_read_only_where_they_matter():
    """Of many rows: by all of the ways in which lists are added up, and with far less than all postings."""
    rng = np.random.default_rng(0)
    rows = [frozenset(np.minimum(rng.zipf(1.3, 25), 5000).tolist()) for _ in range(4000)]
    index = WordIndex(bags(rows))
    every, queries = range(len(rows)), [rows[5], frozenset([1, 2, 3]), frozenset([1, 700, 701]), rows[17] | rows[18]]
    check(index, queries, rows, every, 10)
    counters = index.search(bags([rows[5]]), 3).counters
    postings = sum(sum(value in row for row in rows) for value in rows[5])
    assert counters["postings"] + counters["lookups"] < postings * 2 / 3


def test_threads_and_files_change_nothing(tmp_path):
    rng = np.random.default_rng(1)
    rows = [frozenset(rng.integers(0, 90, 9).tolist()) for _ in range(700)]
    index = WordIndex(bags(rows[:300], ids=[f"d{row}" for row in range(300)]))
    index.add(bags(rows[300:], ids=[f"d{row}" for row in range(300, 700)]))
    index.save(tmp_path / "a")
    asked = bags(rows[::50])
    alone = index.search(asked, 7, threads=1)
    for one, threads in ((index, 3), (load_index(tmp_path / "a"), 1), (load_index(tmp_path / "a"), 2)):
        found = one.search(asked, 7, threads=threads)
        assert np.array_equal(found.similarities, alone.similarities) and found.ids.equals(alone.ids)
        assert found.counters == alone.counters


def test_a_query_can_leave_itself_out_and_ties_go_to_the_lower_row():
    index = WordIndex(bags([{1, 2}, {1, 2}, {2, 3}, {1, 2}], ids=list("abcd")))
    assert index.search(bags([{1, 2}], ids=["b"]), 2, exclude_self=True).ids.to_pylist() == ["a", "d"]
    assert index.search(bags([{1, 2}]), 9).ids.to_pylist() == ["a", "b", "d", "c"]
    assert index.search(bags([{7}, set()]), 9).offsets.tolist() == [0, 0, 0]


def test_what_does_not_fit_is_refused(monkeypatch):
    index = WordIndex(bags([{1, 2}], digest="a"))
    with pytest.raises(UsageError, match="k must be at least 1"):
        index.search(bags([{1}]), 0)
    with pytest.raises(MismatchError, match="spec b"):
        index.search(bags([{1}], digest="b"), 1)
    with pytest.raises(UsageError, match="holds bags of features, not signatures"):
        index.search(Signatures(np.zeros(1, np.uint64)), 1)
    monkeypatch.setattr("sosie.index.base.physical_memory", lambda: 100)
    with pytest.raises(UsageError, match=r"3 rows with 6 features.*memory"):
        index.add(bags([{1, 2}, {3, 4}]))
    assert len(index) == 1


def test_queries_of_thousands_of_features():
    rows = [frozenset(range(start, start + 3000)) for start in (0, 1000, 2500)]
    found = WordIndex(bags(rows)).search(bags([frozenset(range(3000))]), 3)
    assert found.rows.tolist() == [0, 1, 2] and found.similarities[0] == 1


def test_the_factor_of_a_length():
    assert best.length_factor(3, 5) == best.length_factor(5, 5) == 1
    assert math.isclose(best.length_factor(10, 5), 1 / (1 + 0.05 * math.log(2)))


@pytest.mark.parametrize(
    ("documents", "query", "wanted"),
    [
        (["我们喜欢自然语言处理", "今天天气很好", "他们喜欢吃苹果"], "自然语言", 0),
        (["สวัสดีชาวโลกทุกคน", "ภาษาไทยเขียนไม่เว้นวรรค", "อาหารอร่อยมาก"], "เขียนไม่เว้น", 1),
        (["القطط تجلس على السجادة", "الكلاب تركض في الحديقة", "الطقس جميل اليوم"], "في الحديقة", 1),
        (["東京タワーへ行く", "京都の寺を見る", "大阪で食べる"], "京都の寺", 1),
        (["Ein Haus am See", "Häuser in der Stadt", "STRASSEN und Plätze"], "straßen", 2),
    ],
)
def test_every_script_is_searched(documents, query, wanted):
    phrases = Phrases()
    found = WordIndex(phrases.bags(documents)).search(phrases.bags([query]), 3)
    assert found.rows[0] == wanted and found.similarities[0] > 0.5


def test_phrases_are_the_words_and_their_runs():
    texts = ["to be or not to be", "word", "", "one two"]
    made = Phrases(Shingles(width=3)).extract(texts)
    for row, text in enumerate(texts):
        single = [Shingles(width=width).extract([text]).hashes.tolist() for width in (1, 2, 3)]
        assert made.rows(row, row + 1).hashes.tolist() == sorted(set(sum(single, [])))  # noqa: RUF017
    named = Phrases().bags(texts, ids=list("abcd"))
    assert named.ids.to_pylist() == ["a", "b", "d"] and named.unsigned.tolist() == [2]
    assert Phrases(Shingles(width=3, unit="char")).extract(["abcd"]).sizes.tolist() == [2]
