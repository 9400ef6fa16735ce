"""Facts of documents: counted by brute force where all are at hand, near the truth where a sample tells."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie import Deduplicator
from sosie.evaluation.planted import PlantedCorpus
from sosie.features.shingles import Shingles
from sosie.jobs.planning.alike import alike
from sosie.jobs.planning.feature_groups import FeatureGroups, band_groups, exact_work, prefix_groups
from sosie.jobs.planning.measure_documents import measure
from sosie.jobs.planning.of_documents import facts_of_documents
from sosie.kernels.sets.similarity import Sets
from sosie.matches.sets.join import join_sparse
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import JACCARD
from sosie.planner.machine import CONSTANTS, checked_constant
from sosie.signatures.minhash import Minhash
from sosie.types import offsets_of

SETS = st.lists(st.sets(st.integers(1, 30), min_size=0, max_size=8), min_size=1, max_size=12)


def as_sets(rows):
    hashes = [np.sort(np.array(sorted(row), np.uint64) * np.uint64(0x9E3779B97F4A7C15)) for row in rows]
    offsets = offsets_of([len(row) for row in rows])
    return Sets(np.concatenate([np.empty(0, np.uint64), *hashes]), offsets[:-1], offsets[1:])


@given(SETS)
def test_of_all_rows_the_similar_pairs_are_counted_without_bias(rows):
    """Rows with one least feature are compared: each such pair stands for 1 / J, and equal rows are all of them."""
    found = alike(as_sets(rows))
    first = [min(int(value * 0x9E3779B97F4A7C15 % 2**64) for value in row) if row else None for row in rows]
    expected = []
    for a, b in combinations(range(len(rows)), 2):
        if rows[a] and first[a] == first[b]:
            expected.append(len(rows[a] & rows[b]) / len(rows[a] | rows[b]))
    kept = sorted(each for each in expected if each >= 0.2)
    assert sorted(found.jaccard.tolist()) == pytest.approx(kept)
    assert sorted(found.weights.tolist()) == pytest.approx(sorted(1 / each for each in kept))
    there = [frozenset(row) for row in rows if row]
    assert found.copies == pytest.approx((len(there) - len(set(there))) / max(len(there), 1))


def test_drawn_by_their_least_feature_pairs_are_as_many_as_there_are():
    """Of some collections together: pairs come in crowds, which are drawn or not."""
    drawn, told, copies = 0, 0.0, []
    chances = []
    for seed in range(6):
        corpus = PlantedCorpus(5000, copies=0.3, seed=seed)
        sets = sets_of(Shingles().extract(corpus.texts(np.arange(5000))))[0]
        found, whole = alike(sets, drawn=1500), alike(sets)
        drawn, told = drawn + len(corpus.pairs("0.8")), told + found.pairs(0.8, equal=True)
        copies.append(found.copies / whole.copies)
        chances.append([each.spread().mean(lambda jaccard: 1 - (1 - jaccard**4) ** 6) for each in (found, whole)])
    assert told == pytest.approx(drawn, rel=0.15)
    assert np.mean(copies) == pytest.approx(1, abs=0.15)
    some, every = np.mean(chances, axis=0)
    assert some == pytest.approx(every, abs=0.03)


@given(SETS, st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(1)]))
def test_postings_are_those_that_the_join_sorts(rows, threshold):
    sets = as_sets(rows)
    groups = prefix_groups(sets, threshold)
    counters = join_sparse(sets, JACCARD, threshold, 1).pairs.counters
    assert groups.rows <= counters["postings"]  # those that only seem to be shared are no group
    assert groups.pairs >= counters["comparisons"]
    assert exact_work(groups, 1.0, 1e9).postings == groups.rows


@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=4))
def test_pairs_of_keys_are_counted(columns):
    keys = [np.array(column, np.uint64) for column in columns]
    expected = sum(a == b for column in columns for a, b in combinations(column, 2))
    assert band_groups(keys).pairs == expected


def test_the_bands_of_a_collection_are_counted_as_its_join_finds_them():
    features = Shingles().extract(PlantedCorpus(2000, copies=0.4).texts(np.arange(2000)))
    columns = list(Minhash().fit().keys(features).values.T)
    counted = band_groups(columns)
    expected = sum(
        int((sizes * (sizes - 1) // 2).sum()) for sizes in (np.unique(each, return_counts=True)[1] for each in columns)
    )
    assert counted.pairs == expected > 0 and counted.largest[0].size == counted.sizes.max()


def test_the_work_of_all_rows_from_a_sample_of_them():
    """A list of many rows is seen as a shorter one; one of two is hardly ever seen, and stands for many."""
    rng, rate = np.random.default_rng(0), 0.1
    sizes = np.concatenate([np.full(20_000, 2), np.full(40, 600)])
    seen = rng.binomial(sizes, rate)
    seen = seen[seen > 1]
    work = exact_work(FeatureGroups.of(seen, np.zeros(len(seen), np.int64)), rate, 1e9)
    assert work.postings == pytest.approx(sizes.sum(), rel=0.15)
    assert work.dense == pytest.approx(40 * 600**2, rel=0.1)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    corpus = PlantedCorpus(40_000, copies=0.3, seed=2)
    table = pa.concat_tables(list(corpus.tables()))
    file = tmp_path_factory.mktemp("facts") / "large.jsonl"
    with open(file, "w", encoding="utf-8") as out:
        out.writelines(f'{{"id": "{row["id"]}", "text": "{row["text"]}"}}\n' for row in table.to_pylist())
    return file, corpus


def test_a_sample_says_how_many_documents_features_and_pairs_there_are(large):
    file, corpus = large
    facts = facts_of_documents(file, budget=3 << 20)
    known = facts.corpus
    assert known.sampled < 12_000 and not known.is_counted and facts.counted
    assert known.documents == pytest.approx(40_000, rel=0.02)
    assert facts.features == pytest.approx(78, rel=0.02) and facts.text_bytes == pytest.approx(437, rel=0.02)
    assert known.listed == pytest.approx(len(corpus.pairs("0.8")), rel=0.35)
    assert 0.04 < known.copies < 0.2
    assert len(known.largest) == 10 and len(known.largest[0][1].split()) == 3
    assert known.to_dict()["largest"][0]["documents"] == known.largest[0][0]


@pytest.mark.parametrize(
    "asked",
    [
        {"similarity": "cosine"},
        {"similarity": "cosine", "weighting": "tf-idf"},
        {"similarity": "containment"},
        {"shingles": Shingles(5, "char")},
    ],
)
def test_facts_for_other_measures(asked):
    texts = PlantedCorpus(400, copies=0.5, seed=1).texts(np.arange(400)).to_pylist()
    facts = facts_of_documents([*texts, "", "..."], threshold=0.7, **asked)
    assert facts.corpus.documents == 402 and facts.corpus.pairs > 20
    assert facts.similarities.values.max() <= 1 and facts.similarities.seen_of(facts.similarities.values > 0) > 20


@pytest.mark.parametrize("texts", [[], [""], ["a rose"], ["...", "!"]])
def test_facts_of_next_to_nothing(texts):
    facts = facts_of_documents(pa.table({"text": pa.array(texts, pa.string())}))
    assert facts.corpus.documents == len(texts) and facts.corpus.pairs == 0 and facts.similarities is None


def test_what_is_measured_are_constants():
    found = measure(1)
    assert set(found) <= set(CONSTANTS) and {"read jsonl", "count", "minimum", "key", "dense"} <= set(found)
    assert all(checked_constant(name, value) for name, value in found.items())


def test_the_facts_of_a_run_are_those_of_its_sample(large):
    file, _ = large
    planned = Deduplicator().run(file).plan
    told = facts_of_documents(file)
    assert planned.facts.corpus.documents == 40_000 and planned.facts.features == pytest.approx(told.features, rel=0.02)
    assert planned.facts.corpus.listed == pytest.approx(told.corpus.listed, rel=0.3)
