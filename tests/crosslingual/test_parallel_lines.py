"""Pairs of lines: tab-separated ones, and those of two aligned files; and which files are taken for what."""

import bz2
import gzip
import lzma
import os
import tracemalloc

import pyarrow as pa
import pytest

from sosie.crosslingual.parallel.text import Segment, read_parallel
from sosie.errors import DataError, UsageError


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def test_columns_of_tsv(write):
    path = write("a.tsv", 'Haus\thouse\tx\ty\n"Ein\tan"\r\nBaum\t\nOhne\tEnde')
    text = read_parallel(path)
    assert text.segments == [("Haus", "house"), ('"Ein', 'an"'), ("Ohne", "Ende")]
    assert isinstance(text.segments[0], Segment)
    assert (text.read, text.left_out, text.files) == (4, {"one side is empty": 1}, (str(path),))


@pytest.mark.parametrize("head", ["source\ttarget\n", "\ufeffSource\tTARGET\tnote\n"])
def test_a_header_of_tsv_is_none_of_the_pairs(write, head):
    path = write("a.tsv", head + "a\tb\nsource\ttarget\n")
    assert read_parallel(path).segments == [("a", "b"), ("source", "target")]


def test_another_first_line_is_a_pair(write):
    assert read_parallel(write("a.tsv", "Quelle\ttarget\n")).segments == [("Quelle", "target")]


@pytest.mark.parametrize("line", ["only one", "", "two  spaces"])
def test_a_line_without_a_tab_is_named(write, line):
    with pytest.raises(DataError, match=r"a\.tsv, line 2: has no tab"):
        read_parallel(write("a.tsv", f"a\tb\n{line}\nc\td\n"))


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", bz2.compress),
        (".zst", lambda data: bytes(pa.compress(data, "zstd", asbytes=True))),
    ],
)
def test_compressed_files(write, suffix, pack):
    paths = [write(f"a.de{suffix}", pack(b"eins\nzwei\n")), write(f"a.en{suffix}", pack(b"one\ntwo"))]
    assert read_parallel(paths).segments == [("eins", "one"), ("zwei", "two")]
    assert read_parallel(write(f"a.TSV{suffix}", pack(b"a\tb\n"))).segments == [("a", "b")]


def test_damaged_compression(write):
    with pytest.raises(DataError, match=r"a\.tsv\.gz: cannot be read \(damaged or cut short"):
        read_parallel(write("a.tsv.gz", gzip.compress(b"a\tb\n" * 100)[:-9]))


def test_aligned_files(write):
    paths = [write("a.de", "\ufeffeins\r\n\n \nvier\n"), write("a.en", "one\ntwo\n\nfour")]
    text = read_parallel(paths)
    assert text.segments == [("eins", "one"), ("vier", "four")]
    assert text.left_out == {"one side is empty": 1, "both sides are empty": 1}
    assert text.read == 4 and text.files == tuple(map(str, paths))
    assert read_parallel(paths, swap=True).segments == [("one", "eins"), ("four", "vier")]


@pytest.mark.parametrize(("ours", "theirs"), [("1\n2\n3\n", "1\n2\n3\n4\n5"), ("1\n2\n3\n", "1\n"), ("1", "")])
def test_other_numbers_of_lines(write, ours, theirs):
    counts = [len(text.splitlines()) for text in (ours, theirs)]
    with pytest.raises(DataError, match=rf"a\.de has {counts[0]} lines? and .*a\.en has {counts[1]}: "):
        read_parallel([write("a.de", ours), write("a.en", theirs)])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\tb\nc\td\xff\n", r"a\.tsv, line 2: is not UTF-8 \(byte 4 of the line\)"),
        (b"a\tb\n\0\td\n", r"a\.tsv, line 2: has a NUL byte"),
        ("a\tb\n".encode("utf-16"), r"a\.tsv: is UTF-16 by its byte order mark"),
        (b"", r"a\.tsv: no pair of texts and translations \(no pair at all\)"),
        (b"\t\na\t\n", r"\(both sides are empty: 1, one side is empty: 1\)"),
    ],
)
def test_bytes_that_are_no_text(write, content, said):
    with pytest.raises(DataError, match=said):
        read_parallel(write("a.tsv", content))


