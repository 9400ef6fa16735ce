"""Inputs as they should not be: each gets an error that names it, or a reject with a reason."""

import gzip
import json
import os
import socket

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sosie
from sosie.documents import KEPT, Decisions, Source, blocks, write_documents
from sosie.documents.parquet import rows as parquet_rows
from sosie.errors import DataError, SosieError, UsageError

ROWS = [f"text number {i} é" for i in range(400)]


def lines(texts=ROWS):
    return "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode()


def write(path, texts=ROWS):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=10)
    elif path.suffix == ".csv":
        path.write_text("text\n" + "".join(text + "\n" for text in texts), encoding="utf-8")
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines(texts)))
    else:
        path.write_bytes(lines(texts))
    return path


def read(source):
    batches = list(Source(source, on_error="skip").batches())
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, [reject.reason for batch in batches for reject in batch.rejects]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_lines_of_another_encoding_are_rejected_alone(tmp_path, name):
    rows = ["café", "naïve", "plain"]
    content = write(tmp_path / name, rows).read_bytes()
    (tmp_path / name).write_bytes(content.replace("naïve".encode(), "naïve".encode("latin-1")))
    texts, reasons = read(tmp_path / name)
    assert texts == ["café", "plain"]
    assert len(reasons) == 1 and reasons[0].startswith("invalid UTF-8 (byte ")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.txt"])
def test_a_file_of_another_encoding_is_named_with_the_remedy(tmp_path, encoding, name):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    content = (mark + '{"text": "a rose"}\n').encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    wanted = encoding[:6].upper()
    with pytest.raises(DataError, match=rf"{name}: .*{wanted} by its byte order mark.*[cC]onvert it"):
        list(Source(tmp_path / name).batches())


def test_ragged_rows_headers_alone_and_nothing(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,a\n2\n3,b,c\n4,d\n")
    assert read(tmp_path / "a.csv") == (["a", "d"], ["1 field instead of 2", "3 fields instead of 2"])
    (tmp_path / "a.csv").write_bytes(b"id,text\n")
    assert read(tmp_path / "a.csv") == ([], [])
    for name in ("b.jsonl", "b.csv", "b.tsv"):
        (tmp_path / name).write_bytes(b"")
        assert read(tmp_path / name) == ([], [])
    (tmp_path / "b.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"b\.parquet: is damaged or not Parquet"):
        read(tmp_path / "b.parquet")


def test_nul_bytes(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a\0b"}\n{"text": "c\\u0000d"}\n{"text": "e"}\0\n\0\n')
    texts, reasons = read(tmp_path / "a.jsonl")
    assert texts == ["c\0d"]
    assert len(reasons) == 3 and all(reason.startswith("broken JSON") for reason in reasons)
    (tmp_path / "a.csv").write_bytes(b"text\na\0b\nc\n")
    assert read(tmp_path / "a.csv") == (["c"], ["a NUL byte (byte 2 of the record)"])


def test_what_is_not_a_file_as_an_argument(tmp_path):
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere.jsonl")
    os.mkfifo(tmp_path / "fifo.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.jsonl"))
        for name, message in [
            ("loop.jsonl", "cannot be opened .*Check the path"),
            ("gone.jsonl", "cannot be opened"),
            ("fifo.jsonl", "is not a regular file.*write it to a file first"),
            ("s.jsonl", "is not a regular file"),
        ]:
            with pytest.raises(UsageError, match=f"{name}: {message}"):
                Source(tmp_path / name).batches()


def test_what_is_not_a_file_in_a_folder(tmp_path):
    write(tmp_path / "a.jsonl", ["good"])
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "round").symlink_to(".")
    os.mkfifo(tmp_path / "fifo.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.jsonl"))
        texts, reasons = read(tmp_path)
    link = "a symbolic link, which is not followed; name what it points to"
    assert texts == ["good"]
    assert reasons == ["a fifo, not a regular file", link, link, "a socket, not a regular file"]


