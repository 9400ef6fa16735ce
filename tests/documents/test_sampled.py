"""Samples of documents: from all over the files, with an honest number of how many there are."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sosie.documents.sampled import sample_documents
from sosie.documents.source import Source
from sosie.errors import DataError

COUNT = 6000
TEXTS = [f"document {row} of many " + "word " * (row % 40) for row in range(COUNT)]


def lines(texts):
    return "".join(json.dumps({"id": f"d{row}", "text": text}) + "\n" for row, text in enumerate(texts)).encode()


def rows_of(sampled):
    """Which documents there are, by the number in their text."""
    return [int(text.split()[1]) for text in sampled.texts.to_pylist()]


@pytest.fixture
def folder(tmp_path):
    table = pa.table({"id": [f"d{row}" for row in range(COUNT)], "text": TEXTS})
    (tmp_path / "a.jsonl").write_bytes(lines(TEXTS))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(TEXTS)))
    pa.csv.write_csv(table, tmp_path / "a.csv")
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=500)
    return tmp_path


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_sample_is_from_all_over_the_file(folder, name):
    sampled = sample_documents(Source(folder / name).batches(), 40_000)
    rows = rows_of(sampled)
    assert len(rows) == len(sampled) == len(set(rows)) and not sampled.notes
    assert 100 < len(rows) < COUNT / 2
    spread = np.histogram(rows, 6, (0, COUNT))[0]
    assert spread.min() > len(rows) / 20
    assert sampled.documents == pytest.approx(COUNT, rel=0.06)
    assert sampled.is_counted == (name == "a.parquet") and (not sampled.is_counted or sampled.documents == COUNT)
    assert all(text == TEXTS[row] for row, text in zip(rows, sampled.texts.to_pylist(), strict=True))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_small_collection_is_all_read(folder, name):
    sampled = sample_documents(Source(folder / name).batches())
    assert sampled.is_whole and rows_of(sampled) == list(range(COUNT))
    assert sampled.file_bytes == pytest.approx((folder / name).stat().st_size / COUNT)


def test_what_is_packed_is_read_from_its_beginning_and_that_is_said(folder):
    texts = [
        f"document {row} " + " ".join(map(str, np.random.default_rng(row).integers(0, 1e9, 60)))
        for row in range(12_000)
    ]
    (folder / "large.jsonl.gz").write_bytes(gzip.compress(lines(texts), 1))
    sampled = sample_documents(Source(folder / "large.jsonl.gz").batches(), 1 << 20)
    rows = rows_of(sampled)
    assert rows == list(range(len(rows))) and len(rows) < 12_000
    assert "gzip can only be read from the beginning" in " ".join(sampled.notes) and not sampled.is_counted
    assert sampled.documents == pytest.approx(12_000, rel=0.1) and sampled.kind == ("jsonl", "gzip")


def test_several_files_of_several_formats(folder):
    paths = [folder / "a.jsonl", folder / "a.parquet"]
    sampled = sample_documents(Source(list(map(str, paths)), id_column="none").batches(), 60_000)
    assert sampled.documents == pytest.approx(2 * COUNT, rel=0.06)


def test_text_files_are_counted(tmp_path):
    for row in range(300):
        (tmp_path / f"{row:03d}.txt").write_text(TEXTS[row], "utf-8")
    sampled = sample_documents(Source(tmp_path).batches(), 2000)
    assert sampled.documents == 300 and sampled.is_counted and 10 < len(sampled) < 200


def test_bad_records_are_left_out_of_the_number(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(TEXTS[:100]) + b"broken\n" * 100)
    sampled = sample_documents(Source(tmp_path / "a.jsonl", on_error="skip").batches())
    assert sampled.documents == 100 and "100 records of the sample cannot be used" in sampled.notes


@pytest.mark.parametrize("content", [b"", b'{"id": "a", "text": "x"}', b"\n\n", b'{"text": "x"}\n' * 3])
def test_tiny_files(tmp_path, content):
    (tmp_path / "a.jsonl").write_bytes(content)
    for budget in (1, 10, 1 << 20):
        sampled = sample_documents(Source(tmp_path / "a.jsonl").batches(), budget)
        assert 0 <= len(sampled) <= content.count(b"text")
        assert sampled.documents >= len(sampled)


def test_one_line_longer_than_every_place(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(["x " * 50_000, "y " * 50_000, "z " * 50_000]))
    sampled = sample_documents(Source(tmp_path / "a.jsonl").batches(), 4800)
    assert 1 <= len(sampled) <= 3 and 1 <= sampled.documents <= 4


def test_a_csv_whose_newlines_are_inside_quotes(tmp_path):
    rows = [(f"d{row}", f'said "yes"\n{row}\n\nand, "no"') for row in range(3000)]
    text = "id,text\n" + "".join(f'{name},"{said.replace(chr(34), chr(34) * 2)}"\n' for name, said in rows)
    (tmp_path / "a.csv").write_text(text, "utf-8")
    sampled = sample_documents(Source(tmp_path / "a.csv", on_error="skip").batches(), 9600)
    whole = {said for _, said in rows}
    right = sum(text in whole for text in sampled.texts.to_pylist())
    assert right > 0.9 * len(sampled) > 0
    assert sampled.documents == pytest.approx(3000, rel=0.2)


def test_a_file_that_is_no_file_of_its_format_is_told(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match="cannot be read"):
        sample_documents(Source(tmp_path / "a.jsonl.gz").batches())
