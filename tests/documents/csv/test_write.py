"""CSV and TSV are written as they came: kept records byte for byte, dropped ones with two more columns."""

import csv
import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.writing import all_kept, write

from sosie.documents import Source, blocks, write_documents
from sosie.errors import DataError


def test_records_are_copied_byte_for_byte(tmp_path):
    content = b'\xef\xbb\xbfid,"text",similarity\r\nx,a,\r\n\r\n"y,""1""","b\nb",0\n1,2\nz, c ,""'
    (tmp_path / "a.csv").write_bytes(content)
    counts = write(Source(tmp_path / "a.csv", on_error="skip"), {0: 1, 1: 1}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (1, 2, 1)
    assert (tmp_path / "out/kept/a.csv").read_bytes() == b'id,"text",similarity\r\nz, c ,""\n'
    assert (tmp_path / "out/dropped/a.csv").read_bytes() == (
        b'id,"text",similarity,duplicate_of,similarity_1\r\n'
        b'x,a,,"y,""1""",0.5\r\n"y,""1""","b\nb",0,"y,""1""",0.515625\n'
    )


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_the_header_comes_first_in_every_compression(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 50)
    codec = {"": None, ".gz": "gzip", ".zst": "zstd"}[suffix]
    content = b"text\tn\n" + b"".join(b"number %d\t%d\n" % (i, i) for i in range(99))
    packed = {"": content, ".gz": gzip.compress(content), ".zst": pa.compress(content, "zstd", asbytes=True)}[suffix]
    (tmp_path / f"a.tsv{suffix}").write_bytes(packed)
    write(Source(tmp_path / f"a.tsv{suffix}"), {5: 1, 98: 0}, tmp_path / "out")
    written = {}
    for kind in ("kept", "dropped"):
        with pa.input_stream(str(tmp_path / "out" / kind / f"a.tsv{suffix}"), compression=codec) as stream:
            written[kind] = stream.read()
    assert written["kept"] == content.replace(b"number 5\t5\n", b"").replace(b"number 98\t98\n", b"")
    assert (
        written["dropped"]
        == (
            f"text\tn\tduplicate_of\tsimilarity\nnumber 5\t5\ta.tsv{suffix}:3\t0.578125\n"
            f"number 98\t98\ta.tsv{suffix}:2\t2.03125\n"
        ).encode()
    )


def test_a_header_alone_and_an_empty_file(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text")
    (tmp_path / "b.csv").write_bytes(b"")
    write(Source(str(tmp_path / "*.csv")), {}, tmp_path / "out")
    assert (tmp_path / "out/kept/a.csv").read_bytes() == b"text\n"
    assert (tmp_path / "out/kept/b.csv").read_bytes() == b"" and not (tmp_path / "out/dropped").exists()


@given(
    table=st.lists(st.tuples(st.text('ab",\n\r', max_size=6), st.text('a"\t,\n', max_size=4)), min_size=1, max_size=20),
    dropped=st.sets(st.integers(0, 19)),
    size=st.sampled_from([1, 30, 10_000]),
)
@settings(max_examples=100, deadline=None)
def test_kept_and_dropped_are_the_input(tmp_path_factory, table, dropped, size):
    folder = tmp_path_factory.mktemp("write")
    gone = {row: 0 for row in dropped if row < len(table)}
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerows([("text", "note"), *table])
    (folder / "a.csv").write_bytes(sheet.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        write(Source(folder / "a.csv"), gone, folder / "out")
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerows([("text", "note"), *(row for place, row in enumerate(table) if place not in gone)])
    assert (folder / "out/kept/a.csv").read_bytes() == sheet.getvalue().encode()
    if gone:
        with open(folder / "out/dropped/a.csv", newline="") as file:
            found = list(csv.reader(file, strict=True))
        expected = [[*table[row], "a.csv:2", str(0.5 + row / 64)] for row in sorted(gone)]
        assert found == [["text", "note", "duplicate_of", "similarity"], *expected]


def test_a_file_that_changed_since_it_was_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\na\n")
    reading = Source(path).batches()
    assert [len(batch) for batch in reading] == [1]
    path.write_bytes(b"text\na\nb\n")
    with pytest.raises(DataError, match=r"a.csv: changed while it was being read"):
        write_documents(reading, all_kept(reading), tmp_path / "out")
