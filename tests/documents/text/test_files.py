"""Text files and folders: one document per file, in the order of the relative paths."""

import csv
import json
import os
import socket

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.writing import all_kept, write

import sosie
from sosie.documents import Source, blocks, write_documents
from sosie.documents.columns import Columns
from sosie.documents.inputs import list_inputs
from sosie.documents.text import files as text_files
from sosie.documents.text.files import decode_texts, read_texts
from sosie.errors import DataError, UsageError


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(source, **options):
    """Return (id, text) of every document, and the rejects."""
    stream = source.batches(**options)
    kept, rejects = [], []
    for batch in stream:
        kept += zip(stream.ids.take(batch.rows).to_pylist(), batch.texts.to_pylist(), strict=True)
        rejects += batch.rejects
    assert stream.documents == len(kept) + len(rejects) and stream.expected == stream.documents
    return kept, rejects


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_text_file_is_one_document(tmp_path):
    fill(tmp_path, {"a.txt": b"\xef\xbb\xbfone\ntwo\r\n", "b.MD": "# é", "empty.txt": ""})
    assert read(Source(tmp_path / "a.txt")) == ([("a.txt", "one\ntwo\r\n")], [])
    several = read(Source([tmp_path / "b.MD", tmp_path / "a.txt", tmp_path / "empty.txt"]))[0]
    assert several == [("b.MD", "# é"), ("a.txt", "one\ntwo\r\n"), ("empty.txt", "")]


def test_a_folder_is_its_files_by_relative_path(tmp_path):
    files = {
        "b/x.txt": "1",
        "b.txt": "2",
        "a/c/y.md": "3",
        "b/a.txt": "4",
        ".git/z.txt": "",
        "a/.z.txt": "",
        "n.pdf": "",
    }
    fill(tmp_path, files)
    expected = sorted(name for name in files if "/." not in "/" + name and name != "n.pdf")
    assert [name for name, _ in read(Source(tmp_path))[0]] == expected
    assert [text for _, text in read(Source(str(tmp_path) + "/"))[0]] == [files[name] for name in expected]
    (place,) = list_inputs(tmp_path)
    assert place.path == str(tmp_path) and place.size == 4


def test_folders_with_equal_names_are_told_apart(tmp_path):
    fill(tmp_path, {"x/a.txt": "1", "y/z/a.txt": "2", "y/a.txt": "3"})
    both = read(Source([tmp_path / "y", tmp_path / "x"]))[0]
    assert both == [("y/a.txt", "3"), ("y/z/a.txt", "2"), ("x/a.txt", "1")]
    assert read(Source([tmp_path / "y/z", tmp_path / "x"]))[0] == [("y/z/a.txt", "2"), ("x/a.txt", "1")]
    with pytest.raises(UsageError, match="given twice"):
        Source([tmp_path, tmp_path / "x" / "a.txt"]).batches()


def test_mixed_folders_take_each_file_by_its_suffix(tmp_path):
    fill(tmp_path, {"a.txt": "1", "b.jsonl": '{"text": "2"}\n', "c.txt": "3", "d.csv": "text\n4\n", "e/f.md": "5"})
    pq.write_table(pa.table({"text": ["6"]}), tmp_path / "p.parquet")
    ids = ["a.txt", "b.jsonl:1", "c.txt", "d.csv:2", "e/f.md", "p.parquet:1"]
    assert read(Source(tmp_path))[0] == [(name, str(n + 1)) for n, name in enumerate(ids)]
    write(Source(tmp_path), {2: 0, 3: 0, 4: 2}, tmp_path / "out")
    assert contents(tmp_path / "out/dropped") == {
        "c.txt": b"3",
        "d.csv": b"text,duplicate_of,similarity\n4,a.txt,0.546875\n",
        "e/f.md": b"5",
    }
    assert sorted(contents(tmp_path / "out/kept")) == ["a.txt", "b.jsonl", "d.csv", "p.parquet"]
    assert (tmp_path / "out/dropped.tsv").read_text() == (
        "file\tduplicate_of\tsimilarity\nc.txt\ta.txt\t0.53125\ne/f.md\tc.txt\t0.5625\n"
    )


