"""What is known of each document after a de-duplication, and the documents annotated with it."""

import json

import numpy as np
import pyarrow as pa
import pytest

import sosie
from sosie.documents import DROPPED, KEPT, REJECTED

TEXTS = ["one two three four", "a b c d", None, "One two, three four", "e f g h i", "a b c d!", "one two three four"]


@pytest.fixture(scope="module")
def result():
    table = pa.table({"id": [f"d{row}" for row in range(len(TEXTS))], "text": TEXTS})
    return sosie.dedup(sosie.Source(table, on_error="skip"), threshold=0.8)


def test_columns(result):
    assert result.decisions.state.tolist() == [KEPT, KEPT, REJECTED, DROPPED, KEPT, DROPPED, DROPPED]
    columns = result.columns(np.arange(len(TEXTS)))
    assert columns.schema == pa.schema(
        {"kept": pa.bool_(), "cluster": pa.int64(), "duplicate_of": pa.large_string(), "similarity": pa.float64()}
    )
    assert columns.to_pydict() == {
        "kept": [True, True, False, False, True, False, False],
        "cluster": [0, 1, None, 0, None, 1, 0],
        "duplicate_of": [None, None, None, "d0", None, "d1", "d0"],
        "similarity": [None, None, None, 1.0, None, 1.0, 1.0],
    }
    assert result.columns(np.array([5, 0])).to_pylist() == columns.take([5, 0]).to_pylist()
    assert result.columns(np.empty(0, np.int64)).schema == columns.schema
    numbers = dict(zip(result.clusters["id"].to_pylist(), result.clusters["cluster"].to_pylist(), strict=True))
    assert columns["cluster"].to_pylist() == [numbers.get(f"d{row}") for row in range(len(TEXTS))]


def test_reasons_are_those_of_the_dropped(result):
    assert result.reasons(np.array([3, 5, 6])).to_pylist() == result.dropped.drop(["id"]).to_pylist()


def test_annotated_documents(tmp_path):
    lines = [json.dumps({"id": row, "text": text}) for row, text in enumerate(TEXTS)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    result = sosie.dedup(sosie.Source(tmp_path / "a.jsonl", on_error="skip"), threshold=0.8)
    result.write_documents(tmp_path / "out", annotate=True)
    rows = np.array([0, 1, 3, 4, 5, 6])
    expected = [
        {"id": row, "text": TEXTS[row], **added}
        for row, added in zip(rows.tolist(), result.columns(rows).to_pylist(), strict=True)
    ]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["annotated"]
    found = (tmp_path / "out/annotated/a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in found] == expected
    assert found[2] == lines[3][:-1] + ', "kept": false, "cluster": 0, "duplicate_of": 0, "similarity": 1.0}'


def test_nothing_to_annotate():
    result = sosie.dedup(pa.table({"text": pa.array([], pa.string())}))
    assert result.columns(np.empty(0, np.int64)).num_rows == 0
