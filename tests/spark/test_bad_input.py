"""What is wrong is said by name, and no temporary files are left."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import cloudpickle

import sosie
from sosie.errors import DataError, SosieError, UsageError
from sosie.spark import travelling
from sosie.spark.engine import named
from sosie.spark.package import write_archive
from sosie.spark.session import Engine, check_master

GOOD = {"id": [1, 2], "text": ["a b c d", "e f g h"]}
# Runs in a process that does not find the package, as an executor that lacks it.
LACKING = """
import sys, pyarrow
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == "sosie" and path is None and not any("sosie-package" in place for place in sys.path[:1]):
            raise ImportError("no sosie")
sys.meta_path.insert(0, Blocked())
from pyspark import cloudpickle
function = cloudpickle.loads(open(sys.argv[1], "rb").read())
sys.path += sys.argv[2:]
batch = pyarrow.record_batch({"id": [1], "text0": ["a b c"]})
for made in function(iter([batch])):
    print(made.to_pylist())
"""


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("columns", "options", "error", "said"),
    [
        (GOOD, {"text_column": "body"}, UsageError, "there is no column 'body'. The columns are: id, text"),
        (GOOD, {"text_column": "id"}, UsageError, "the column 'id' is long, not text"),
        (GOOD, {"id_column": "text", "keep": "max:text"}, UsageError, "the column 'text' is string, not numbers"),
        ({"text": ["a"]}, {}, UsageError, "need ids, and there is no column 'id'"),
        (GOOD, {"method": "words"}, UsageError, "method must be one of"),
        (GOOD, {"similarity": "containment"}, UsageError, "for containment use sosie.dedup"),
        (GOOD, {"on_error": "ignore"}, UsageError, "on_error is 'raise' or 'skip'"),
        (GOOD, {"partitions": 0}, UsageError, "partitions must be at least 1"),
        ({"id": [1, 2], "text": ["a b", None]}, {}, DataError, "1 document without a text: 'text' is null"),
        ({"id": [None, 2], "text": ["a b", "c"]}, {}, DataError, "1 document without an id"),
        ({"id": [7, 8, 7, 7], "text": ["a", "b", "c", "a"]}, {}, DataError, "3 documents have the id 7 "),
        ({"id": ["x", "y", "x"], "text": ["a", "b", "c"]}, {}, DataError, "2 documents have the id 'x' "),
    ],
)
def test_documents_that_cannot_be_used(spark, tmp_path, columns, options, error, said):
    frame = spark.createDataFrame(pa.table(columns)).repartition(3)
    with pytest.raises(error, match=said.replace("(", r"\(")):
        sosie.spark.dedup(frame, scratch=tmp_path, **options)
    assert left(tmp_path) == []


def test_null_texts_are_passed_over_where_that_is_asked_for(spark, tmp_path):
    frame = spark.createDataFrame(pa.table({"id": [1, 2, 3], "text": ["a b", None, "a b"]}))
    with sosie.spark.dedup(frame, on_error="skip", scratch=tmp_path) as found:
        kept = {row["id"]: row["kept"] for row in found.documents.collect()}
        assert kept == {1: True, 2: False, 3: False}
        assert (found.report.counts.rejected, found.report.counts.dropped, found.kept.columns) == (1, 1, ["id", "text"])
        assert left(tmp_path) != []
    assert left(tmp_path) == []


def test_what_is_no_dataframe(spark):
    for given in (["a b c"], pa.table(GOOD)):
        with pytest.raises(UsageError, match="takes a DataFrame of Spark, got"):
            sosie.spark.dedup(given)


def test_columns_that_are_there_already_stay(spark):
    frame = spark.createDataFrame(pa.table({**GOOD, "kept": ["yes", "no"]}))
    with sosie.spark.dedup(frame) as found:
        assert found.documents.columns == ["id", "text", "kept", "kept_1", "cluster", "duplicate_of", "similarity"]


def test_a_master_that_nobody_answers_at():
    for master in ("spark://127.0.0.1:1", "sc://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2"):
        with pytest.raises(UsageError, match="no master answers there"):
            check_master(master)
    with pytest.raises(UsageError, match="is no address of a master"):
        check_master("spark://host:port")
    with pytest.raises(UsageError, match="no master answers"), Engine("spark://127.0.0.1:1").session():
        pass


def test_executors_without_the_package(tmp_path):
    cloudpickle.register_pickle_by_value(travelling)
    arguments = pickle.dumps((sosie.Simhash(bits=64).fit(), False, 1))
    for version, said in (
        (sosie.__version__, "the executors have no package sosie"),
        ("0.0.0", "and the driver 0.0.0"),
    ):
        called = travelling.travelling("sosie.spark.signing", "sign_texts", version, arguments)
        (tmp_path / "task").write_bytes(cloudpickle.dumps(called))
        places = [] if version == sosie.__version__ else [os.fspath(write_archive(tmp_path))]
        done = _run(tmp_path / "task", *places)
        with pytest.raises(UsageError, match=said), named():
            raise _Said(done.stderr)
    called = travelling.travelling("sosie.spark.signing", "sign_texts", sosie.__version__, arguments)
    (tmp_path / "task").write_bytes(cloudpickle.dumps(called))
    done = _run(tmp_path / "task", os.fspath(tmp_path / "sosie-package.zip"))
    words = sosie.Simhash(bits=64).fit().sign(["a b c"]).words.astype("int64").tolist()
    assert done.stdout.strip() == str([{"id": 1, "words": words[0]}]), done.stderr


def _run(task: Path, *places: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LACKING, task, *places], capture_output=True, text=True, timeout=300, cwd=task.parent
    )


class _Said(ConnectionError):
    """What comes back from a task: the trace of an error."""


def test_without_pyspark():
    code = (
        "import sys; sys.modules['pyspark'] = None\nimport sosie\n"
        "try: sosie.spark.dedup\nexcept sosie.UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert "sosie.spark needs the package pyspark" in done.stdout and "pip install 'sosie[spark]'" in done.stdout


def test_an_error_of_a_task_is_raised_as_itself(spark, tmp_path):
    frame = spark.createDataFrame(pa.table(GOOD))
    with pytest.raises(SosieError, match="arrays of several lengths"):
        signed = spark.createDataFrame(pa.table({"id": [1, 2], "words": [[1, 2], [3]]}))
        sosie.spark.join(signed, radius=1, scratch=tmp_path)
    with pytest.raises(UsageError, match="radius and method are for signatures"):
        sosie.spark.join(frame, radius=1)
    assert left(tmp_path) == []