def test_ids_from_a_column_beside_text_files(tmp_path):
    fill(tmp_path, {"a.jsonl": '{"text": "1", "id": "x"}\n', "b.txt": "2"})
    assert read(Source(tmp_path))[0] == [("x", "1"), ("b.txt", "2")]
    fill(tmp_path, {"0.txt": "0"})
    assert read(Source(tmp_path))[0] == [("0.txt", "0"), ("a.jsonl:1", "1"), ("b.txt", "2")]
    assert read(Source(tmp_path, id_column="id"))[0] == [("0.txt", "0"), ("x", "1"), ("b.txt", "2")]
    fill(tmp_path, {"a.jsonl": '{"text": "1", "id": 7}\n'})
    with pytest.raises(UsageError, match=r"0.txt: the ids of text files are their names.*integers \('id'\)"):
        Source(tmp_path, id_column="id").batches()
    fill(tmp_path, {"a.jsonl": '{"text": "1", "id": "b.txt"}\n'})
    with pytest.raises(DataError, match=r"b.txt: duplicate id 'b.txt', first in a.jsonl, line 1"):
        list(Source(tmp_path, id_column="id").batches())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\xe9", "invalid UTF-8 (byte 4 of the file)"),
        (b"\xc3", "invalid UTF-8 (byte 1 of the file)"),
        (b"\xff\xfea\0", "invalid UTF-8 (UTF-16 by its byte order mark; pass --encoding utf-16, or convert it)"),
        (b"PK\0", "a NUL byte (byte 3 of the file): not text"),
    ],
)
def test_files_that_are_not_text(tmp_path, content, reason):
    fill(tmp_path, {"a.txt": "1", "x/b.txt": content, "x/c.txt": b"\xa9"[:0] + "é".encode()})
    with pytest.raises(DataError) as caught:
        list(Source(tmp_path).batches())
    remedy = "Fix the file or pass --on-error skip, or leave it out with --exclude"
    if reason.startswith("invalid UTF-8 (byte"):
        remedy += ", or name the --encoding, if it is another one, as in cp1252"
    assert str(caught.value) == f"x/b.txt: {reason}. {remedy}."
    kept, (reject,) = read(Source(tmp_path, on_error="skip"))
    assert kept == [("a.txt", "1"), ("x/c.txt", "é")]
    assert (reject.row, reject.file, reject.line, reject.reason) == (1, "x/b.txt", 1, reason)
    counts = write(Source(tmp_path, on_error="skip"), {2: 0}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (1, 1, 1)
    assert sorted(contents(tmp_path / "out")) == ["dropped.tsv", "dropped/x/c.txt", "kept/a.txt"]


def test_links_and_special_files_are_named_and_never_followed(tmp_path):
    fill(tmp_path, {"in/a.txt": "1", "elsewhere/b.txt": "2"})
    folder = tmp_path / "in"
    (folder / "l.txt").symlink_to(tmp_path / "elsewhere/b.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "m.jsonl").symlink_to("m.jsonl")
    (folder / "other").symlink_to("nowhere")
    os.mkfifo(folder / "n.csv")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "s.txt"))
        kept, rejects = read(Source(folder, on_error="skip"))
    assert kept == [("a.txt", "1")]
    found = {reject.file: reject.reason for reject in rejects}
    link = "a symbolic link, which is not followed; name what it points to"
    assert found == {
        "l.txt": link,
        "loop": link,
        "m.jsonl": link,
        "n.csv": "a fifo, not a regular file",
        "s.txt": "a socket, not a regular file",
    }
    with pytest.raises(DataError, match=r"l.txt: a symbolic link.*Fix the file or pass --on-error skip"):
        list(Source(folder).batches())
    with pytest.raises(UsageError, match=r"n.csv: is not a regular file"):
        Source(folder / "n.csv").batches()
    assert read(Source(folder / "l.txt")) == ([("l.txt", "2")], [])


def test_what_sosie_wrote_below_a_folder_is_passed_over_and_counted(tmp_path, caplog):
    fill(tmp_path, {"a.txt": "1", "out/report.json": json.dumps({"format": "sosie-report"}), "out/kept/a.txt": "1"})
    assert read(Source(tmp_path))[0] == [("a.txt", "1")]
    assert f"1 folder that Sosie wrote passed over: {tmp_path}/out. To read what is in one, name it." in caplog.text
    report = sosie.dedup(str(tmp_path)).report
    assert report["counts"]["folders_passed_over"] == 1
    assert report["warnings"][-1] == "1 folder that Sosie wrote passed over, not read."
    assert "folders_passed_over" not in sosie.dedup(str(tmp_path / "a.txt")).report["counts"]
    caplog.clear()
    assert read(Source(tmp_path / "out/kept"))[0] == [("a.txt", "1")]
    fill(tmp_path, {"out/report.json": '{"text": "2"}'})
    assert [name for name, _ in read(Source(tmp_path))[0]] == ["a.txt", "out/kept/a.txt", "out/report.json:1"]
    assert not caplog.text


