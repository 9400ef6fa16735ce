"""How many documents are expected while a file is read: right at the end, near on the way."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.documents.source import Source

COUNT = 60_000
LINES = [json.dumps({"id": i, "text": f"document {i} " + "word " * 40}) + "\n" for i in range(COUNT)]


def write(kind, path):
    if kind == "jsonl":
        path.write_text("".join(LINES))
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress("".join(LINES).encode(), 1))
    else:
        pq.write_table(
            pa.table({"text": [f"document {i} " + "word " * 40 for i in range(COUNT)]}), path, row_group_size=9_000
        )


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet"])
def test_expected_documents(kind, tmp_path):
    path = tmp_path / f"docs.{kind}"
    write(kind, path)
    reading = Source(path).batches(1)
    expected = [reading.expected for _ in reading]
    assert len(expected) > 1 and expected[-1] == COUNT
    assert all(COUNT / 2 < guess < COUNT * 2 for guess in expected)