def test_a_directory_with_the_name_of_a_file_is_a_folder(tmp_path):
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(UsageError, match=r"x\.jsonl: holds no file that can be read"):
        Source(tmp_path / "x.jsonl").batches()
    write(tmp_path / "x.jsonl/a.jsonl", ["inside"])
    assert read(tmp_path / "x.jsonl") == read(tmp_path) == (["inside"], [])


def grow(path):
    with open(path, "ab") as file:
        file.write(path.read_bytes())


def shrink(path):
    os.truncate(path, path.stat().st_size // 2)


def swap(path):
    other = write(path.with_name("other" + path.suffix), ROWS[::-1])
    os.replace(other, path)


NAMES = ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [grow, shrink, swap, os.unlink], ids=lambda change: change.__name__)
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, name, change):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 256)
    monkeypatch.setattr(parquet_rows, "PIECE_BYTES", 256)
    path = write(tmp_path / name)
    reading = Source(path, batch_size=1, on_error="skip").batches(1)
    next(reading)
    change(path)
    with pytest.raises(DataError, match=rf"{name}: (changed|disappeared) while it was being read"):
        list(reading)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [grow, shrink, swap, os.unlink], ids=lambda change: change.__name__)
def test_a_file_that_changes_between_the_passes(tmp_path, name, change):
    path = write(tmp_path / name)
    reading = Source(path).batches(1)
    count = sum(len(batch) for batch in reading)
    change(path)
    decisions = Decisions(np.full(count, KEPT), lambda rows: pa.table({"n": rows}))
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match=rf"{name}: (changed|disappeared) while it was being read"):
        write_documents(reading, decisions, tmp_path / "out", 1)


def test_a_file_that_grows_for_ever_ends_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 256)
    path = write(tmp_path / "a.jsonl")
    rounds = 0
    with pytest.raises(DataError, match="changed while it was being read"):
        for _ in Source(path, batch_size=1).batches(1):
            grow(path) if rounds < 8 else None
            rounds += 1
    assert rounds <= len(ROWS)


@pytest.mark.parametrize("name", [*NAMES, "a.txt"])
def test_a_file_without_permission(tmp_path, name):
    path = write(tmp_path / name)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(UsageError, match=f"{name}: cannot be opened .*permissions"):
        Source(path).batches()
    with pytest.raises(SosieError, match=f"{name}: cannot be read|{name}: is damaged"):
        list(Source(tmp_path).batches())


@pytest.mark.parametrize("ids", [[1, 2], ["x", "y"]])
@pytest.mark.parametrize("link", ["a.jsonl", "z.jsonl"])
def test_a_link_beside_tables_changes_neither_ids_nor_order(tmp_path, ids, link):
    documents = [{"id": name, "text": "a rose is a rose", "stars": stars} for stars, name in enumerate(ids)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (tmp_path / link).symlink_to("m.jsonl")
    result = sosie.dedup(Source(tmp_path, on_error="skip"), keep="max:stars", output=tmp_path / "out")
    assert result.dropped.to_pylist() == [{"id": ids[0], "duplicate_of": ids[1], "similarity": 1.0}]
    rejected = (tmp_path / "out/rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["file"] for line in rejected] == [link]


@pytest.mark.parametrize("line", ['{"\\ud800": 1}', '{"text": {"\\ud800": "a rose"}}'])
def test_names_that_are_no_text_are_said_with_escapes(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text(line + '\n{"text": "a rose"}\n')
    sosie.dedup(Source(path, on_error="skip"), output=tmp_path / "out")
    rejected = json.loads((tmp_path / "out/rejected.jsonl").read_text(encoding="utf-8"))
    assert r"\ud800" in rejected["reason"] and rejected["raw"] == line
    with pytest.raises(SosieError, match=r"\\ud800"):
        sosie.dedup(path)
    path.write_text(line + "\n")
    with pytest.raises(SosieError, match=r"\\ud800"):
        sosie.dedup(path)
