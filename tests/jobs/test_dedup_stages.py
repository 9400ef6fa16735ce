"""The stages of the main job by themselves: values in, values out, and together what `sosie.dedup` finds."""

from __future__ import annotations

import importlib
import pkgutil
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sosie
from sosie import Deduplicator, Source, jobs
from sosie.evaluation.planted import PlantedCorpus
from sosie.jobs import stages
from sosie.jobs.work import open_inputs, working
from sosie.report.timing import Silent

THRESHOLD = Fraction(7, 10)


@pytest.fixture(scope="module")
def table():
    return pa.table({"text": [*PlantedCorpus(300, copies=0.6, seed=5).texts(np.arange(300)).to_pylist(), "", "..."]})


@contextmanager
def collected(job: Deduplicator, table):
    """What the stages after reading begin with."""
    inputs = open_inputs(job, Source(table), None, 1)
    with working(job, inputs, None, None, 1) as work:
        assert not work.writes
        yield stages.read(inputs.reading, job, None, work, Silent()), work


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_the_stages_one_after_the_other(table, method):
    job = Deduplicator(threshold=THRESHOLD, method=method)
    with collected(job, table) as (collection, work):
        chosen = job.choose(len(collection.features.hashes), len(collection))
        similarity = stages.weigh(collection, job, work.room)
        collapsed = stages.collapse(collection, similarity, job.keep, only=False)
        candidates = stages.match(collapsed, chosen, job.threshold, work.room)
        verified = stages.verify(collapsed, candidates, job.threshold, job.clusters, 1)
        clusters = stages.cluster(collapsed, verified, job.clusters, 1)
        found, _ = stages.list_pairs(collapsed, verified)
    expected = sosie.dedup(table, THRESHOLD, method=method)
    assert clusters.anchor.tolist() == expected.grouped.anchor.tolist()
    assert found.a.tolist() == expected.found.a.tolist() and found.b.tolist() == expected.found.b.tolist()
    assert found.recall == verified.recall >= candidates.pairs.recall > 0.98
    assert found.at_threshold == (None if method == "exact" else candidates.pairs.recall)
    assert dict(found.counters) == expected.report["counters"]


def test_a_stage_changes_nothing_that_it_is_given(table):
    """A stage that is run again on the same values gives the same."""
    job = Deduplicator(threshold=THRESHOLD)
    with collected(job, table) as (collection, work):
        similarity = stages.weigh(collection, job, work.room)
        collapsed = stages.collapse(collection, similarity, job.keep, only=False)
        held = {field.name: getattr(collapsed, field.name) for field in fields(collapsed)}
        outcomes = []
        for _ in range(2):
            candidates = stages.match(collapsed, job.choose(0, 0), job.threshold, work.room)
            verified = stages.verify(collapsed, candidates, job.threshold, job.clusters, 1)
            clusters = [stages.cluster(collapsed, verified, how, 1) for how in ("anchored", "transitive")]
            outcomes.append(
                [
                    candidates.pairs.a.tolist(),
                    verified.similarity.tolist(),
                    *(each.anchor.tolist() for each in clusters),
                ]
            )
        assert outcomes[0] == outcomes[1]
        assert all(getattr(collapsed, name) is value for name, value in held.items())


def test_the_modules_of_jobs_hide_no_function_of_the_package():
    for module in pkgutil.iter_modules(jobs.__path__):
        importlib.import_module(f"sosie.jobs.{module.name}")
    assert callable(sosie.dedup) and callable(sosie.join)
    assert sosie.dedup(pa.table({"text": ["a"]})).mask.tolist() == [True]
