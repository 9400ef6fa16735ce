"""Links against a truth: ranks, thresholds and bounds beside plain Python; tables that are not links."""

from __future__ import annotations

import json
import math
from statistics import mean

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import DataError, MismatchError, StorageError, UsageError
from sosie.evaluation.links import load_links, measure_links, recall_bounds
from sosie.evaluation.result import Numbering

LEFT, RIGHT = [f"d{i}" for i in range(6)], [f"e{i}" for i in range(6)]
SIMILARITY = st.one_of(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.floats(-1, 1))
LINKS = st.dictionaries(
    st.tuples(st.sampled_from(LEFT), st.sampled_from(RIGHT)), st.tuples(st.integers(1, 14), SIMILARITY), max_size=20
)
TRUTH = st.lists(st.tuples(st.sampled_from(LEFT), st.sampled_from(RIGHT)), min_size=1, max_size=12)


def links_table(links, kind=None):
    kind = kind or pa.large_string()
    return pa.table(
        {
            "a": pa.array([a for a, _ in links], kind),
            "b": pa.array([b for _, b in links], kind),
            "rank": pa.array([rank for rank, _ in links.values()], pa.int32()),
            "similarity": pa.array([similarity for _, similarity in links.values()], pa.float64()),
        }
    )


def truth_table(pairs, kind=None):
    kind = kind or pa.large_string()
    return pa.table({side: pa.array([pair[i] for pair in pairs], kind) for i, side in enumerate("ab")})


def chance(similarity, bits, radius):
    """The chance that at most `radius` of the bits of two vectors differ, term by term."""
    p = math.acos(similarity) / math.pi
    if p == 0:
        return 1.0
    logs = math.lgamma(bits + 1)
    return math.fsum(
        math.exp(logs - math.lgamma(k + 1) - math.lgamma(bits - k + 1) + k * math.log(p) + (bits - k) * math.log1p(-p))
        for k in range(radius + 1)
    )


@given(LINKS, TRUTH, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_measures_against_plain_python(links, truth, threshold):
    found = measure_links(links_table(links), truth_table(truth), threshold)
    asked, true = sorted({a for a, _ in truth}), set(truth)
    best = {
        a: min([rank for (x, b), (rank, _) in links.items() if x == a and (a, b) in true], default=None) for a in asked
    }
    reached = {pair for pair, (_, similarity) in links.items() if similarity >= threshold and pair[0] in asked}
    assert found.asked == len(asked)
    assert found.unlinked == sum(all(x != a for x, _ in links) for a in asked)
    assert found.precision_at_1 == sum(best[a] == 1 for a in asked) / len(asked)
    assert found.precision_at_10 == sum(best[a] is not None and best[a] <= 10 for a in asked) / len(asked)
    assert found.reciprocal == pytest.approx(mean(1 / best[a] if best[a] else 0 for a in asked))
    assert found.ranks == max([rank for rank, _ in links.values()], default=0)
    assert (found.pairs.true, found.pairs.found, found.pairs.right) == (len(true), len(reached), len(reached & true))
    assert found.repeated == len(truth) - len(true) and not found.checked
    assert (found.bounds[0].recall is None) == (not reached & true)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 1.0])
def test_bounds_are_means_of_binomial_sums(threshold):
    similarity = np.array([value for value in (0.05, 0.3, 0.31, 0.45, 0.7, 0.99, 1.0) if value >= threshold])
    for bound in recall_bounds(similarity, threshold):
        assert math.cos(math.pi * bound.radius / bound.bits) >= threshold - 1e-9
        assert math.cos(math.pi * (bound.radius + 1) / bound.bits) < threshold
        expected = mean(chance(value, bound.bits, bound.radius) for value in similarity)
        assert bound.recall == pytest.approx(expected, abs=1e-9)
    assert [bound.bits for bound in recall_bounds(similarity, threshold)] == [1000, 2000, 3000]


def test_a_cosine_beyond_one_by_rounding_is_one():
    links = links_table({("d0", "e0"): (1, 1 + 1e-9)})
    assert measure_links(links, truth_table([("d0", "e0")])).bounds[0].recall == 1


def test_a_pair_that_is_listed_twice_counts_once_at_its_better_rank():
    once = links_table({("d0", "e0"): (3, 0.4)})
    twice = pa.concat_tables([once, links_table({("d0", "e0"): (2, 0.2)})])
    found = measure_links(twice, truth_table([("d0", "e0")]))
    assert found.reciprocal == 0.5 and (found.pairs.found, found.pairs.right) == (0, 0)


def test_ten_ranks_are_ten():
    truth = truth_table([("d0", "e0"), ("d1", "e1")])
    found = measure_links(links_table({("d0", "e0"): (10, 0.4), ("d1", "e1"): (11, 0.4)}), truth)
    assert (found.among_ten, found.ranks) == (1, 11)


def test_any_of_several_true_links_counts():
    links = links_table({("d0", "e0"): (1, 0.4), ("d0", "e1"): (2, 0.4)})
    assert measure_links(links, truth_table([("d0", "e1"), ("d0", "e0")])).reciprocal == 1


