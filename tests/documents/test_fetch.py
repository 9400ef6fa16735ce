"""Fetching: the texts of a few documents, from every kind of input, as they were read."""

import gzip
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source, blocks
from sosie.documents.fetch import fetch_texts
from sosie.documents.parquet import rows as parquet_rows
from sosie.errors import DataError, MismatchError

TEXTS = [f"text {number} of many, with ümlaut and 東京" for number in range(50)]


def lines(texts):
    return "".join(json.dumps({"id": f"i{i}", "text": text}) + "\n" for i, text in enumerate(texts)).encode()


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def jsonl(path):
    (path / "a.jsonl").write_bytes(lines(TEXTS))
    return path / "a.jsonl"


def gz(path):
    (path / "a.jsonl.gz").write_bytes(gzip.compress(lines(TEXTS)))
    return path / "a.jsonl.gz"


def zst(path):
    (path / "a.jsonl.zst").write_bytes(zstd(lines(TEXTS)))
    return path / "a.jsonl.zst"


def rows(path):
    pq.write_table(pa.table({"text": TEXTS}), path / "a.parquet", row_group_size=7)
    return path / "a.parquet"


def views(path):
    return pa.table({"text": pa.array(TEXTS, pa.string_view()), "id": range(len(TEXTS))})


def dictionary(path):
    return pa.table({"text": pa.array(TEXTS).dictionary_encode()})


def csv(path):
    (path / "a.csv").write_text("text,n\n" + "".join(f'"{text}",{i}\n' for i, text in enumerate(TEXTS)), "utf-8")
    return path / "a.csv"


def read(source):
    reading = (source if isinstance(source, Source) else Source(source)).batches()
    for _ in reading:
        pass
    return reading


def array(path):
    (path / "a.json").write_text(json.dumps([{"text": text} for text in TEXTS], indent=1))
    return path / "a.json"


def feather(path):
    pf.write_feather(pa.table({"text": TEXTS}), path / "a.feather", chunksize=7)
    return path / "a.feather"


@pytest.mark.parametrize("make", [jsonl, gz, zst, rows, views, dictionary, csv, array, feather])
def test_every_kind_of_input(make, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 300)
    monkeypatch.setattr(parquet_rows, "PIECE_BYTES", 300)
    reading = read(make(tmp_path))
    for wanted in ([0], [49], [3, 4, 30], [30, 3, 30], list(range(50)), []):
        assert fetch_texts(reading, np.array(wanted, np.int64)) == {row: TEXTS[row] for row in wanted}


def test_many_inputs_are_read_only_where_something_is_wanted(tmp_path):
    files = []
    for number in range(4):
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text("".join(json.dumps({"text": f"{number} {i}"}) + "\n\n" for i in range(5)))
    reading = read([*files[:3], files[3]])
    files[2].unlink()
    assert fetch_texts(reading, np.array([0, 9, 15, 19])) == {0: "0 0", 9: "1 4", 15: "3 0", 19: "3 4"}
    with pytest.raises(DataError, match="disappeared"):
        fetch_texts(reading, np.array([10]))


def test_rejected_records_keep_their_numbers_and_have_no_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\nbroken\n\n{"text": 5}\n{"text": "d"}\n')
    reading = read(Source(tmp_path / "a.jsonl", on_error="skip"))
    assert fetch_texts(reading, np.arange(4)) == {0: "a", 3: "d"}


def test_ids_are_not_looked_at(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n{"id": 2, "text": "c"}\n')
    reading = read(Source(tmp_path / "a.jsonl", on_error="skip"))
    assert fetch_texts(reading, np.array([0, 2])) == {0: "a", 2: "c"}


def test_long_texts_are_cut(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(["é" * 1_000_000, "short"]))
    assert fetch_texts(read(tmp_path / "a.jsonl"), np.array([0, 1]), limit=7) == {0: "é" * 7, 1: "short"}


@pytest.mark.parametrize("make", [jsonl, gz, rows])
def test_an_input_that_changed_is_an_error(make, tmp_path):
    path = make(tmp_path)
    reading = read(path)
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    with pytest.raises(DataError, match="changed while it was being read"):
        fetch_texts(reading, np.array([1]))


def test_an_input_that_got_shorter_unnoticed_is_an_error(tmp_path):
    path = jsonl(tmp_path)
    reading = read(path)
    status = os.stat(path)
    path.write_bytes(lines(["x"]).ljust(status.st_size))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DataError, match="changed while it was being read"):
        fetch_texts(reading, np.array([49]))


def test_documents_that_were_not_read(tmp_path):
    reading = read(jsonl(tmp_path))
    for wanted in ([-1], [50], [0, 99]):
        with pytest.raises(MismatchError, match="50 that were read"):
            fetch_texts(reading, np.array(wanted))
    with pytest.raises(MismatchError):
        fetch_texts(Source(tmp_path / "a.jsonl").batches(), np.array([0]))


@given(st.lists(st.text(), min_size=1), st.data())
def test_any_text_comes_back(texts, data):
    wanted = data.draw(st.lists(st.integers(0, len(texts) - 1)))
    reading = read(pa.table({"text": texts}))
    assert fetch_texts(reading, np.array(wanted, np.int64)) == {row: texts[row] for row in wanted}
