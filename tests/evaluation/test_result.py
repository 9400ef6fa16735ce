"""Results as they are opened: a report that is not what Sosie writes is told by the member that is wrong."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.errors import StorageError
from sosie.evaluation.result import load_result

REPORT = {
    "format": "sosie-join",
    "across": False,
    "features": 3,
    "inputs": [{"path": "docs.jsonl"}],
    "counts": {"documents": 2, "rejected": 0},
    "parameters": {"threshold": 0.8, "similarity": "jaccard", "method": {"method": "exact"}},
}


def written(folder, report):
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), folder / "pairs.parquet")
    (folder / "report.json").write_text(report if isinstance(report, str) else json.dumps(report), "utf-8")
    return folder


def test_a_report_as_it_is_written(tmp_path):
    assert load_result(written(tmp_path, REPORT)).threshold is not None


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        ({"features": "3"}, "features"),
        ({"features": True}, "features"),
        ({"parameters": []}, "parameters"),
        ({"counts": 2}, "counts"),
        ({"counts": {"documents": None}}, "documents"),
        ({"parameters": {"threshold": [1]}}, "threshold"),
        ({"parameters": {"method": "exact"}}, "method"),
        ({"inputs": {}}, "inputs"),
        ({"inputs": [{"path": 1}]}, "inputs"),
    ],
)
def test_a_member_of_another_type_is_named(tmp_path, changed, member):
    with pytest.raises(StorageError, match=rf"report\.json: is damaged: '{member}' is not what Sosie writes"):
        load_result(written(tmp_path, {**REPORT, **changed}))


def test_brackets_without_end_are_no_report(tmp_path):
    with pytest.raises(StorageError, match=r"report\.json: cannot be read"):
        load_result(written(tmp_path, "[" * 100_000))


def test_a_table_whose_names_are_no_text(tmp_path):
    """A flipped bit in a footer: Arrow reads it, and fails when it names the columns."""
    file = written(tmp_path, REPORT) / "pairs.parquet"
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "qqqq": [1]}), file, store_schema=False)
    file.write_bytes(file.read_bytes().replace(b"qqqq", b"\xff\xff\xff\xff"))
    with pytest.raises(StorageError, match=r"pairs\.parquet: cannot be read"):
        load_result(tmp_path)