def test_integers_and_texts_on_two_sides():
    links = links_table({("d0", "e0"): (1, 0.4)}).set_column(1, "b", pa.array([7], pa.int32()))
    truth = pa.table({"a": pa.array(["d0"]).dictionary_encode(), "b": [7]})
    assert measure_links(links, truth).first == 1
    with pytest.raises(MismatchError, match=r"the ids b of the truth are large_string, those of the links int64"):
        measure_links(links, truth_table([("d0", "e0")]))


@pytest.mark.parametrize(
    "empty",
    [
        links_table({}),
        links_table({}, pa.int64()),
        pa.table(
            dict.fromkeys("ab", pa.nulls(0))
            | {"rank": pa.array([], pa.int32()), "similarity": pa.array([], pa.float64())}
        ),
    ],
)
def test_no_links_at_all(empty):
    found = measure_links(empty, truth_table([("d0", "e0"), ("d1", "e1")]))
    assert (found.asked, found.unlinked, found.ranks, found.reciprocal, found.pairs.recall) == (2, 2, 0, 0, 0)
    assert [bound.recall for bound in found.bounds] == [None] * 3


ONE = links_table({("d0", "e0"): (1, 0.4)})


def with_column(name, values):
    return ONE.set_column(ONE.column_names.index(name), name, values)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (with_column("similarity", pa.array([float("nan")])), r"row 0 has the similarity nan \(1 such rows in all\)"),
        (with_column("similarity", pa.array([1.5])), "it is a cosine"),
        (with_column("similarity", pa.array([float("inf")])), "similarity inf"),
        (with_column("similarity", pa.array([None], pa.float64())), "row 0 lacks 'similarity'"),
        (with_column("similarity", pa.array(["much"])), "similarities are numbers, not string"),
        (with_column("rank", pa.array([0])), "row 0 has the rank 0"),
        (with_column("rank", pa.array([1.0])), "ranks are integers, not double"),
        (with_column("a", pa.array([None], pa.string())), "row 0 lacks 'a'"),
        (with_column("a", pa.array([1.0])), "ids are integers or text, not double"),
        (ONE.drop_columns(["rank"]), "no column 'rank', only a, b, similarity"),
    ],
)
def test_tables_that_are_no_links(table, said):
    with pytest.raises(DataError, match=said):
        measure_links(table, truth_table([("d0", "e0")]))


def test_what_cannot_be_measured():
    with pytest.raises(DataError, match="the truth holds no pairs"):
        measure_links(ONE, truth_table([]))
    for threshold in (float("nan"), -0.1, 1.1):
        with pytest.raises(UsageError, match="a threshold is a cosine from 0 to 1"):
            measure_links(ONE, truth_table([("d0", "e0")]), threshold)


def test_ids_that_no_document_has():
    sides = tuple(
        Numbering(pa.array(names, pa.large_string()), place) for names, place in ((LEFT, "de"), (RIGHT, "en"))
    )
    assert measure_links(ONE, truth_table([("d5", "e0")]), documents=sides).checked
    unknown = truth_table([("d0", f"x{i}") for i in range(7)])
    with pytest.raises(MismatchError, match=r"the truth: ids that are not in en: 'x0', .*, \.\.\. \(7 in all\)"):
        measure_links(ONE, unknown, documents=sides)


def written(folder, report, table=ONE):
    if table is not None:
        pq.write_table(table, folder / "links.parquet")
    (folder / "report.json").write_text(json.dumps(report), "utf-8")
    return folder


def test_links_as_they_are_written(tmp_path):
    for parameters, threshold in (({"threshold": 0.4}, 0.4), ({"threshold": None}, None), ({}, None)):
        opened = load_links(written(tmp_path, {"format": "sosie-link", "parameters": parameters}))
        assert opened.threshold == threshold and opened.links.equals(ONE)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({"format": "sosie-join"}, "is no report of `sosie link`"),
        ([], "is no report of `sosie link`"),
        ({"format": "sosie-link", "parameters": []}, "is damaged: 'parameters'"),
        ({"format": "sosie-link", "parameters": {"threshold": "0.3"}}, "is damaged: 'threshold'"),
        ({"format": "sosie-link", "parameters": {"threshold": True}}, "is damaged: 'threshold'"),
        ({"format": "sosie-link", "parameters": {"threshold": float("nan")}}, "is damaged: 'threshold'"),
    ],
)
def test_reports_of_something_else(tmp_path, report, said):
    with pytest.raises(StorageError, match=said):
        load_links(written(tmp_path, report))


def test_directories_of_something_else(tmp_path):
    with pytest.raises(UsageError, match=r"no such directory\. Name one that `sosie link` wrote"):
        load_links(tmp_path / "missing")
    with pytest.raises(StorageError, match=r"has no report\.json: `sosie link` did not write it"):
        load_links(tmp_path)
    with pytest.raises(StorageError, match=r"links\.parquet: is missing"):
        load_links(written(tmp_path, {"format": "sosie-link"}, None))
    with pytest.raises(StorageError, match=r"links\.parquet: has the columns"):
        load_links(written(tmp_path, {"format": "sosie-link"}, ONE.drop_columns(["rank"])))