def test_bad_bytes_of_aligned_files(write):
    with pytest.raises(DataError, match=r"b\.en, line 1: is not UTF-8"):
        read_parallel([write("a.de", "x\n"), write("b.en", b"\xe4\n")])


def test_lines_that_there_is_no_memory_for(write, monkeypatch):
    monkeypatch.setattr("sosie.documents.bounded.MAX_RECORD", 1000)
    monkeypatch.setattr("sosie.crosslingual.parallel.file.BLOCK_BYTES", 100)
    assert read_parallel(write("a.tsv", "x\t" + "y" * 900)).read == 1
    with pytest.raises(DataError, match=r"a\.tsv, line 2: is longer than"):
        read_parallel(write("a.tsv", "a\tb\nx\t" + "y" * 1200))


def test_blocks_do_not_matter(write, monkeypatch):
    monkeypatch.setattr("sosie.crosslingual.parallel.file.BLOCK_BYTES", 1)
    path = write("a.tsv", "\ufeffä\tö\r\n\U0001f339\tß\n")
    assert read_parallel(path).segments == [("ä", "ö"), ("\U0001f339", "ß")]


def test_a_long_line_takes_a_few_times_its_size(write):
    size = 20_000_000
    path = write("a.tsv", b"x\t" + b"y" * size)
    tracemalloc.start()
    try:
        read_parallel(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 5 * size


def test_kinds_together(write):
    paths = [
        write("a.tsv", "a\tb\n"),
        write("b.po", 'msgid "c"\nmsgstr "d"\n'),
        write("c.jsonl", '{"source": "e", "target": "f"}\n'),
        write("d.csv", "target,source\nh,g\n"),
    ]
    assert read_parallel(paths).segments == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]


@pytest.mark.parametrize("names", [["a.de"], ["a.de", "b.tsv"], ["a.de", "b.en", "c.fr"], ["a.txt", "b.jsonl"], ["a"]])
def test_text_without_its_other_side(write, names):
    with pytest.raises(UsageError, match=r"a.*: is taken for text whose lines are those of another file: give exactly"):
        read_parallel([write(name, "a\tb\n") for name in names])


@pytest.mark.parametrize("name", ["a.html", "a.warc.gz", "a.parquet.gz"])
def test_files_that_are_no_parallel_text(write, name):
    with pytest.raises(UsageError, match=r"cannot be read as parallel text\. Sosie reads \*\.tsv"):
        read_parallel([write(name, "x"), write("b.en", "x")])


def test_files_that_are_not_there(write, tmp_path):
    with pytest.raises(UsageError, match=r"no\.tsv: no such file"):
        read_parallel(tmp_path / "no.tsv")
    with pytest.raises(UsageError, match="is a folder"):
        read_parallel([tmp_path])
    with pytest.raises(UsageError, match="give at least one file"):
        read_parallel([])
    with pytest.raises(UsageError, match="cannot be opened"):
        read_parallel("a\0.tsv")
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(UsageError, match="not a regular file"):
        read_parallel(tmp_path / "pipe.tsv")
    path = write("a.tsv", "a\tb\n")
    with pytest.raises(UsageError, match="given twice"):
        read_parallel([path, tmp_path / "." / "a.tsv"])
    with pytest.raises(UsageError, match="given twice"):
        read_parallel([write("a.de", "x"), tmp_path / "a.de"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"languages": ("de", "en")}, "languages is for"),
        ({"source_column": "x"}, "source_column or target_column is for documents"),
        ({"target_column": "x"}, "source_column or target_column is for documents"),
        ({"id_column": "x"}, "id_column is for two files of documents"),
    ],
)
def test_options_that_nothing_heeds(write, options, said):
    with pytest.raises(UsageError, match=said):
        read_parallel(write("a.tsv", "a\tb\n"), **options)
