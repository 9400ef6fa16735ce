"""Components and anchors on a cluster, held against union-find and against the definition, one row after the other."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sosie.errors import StorageError, UsageError
from sosie.spark.anchors import anchored
from sosie.spark.components import connected
from sosie.spark.work import Work, working


@contextmanager
def configured(spark, **conf):
    """Set values of a session for a block, by their names below `spark.sql`."""
    before = {name: spark.conf.get(f"spark.sql.{name}", None) for name in conf}
    try:
        for name, value in conf.items():
            spark.conf.set(f"spark.sql.{name}", value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(f"spark.sql.{name}") if value is None else spark.conf.set(f"spark.sql.{name}", value)


def table(edges):
    """Return pairs as a table: a < b, each once, with a similarity that only the pair decides, and many are equal."""
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    return pa.table({"a": a, "b": b, "similarity": 0.8 + (a * 7 + b * 3) % 5 / 25})


def components_of(pairs):
    """Return the first row that chains lead to, by union-find."""
    leader = {}

    def find(row):
        while leader.setdefault(row, row) != row:
            row = leader[row]
        return row

    for pair in pairs.to_pylist():
        first, second = sorted((find(pair["a"]), find(pair["b"])))
        leader[second] = first
    return {row: find(row) for row in leader}


def anchors_of(pairs):
    """Return the anchor of each row and its similarity, as defined."""
    earlier = {}
    for pair in pairs.to_pylist():
        earlier.setdefault(pair["a"], [])
        earlier.setdefault(pair["b"], []).append((pair["similarity"], -pair["a"]))
    found = {}
    for row in sorted(earlier):
        kept = [near for near in earlier[row] if found[-near[1]][0] == -near[1]]
        found[row] = (-max(kept)[1], max(kept)[0]) if kept else (row, 1.0)
    return found


def check(spark, pairs, limit):
    """Cluster pairs on the cluster down to so many, and compare."""
    frame = spark.createDataFrame(pairs)
    with working(spark) as work:
        rows = connected(frame, work, limit).toArrow().to_pylist()
        assert {each["row"]: each["component"] for each in rows} == components_of(pairs)
        found = anchored(frame, work, limit).toArrow().to_pylist()
    expected = anchors_of(pairs)
    assert len(rows) == len(found) == len(expected)
    assert {each["row"]: (each["anchor"], each["similarity"]) for each in found} == expected


def chain(rows):
    return [(row, row + 1) for row in range(rows)]


def star(centre, rows):
    return [(centre, row) for row in range(rows)]


def random(rows, edges, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, rows, (edges, 2)).tolist()


def apart(*graphs):
    """Return graphs side by side, no two of which have a row in common."""
    return [(a + 1000 * number, b + 1000 * number) for number, graph in enumerate(graphs) for a, b in graph]


CLIQUE = [(row, other) for row in range(12) for other in range(row)]
TURNED = [(5 * row % 31, 5 * (row + 1) % 31) for row in range(30)]  # a path whose rows come in another order
MIXED = apart(chain(24), TURNED, star(0, 40), star(999, 40), CLIQUE, random(60, 70, 1), [(3, 9)])


@pytest.mark.parametrize("edges", [MIXED, []], ids=["mixed", "none"])
def test_on_the_driver(spark, edges):
    check(spark, table(edges), None)


def test_one_chain_to_its_end(spark):
    check(spark, table(chain(16)), 8)


@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(edges=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=20, max_size=60))
def test_any_graph(spark, edges):
    check(spark, table(edges), 8)


@pytest.mark.parametrize(("partitions", "adaptive"), [(1, True), (7, False), (200, True)])
def test_neither_partitions_nor_adaptive_execution_matter(spark, partitions, adaptive):
    pairs = table(MIXED)
    with configured(spark, **{"shuffle.partitions": str(partitions), "adaptive.enabled": str(adaptive).lower()}):
        check(spark, pairs.take(np.random.default_rng(2).permutation(len(pairs))), 60)


def test_the_folder_is_gone_after_success_and_after_failure(spark, tmp_path):
    with working(spark, str(tmp_path)) as work:
        connected(spark.createDataFrame(table(chain(9))), work, 3).count()
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError), working(spark, f"file://{tmp_path}") as work:
        work.stage(spark.range(3), "rows")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def losing_file(stage):
    for part in Path(stage.path.removeprefix("file://")).glob("*.parquet"):
        part.unlink()
    return stage


def losing_rows(stage):
    return replace(stage, frame=stage.frame.where("row != 7"))


@pytest.mark.parametrize(
    ("lose", "said"),
    [(losing_file, "an earlier stage wrote is gone|not there any more"), (losing_rows, "rows are left of")],
)
def test_what_is_lost_is_noticed(spark, tmp_path, monkeypatch, lose, said):
    stage = Work.stage

    def lossy(self, frame, name, **asked):
        written = stage(self, frame, name, **asked)
        return lose(written) if name == "leaders" else written

    monkeypatch.setattr(Work, "stage", lossy)
    with working(spark, str(tmp_path)) as work, pytest.raises(StorageError, match=said):
        connected(spark.createDataFrame(table(chain(40))), work, 25)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_said(spark, tmp_path):
    for scratch in ("nowhere/at/all", str(tmp_path / "missing"), "hugo://bucket"):
        with pytest.raises(UsageError, match=scratch), working(spark, scratch):
            pass