def test_a_folder_without_files_that_can_be_read(tmp_path):
    fill(tmp_path, {"a.pdf": "", ".a.txt": ""})
    with pytest.raises(UsageError, match=r"holds no file that can be read. Sosie reads .*\*\.txt"):
        Source(tmp_path).batches()


@pytest.mark.parametrize("change", ["grow", "touch", "remove"])
@pytest.mark.parametrize("when", ["reading", "writing"])
def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, change, when):
    folder = fill(tmp_path / "in", {"a.txt": "1", "b.txt": "2"})
    reading = Source(folder).batches()
    if when == "writing":
        list(reading)
    if change == "grow":
        (folder / "b.txt").write_text("22")
    elif change == "touch":
        os.utime(folder / "b.txt", ns=(1, 1))
    else:
        (folder / "b.txt").unlink()
    with pytest.raises(DataError, match=r"b.txt: (changed|disappeared) while it was being read"):
        if when == "reading":
            list(reading)
        else:
            write_documents(reading, all_kept(reading), tmp_path / "out")


def test_names_that_are_not_utf8_and_names_with_tabs(tmp_path):
    folder = fill(tmp_path / "in", {"a\tb.txt": "1", os.fsdecode(b"caf\xe9.txt"): "2"})
    assert read(Source(folder))[0] == [("a\tb.txt", "1"), ("caf\\xe9.txt", "2")]
    write(Source(folder), {0: 1, 1: 0}, tmp_path / "out")
    assert sorted(os.listdir(os.fsencode(tmp_path / "out/dropped"))) == [b"a\tb.txt", b"caf\xe9.txt"]
    with open(tmp_path / "out/dropped.tsv", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", strict=True))
    assert rows[1:] == [["a\tb.txt", "caf\\xe9.txt", "0.5"], ["caf\\xe9.txt", "a\tb.txt", "0.515625"]]


@given(
    texts=st.lists(st.binary(max_size=4) | st.text(max_size=4).map(str.encode), min_size=1, max_size=12),
    dropped=st.sets(st.integers(0, 11)),
    size=st.sampled_from([1, 9, 1 << 20]),
    files=st.sampled_from([1, 3, 4096]),
)
@settings(max_examples=60, deadline=None)
def test_every_file_goes_to_exactly_one_place(tmp_path_factory, texts, dropped, size, files):
    folder = tmp_path_factory.mktemp("texts")
    fill(folder / "in", {f"{place % 3}/{place:02}.txt": text for place, text in enumerate(texts)})
    original = contents(folder / "in")

    def is_text(content):
        try:
            return "\0" not in content.decode()
        except UnicodeDecodeError:
            return False

    names = sorted(original)
    good = [row for row, name in enumerate(names) if is_text(original[name])]
    gone = {row: row for row in dropped if row in good}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        patch.setattr(text_files, "_FILES", files)
        source = Source(folder / "in", on_error="skip")
        kept, rejects = read(source)
        write(source, gone, folder / "out")
    assert kept == [(names[row], original[names[row]].decode().removeprefix("\ufeff")) for row in good]
    assert [reject.file for reject in rejects] == [name for row, name in enumerate(names) if row not in good]
    expected = {("dropped/" if row in gone else "kept/") + names[row]: original[names[row]] for row in good}
    assert {name: data for name, data in contents(folder / "out").items() if name != "dropped.tsv"} == expected
    assert contents(folder / "in") == original


def test_taken_files_are_decoded_alone(tmp_path):
    fill(tmp_path, {"a.txt": "1", "b.txt": b"\xff", "c.txt": "3"})
    (block,) = read_texts(list_inputs(tmp_path)[0].files)
    records = decode_texts(block.take(np.array([1, 2])), Columns("text", "id", pa.large_string()))
    assert records.texts.to_pylist() == ["3"] and records.ids.to_pylist() == ["c.txt"] and list(records.problems) == [0]
