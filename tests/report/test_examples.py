"""Examples: the largest, the least similar and a sample, the same for the same result."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sosie
from sosie.evaluation.planted import PlantedCorpus
from sosie.report.examples import CLUSTERS, LOWEST, MEMBERS, SAMPLE, Example, _least, choose_examples


def planted(**options):
    return sosie.dedup(pa.concat_tables(PlantedCorpus(2_000, copies=0.5, seed=3).tables()), **options)


def test_what_is_shown_of_a_corpus():
    result = planted()
    examples = choose_examples(result)
    sizes = np.sort(np.bincount(result.grouped.anchor))[::-1]
    assert [cluster.size for cluster in examples.clusters] == sizes[:CLUSTERS].tolist()
    for cluster in examples.clusters:
        inside = result.grouped.anchor == cluster.anchor
        inside[cluster.anchor] = False
        lowest = np.sort(result.grouped.similarity[inside])[:MEMBERS]
        assert [member.similarity for member in cluster.members] == lowest.tolist()
        assert {member.a for member in cluster.members} == {cluster.anchor}
    assert [pair.similarity for pair in examples.lowest] == np.sort(result.found.similarity)[:LOWEST].tolist()
    assert all(pair.shared / pair.total == pair.similarity for pair in examples.lowest)
    rows = [pair.b for pair in examples.sample]
    assert len(set(rows)) == SAMPLE and not result.mask[rows].any()
    assert all(result.grouped.anchor[pair.b] == pair.a and result.mask[pair.a] for pair in examples.sample)
    assert rows[0] < 1_000 < rows[-1]


def test_the_same_result_gives_the_same_examples():
    assert choose_examples(planted()) == choose_examples(planted(threads=1))


def test_few_documents():
    texts = ["one two three four", "nothing like it at all", "One two three four!"]
    examples = choose_examples(sosie.dedup(pa.table({"text": texts})))
    assert examples.sample == [Example(0, 2, 1.0)]
    assert examples.lowest == [Example(0, 2, 1.0, 2, 2)]
    assert [(cluster.anchor, cluster.size) for cluster in examples.clusters] == [(0, 2)]
    assert examples.rows.tolist() == [0, 2]


def test_none():
    for texts in ([], ["one"], ["one two", "three four"]):
        examples = choose_examples(sosie.dedup(pa.table({"text": pa.array(texts, pa.string())})))
        assert not examples.clusters and not examples.sample and not examples.lowest and not len(examples.rows)


@given(st.lists(st.sampled_from([0.1, 0.25, 0.5, 1.0])), st.integers(1, 5))
def test_the_least_come_first_and_of_equal_ones_the_first(values, count):
    expected = sorted(range(len(values)), key=lambda row: (values[row], row))[:count]
    assert _least(np.array(values, np.float64), count).tolist() == expected
