"""Writing: every document goes to exactly one place, as it was."""

import gzip
import json
import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.writing import all_kept, write

from sosie.documents import Decisions, RejectLog, Source, blocks, write_documents
from sosie.documents.jsonl.write import MemberNames, extend_lines
from sosie.documents.write_blocks import RecordCut
from sosie.errors import DataError, MismatchError

MAP = pa.map_(pa.string(), pa.int8())


def run(source, dropped, out, **options):
    """Drop the documents `dropped` (number -> twin), write the rest, and list the rejected ones."""
    out.mkdir(exist_ok=True)
    with RejectLog(out) as log:
        for batch in source.batches():
            log.add(batch.rejects)
    return write(source, dropped, out, **options)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_json_lines_are_copied_byte_for_byte(tmp_path):
    content = b'\xef\xbb\xbf{"text" :"a", "id":"x"}\r\n\n  {"id":"y","text":"\\u00e9" } \nbroken\n{"text":"c","id":"z"}'
    (tmp_path / "a.jsonl").write_bytes(content)
    counts = run(Source(tmp_path / "a.jsonl", on_error="skip"), {1: 0}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (2, 1, 1)
    assert files(tmp_path / "out") == ["dropped/a.jsonl", "kept/a.jsonl", "rejected.jsonl"]
    assert (tmp_path / "out/kept/a.jsonl").read_bytes() == b'{"text" :"a", "id":"x"}\r\n{"text":"c","id":"z"}\n'
    dropped = b'  {"id":"y","text":"\\u00e9", "duplicate_of": "x", "similarity": 0.515625}\n'
    assert (tmp_path / "out/dropped/a.jsonl").read_bytes() == dropped
    reject = json.loads((tmp_path / "out/rejected.jsonl").read_text())
    assert reject == {
        "file": "a.jsonl",
        "line": 4,
        "reason": "broken JSON (Expecting value, column 1)",
        "raw": "broken",
    }


def test_shards_keep_their_names_and_only_needed_files_appear(tmp_path):
    for name in ("x/a.jsonl", "y/a.jsonl", "y/empty.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("" if "empty" in name else '{"text": "a"}\n{"text": "b"}\n')
    run(Source([str(tmp_path / "x/*"), str(tmp_path / "y/*")]), {3: 0}, tmp_path / "out")
    assert files(tmp_path / "out") == ["dropped/y/a.jsonl", "kept/x/a.jsonl", "kept/y/a.jsonl", "kept/y/empty.jsonl"]
    dropped = json.loads((tmp_path / "out/dropped/y/a.jsonl").read_text())
    assert dropped == {"text": "b", "duplicate_of": "x/a.jsonl:1", "similarity": 0.5 + 3 / 64}


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_outputs_are_the_same_every_time(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    lines = b"".join(b'{"text": "number %d"}\n' % i for i in range(100))
    codec = {".gz": "gzip", ".zst": "zstd"}[suffix]
    packed = gzip.compress(lines) if codec == "gzip" else pa.compress(lines, "zstd", asbytes=True)
    (tmp_path / f"a.jsonl{suffix}").write_bytes(packed)
    for out in ("one", "two"):
        run(Source(tmp_path / f"a.jsonl{suffix}"), {5: 1, 99: 0}, tmp_path / out, threads=2)
    for kind in ("kept", "dropped"):
        path = tmp_path / "one" / kind / f"a.jsonl{suffix}"
        assert path.read_bytes() == (tmp_path / "two" / kind / path.name).read_bytes()
        with pa.input_stream(str(path), compression=codec) as stream:
            text = stream.read()
        assert text.count(b"\n") == (98 if kind == "kept" else 2)
        if kind == "kept":
            assert text == b"".join(line for i, line in enumerate(lines.splitlines(True)) if i not in (5, 99))
        if suffix == ".gz":
            assert path.read_bytes()[3:8] == bytes(5)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{}", b'{"duplicate_of": 7, "similarity": 0.5}\n'),
        (b" { \t} \r", b' {"duplicate_of": 7, "similarity": 0.5}\n'),
        (b'{"a":{}}', b'{"a":{}, "duplicate_of": 7, "similarity": 0.5}\n'),
        (b'{"a":"}{"}', b'{"a":"}{", "duplicate_of": 7, "similarity": 0.5}\n'),
        (b'{"similarity": 1}', b'{"similarity": 1, "duplicate_of": 7, "similarity_1": 0.5}\n'),
        (b'{"duplicate\\u005fof": 1}', b'{"duplicate\\u005fof": 1, "duplicate_of_1": 7, "similarity": 0.5}\n'),
        (b'{"a": {"similarity": 1}}', b'{"a": {"similarity": 1}, "duplicate_of": 7, "similarity": 0.5}\n'),
    ],
)
def test_members_are_spliced_in(line, expected):
    cut = RecordCut(line + b"\n", np.array([0]), np.array([len(line)]))
    added = pa.table({"duplicate_of": [7], "similarity": [0.5]})
    assert extend_lines(cut, added, MemberNames(added.column_names)) == expected


@given(
    texts=st.lists(st.text(max_size=6), min_size=1, max_size=30),
    dropped=st.sets(st.integers(0, 29)),
    blank=st.integers(0, 3),
    block=st.sampled_from([1, 64, 10_000]),
)
@settings(max_examples=100, deadline=None)
def test_kept_and_dropped_are_the_input(tmp_path_factory, texts, dropped, blank, block):
    folder = tmp_path_factory.mktemp("write")
    gone = {row: 0 for row in dropped if 0 < row < len(texts)}
    lines = [json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n" for text in texts]
    (folder / "a.jsonl").write_bytes((b"\n" * blank).join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        run(Source(folder / "a.jsonl"), gone, folder / "out")
    kept = (folder / "out/kept/a.jsonl").read_bytes()
    assert kept == b"".join(line for row, line in enumerate(lines) if row not in gone)
    if gone:
        found = [json.loads(line) for line in (folder / "out/dropped/a.jsonl").read_bytes().split(b"\n")[:-1]]
        assert [d["text"] for d in found] == [texts[row] for row in sorted(gone)]
        assert [d["similarity"] for d in found] == [0.5 + row / 64 for row in sorted(gone)]


def table(n=10):
    fields = [
        pa.field("id", pa.int32(), metadata={"k": "v"}),
        pa.field("text", pa.string()),
        pa.field("nested", pa.struct([("a", pa.list_(pa.int8()))])),
        pa.field("similarity", pa.dictionary(pa.int8(), pa.string())),
    ]
    columns = [range(n), [f"t{i}" for i in range(n)], [{"a": [i % 7]} for i in range(n)], ["s"] * n]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.table(arrays, schema=pa.schema(fields, metadata={"owner": "me"}))


def test_parquet_keeps_columns_schema_metadata_order_and_compression(tmp_path):
    compression = {"id": "gzip", "text": "zstd", "nested.a.list.element": "none", "similarity": "snappy"}
    pq.write_table(table(), tmp_path / "a.parquet", row_group_size=3, compression=compression)
    run(Source(tmp_path / "a.parquet"), {4: 1, 9: 0}, tmp_path / "out")
    original = pq.read_table(tmp_path / "a.parquet")
    kept = pq.read_table(tmp_path / "out/kept/a.parquet")
    assert kept.schema.equals(original.schema, check_metadata=True)
    assert kept.to_pylist() == [row for i, row in enumerate(original.to_pylist()) if i not in (4, 9)]
    dropped = pq.read_table(tmp_path / "out/dropped/a.parquet")
    assert dropped.schema.metadata == original.schema.metadata
    assert dropped.column_names == [*original.column_names, "duplicate_of", "similarity_1"]
    assert dropped.select(original.column_names).to_pylist() == [original.to_pylist()[i] for i in (4, 9)]
    assert dropped["duplicate_of"].to_pylist() == [1, 0] and dropped["similarity_1"].to_pylist() == [0.5625, 0.640625]
    for path in ("kept", "dropped"):
        group = pq.ParquetFile(tmp_path / "out" / path / "a.parquet").metadata.row_group(0)
        used = [group.column(i).compression for i in range(4)]
        assert used == ["GZIP", "ZSTD", "UNCOMPRESSED", "SNAPPY"]


def test_types_that_arrow_cannot_filter_are_written_too(tmp_path):
    texts = pa.array([f"text {i}" for i in range(9)], pa.string_view())
    rare = {"b": pa.array([b"x", None] * 4 + [b""], pa.binary_view()), "m": pa.array([[("k", 1)]] * 9, MAP)}
    original = pa.table({"text": texts, **rare})
    pq.write_table(original, tmp_path / "a.parquet")
    run(Source(tmp_path / "a.parquet"), {1: 0, 2: 0, 8: 0}, tmp_path / "out")
    kept = pq.read_table(tmp_path / "out/kept/a.parquet")
    assert kept.schema.equals(original.schema)
    assert kept.to_pylist() == [row for i, row in enumerate(original.to_pylist()) if i not in (1, 2, 8)]
    dropped = pq.read_table(tmp_path / "out/dropped/a.parquet").to_pylist()
    assert [(row["text"], row["similarity"]) for row in dropped] == [(f"text {i}", 0.5 + i / 64) for i in (1, 2, 8)]


def test_a_table_in_memory_goes_to_parquet(tmp_path):
    run(Source(table().to_reader(4)), {2: 1}, tmp_path / "out")
    assert files(tmp_path / "out") == ["dropped/documents.parquet", "kept/documents.parquet"]
    kept = pq.read_table(tmp_path / "out/kept/documents.parquet")
    assert kept.to_pylist() == [row for i, row in enumerate(table().to_pylist()) if i != 2]


def test_everything_dropped_or_rejected_leaves_an_empty_kept_file(tmp_path):
    pq.write_table(pa.table({"text": ["a", None]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"text": "b"}')
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "c"}'))
    run(Source(str(tmp_path / "*"), on_error="skip"), {0: 0, 2: 0, 3: 0}, tmp_path / "out")
    packed = (tmp_path / "out/kept/c.jsonl.gz").read_bytes()
    assert packed and gzip.decompress(packed) == b""
    assert pq.read_table(tmp_path / "out/kept/a.parquet").num_rows == 0
    assert (tmp_path / "out/kept/b.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_inputs_that_changed_since_they_were_read(tmp_path, name):
    path = tmp_path / name
    pq.write_table(table(), path) if name == "a.parquet" else path.write_text('{"text": "a"}\n' * 10)
    reading = Source(path).batches()
    for _ in reading:
        pass
    decisions = all_kept(reading)
    with pytest.raises(MismatchError):
        write_documents(reading, replace(decisions, state=decisions.state[:9]), tmp_path / "out")
    os.utime(path, ns=(5, 5))
    with pytest.raises(DataError, match=f"{name}: changed while it was being read"):
        write_documents(reading, decisions, tmp_path / "out")


def test_decisions_are_checked():
    with pytest.raises(MismatchError, match="states are 0, 1 and 2, got 3"):
        Decisions(np.array([3], np.uint8), lambda rows: pa.table({}))
