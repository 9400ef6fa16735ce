"""The same documents by one machine and by Spark: the same kept ids, pairs and clusters."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from tests.spark.corpus import corpus, sorted_table

import sosie
from sosie.spark import work

TAGS = ["id", "kept", "cluster", "duplicate_of", "similarity"]
DOCUMENTS = corpus(300)


@contextmanager
def settings(spark, partitions, adaptive):
    """Set how many partitions there are after a shuffle; no table is sent to all executors."""
    wanted = {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": str(adaptive).lower(),
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
    before = {name: spark.conf.get(name) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def shuffled(spark, documents, partitions):
    """Return documents in no order, in so many partitions."""
    order = np.random.default_rng(1).permutation(len(documents))
    return spark.createDataFrame(documents.take(order)).repartition(partitions)


def agree(spark, documents, *, frame=None, reading=None, **parameters):
    """Check that Spark finds what one machine does; return both results."""
    one = sosie.dedup(documents, **(reading or {}), **parameters)
    frame = spark.createDataFrame(documents).repartition(2) if frame is None else frame
    with sosie.spark.dedup(frame, **(reading or {}), **parameters) as found:
        tags = TAGS if reading is None else [reading.get("id_column", "id"), *TAGS[1:]]
        assert sorted_table(found.documents.select(*tags)) == sorted_table(one.to_arrow().rename_columns(tags))
        assert sorted_table(found.pairs) == sorted_table(one.pairs)
        assert sorted_table(found.clusters) == sorted_table(one.clusters)
        assert found.report.counts == one.report.counts
        left_out = {"engine", "plan", "stages", "seconds", "threads", "counters", "inputs", "measured"}
        left_out |= {"estimated_recall"}
        assert {k: v for k, v in found.report.items() if k not in left_out} == {
            k: v for k, v in one.report.items() if k not in left_out
        }
        assert found.documents.count() == len(documents)
    return one, found


@pytest.mark.parametrize("method", ["minhash", "simhash", "exact", "identical"])
def test_every_method_finds_what_one_machine_finds(spark, method):
    one, found = agree(spark, DOCUMENTS, method=method)
    assert len(one.pairs) > 10
    for name in ("candidates", "identical_documents", "bounded_above", "bounded_groups", "bounded_pairs"):
        if name != "candidates" or method != "exact":
            assert found.report.counters.get(name, 0) == one.report.counters.get(name, 0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"keep": "longest", "method": "minhash"},
        {"keep": "max:stars", "clusters": "transitive", "threshold": "2/3"},
        {"similarity": "cosine", "threshold": 0.9, "width": 1, "wordless": "keep"},
    ],
)
def test_whatever_is_asked_for(spark, parameters):
    agree(spark, DOCUMENTS, **parameters)


@pytest.mark.parametrize(
    ("partitions", "adaptive", "method"),
    [(1, True, "minhash"), (2, False, "exact"), (7, True, "exact"), (7, False, "minhash"), (7, False, "simhash")],
)
def test_nothing_depends_on_partitions(spark, monkeypatch, partitions, adaptive, method):
    monkeypatch.setattr(work, "LEAST", 1)
    with settings(spark, partitions, adaptive):
        agree(spark, DOCUMENTS, frame=shuffled(spark, DOCUMENTS, partitions), method=method)


def test_nothing_depends_on_very_many_partitions(spark, monkeypatch):
    monkeypatch.setattr(work, "LEAST", 1)
    documents = DOCUMENTS.slice(0, 200)
    with settings(spark, 200, True):
        agree(spark, documents, frame=shuffled(spark, documents, 200), method="minhash")
