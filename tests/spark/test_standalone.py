"""A real cluster of two workers: executors are killed in the map and in the reduce stage, and nothing is another."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.session import SRC
from tests.spark.standalone import standalone

import sosie

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cluster(java, tmp_path):
    with standalone(tmp_path / "cluster", java) as running:
        yield running


def documents():
    """Texts of which many are alike, as a table."""
    generator = random.Random(3)
    base = [[f"w{generator.randrange(500)}" for _ in range(40)] for _ in range(80)]
    texts = []
    for _ in range(300):
        words = list(generator.choice(base))
        words[generator.randrange(40)] = f"x{generator.randrange(5)}"
        texts.append(" ".join(words))
    return pa.table({"id": [f"d{number:04d}" for number in range(300)], "text": texts})


def test_killed_executors_change_nothing(cluster, tmp_path):
    table = documents()
    pq.write_table(table, tmp_path / "documents.parquet", row_group_size=100)
    expected = sosie.dedup(table, method="minhash")
    path = os.pathsep.join([str(SRC), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark.killing", cluster.url, cluster.folder, tmp_path / "documents.parquet"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    pairs = sorted(map(list, zip(*expected.pairs.to_pydict().values(), strict=True)))
    tags = sorted(
        [row["id"], [row["kept"], row["cluster"], row["duplicate_of"], row["similarity"]]]
        for row in expected.to_arrow().to_pylist()
    )
    assert [each["where"] for each in found] == ["map", "reduce"]
    for each in found:
        assert each["changed"] and each["tasks"] > 0
        assert len(each["pairs"]) > 50 and each["pairs"] == pairs
        assert each["tags"] == tags
    assert not list(cluster.folder.glob("sosie-*"))
