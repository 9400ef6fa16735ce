"""Parquet and Arrow files that are damaged: they are read, or a named error says which file; the process goes on."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents import broken_tables
from tests.trials import SEED, run_trials, trials

import sosie
from sosie.documents.parquet.footer import read_footer
from sosie.documents.source import Source


def test_whatever_is_wrong_with_a_file_has_a_name(tmp_path):
    count = trials(300)
    outcomes, wrong = run_trials("tests.documents.broken_tables", tmp_path, count)
    assert not wrong, f"{len(wrong)} of {count} trials from SOSIE_FUZZ_SEED={SEED} on, by their numbers"
    assert outcomes.total() == count and outcomes["named"] and outcomes["read"]


@pytest.mark.parametrize("kind", broken_tables.PARQUET)
def test_the_footer_says_what_pyarrow_says(kind, tmp_path):
    broken_tables.make(tmp_path / "a.parquet", kind)
    content = (tmp_path / "a.parquet").read_bytes()
    footer, metadata = read_footer(io.BytesIO(content), len(content)), pq.read_metadata(tmp_path / "a.parquet")
    assert footer.rows == metadata.num_rows
    for number, group in enumerate(footer.groups):
        other = metadata.row_group(number)
        assert group.rows == other.num_rows
        for chunk, known in zip(group.chunks, map(other.column, range(other.num_columns)), strict=True):
            assert (chunk.path, chunk.type, chunk.compression) == (
                known.path_in_schema,
                known.physical_type,
                known.compression,
            )
            assert (chunk.packed, chunk.unpacked) == (known.total_compressed_size, known.total_uncompressed_size)
            assert chunk.encodings == set(known.encodings)
            assert (chunk.has_dictionary, chunk.has_statistics) == (known.has_dictionary_page, known.is_stats_set)


@pytest.mark.parametrize("options", [{}, {"write_statistics": False}, {"compression": "lz4", "version": "1.0"}])
def test_the_footer_of_columns_of_many_types(options):
    columns = {
        "whole": pa.array([1, None], pa.int8()),
        "real": pa.array([1.5, None]),
        "yes": pa.array([True, None]),
        "bytes": pa.array([b"a", None], pa.binary(1)),
        "day": pa.array([1, None], pa.date32()),
        "names": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        "nothing": pa.nulls(2),
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, **options)
    content = sink.getvalue()
    (group,), metadata = read_footer(pa.BufferReader(content), content.size).groups, pq.read_metadata(content)
    known = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    assert [(chunk.path, chunk.type) for chunk in group.chunks] == [
        (each.path_in_schema, each.physical_type) for each in known
    ]
    assert [chunk.has_statistics for chunk in group.chunks] == [each.is_stats_set for each in known]


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (b"\x04text\x15\x00", b"\x04text\x15\x10"),  # in the metadata of the column: the compression 8, not 0
        (b"\x25\x02\x18\x04text", b"\x25\x00\x18\x04text"),  # in the schema: required, with levels nevertheless
    ],
)
def test_what_ends_pyarrow_when_it_is_asked_for_column_chunks_does_not_end_a_run(said, instead, tmp_path):
    path = tmp_path / "a.parquet"
    broken_tables.make(path, "plain")
    content = path.read_bytes()
    assert content.count(said) == 1
    path.write_bytes(content.replace(said, instead))
    with pytest.raises(sosie.DataError, match=r"a\.parquet"):
        sosie.dedup(path, output=tmp_path / "kept")


def test_a_footer_that_tells_of_other_rows_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a rose"] * 3}), path)
    content = path.read_bytes()
    rows = bytes([0x16, 2 * 3, 0x19])  # of the file: a number, 3, and then the list of the row groups
    assert content.count(rows) == 1
    path.write_bytes(content.replace(rows, bytes([0x16, 0, 0x19])))
    with pytest.raises(sosie.DataError, match=r"a\.parquet: is damaged .*tells of 0 rows"):
        sosie.dedup(path)


def test_pages_are_compared_with_their_checksums(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [f"roses number {i}" for i in range(9)]})
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"roses number 4", b"rises number 4", 1))
    with pytest.raises(sosie.DataError, match=r"a\.parquet: is damaged"):
        list(Source(path).batches())


def test_names_of_columns_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "a.arrow"
    table = pa.table({"text": ["a"], "words": [["b"]]})
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"words", b"wor\xff\xff"))
    with pytest.raises(sosie.DataError, match=r"a\.arrow: is damaged"):
        list(Source(path).batches())


def test_a_footer_of_lists_that_never_end_is_refused():
    for footer in (b"\x19\xfc\xff\xff\xff\xff\x0f", b"\x19" * 4000, b"\x1c" * 4000, b"\x19\xf9" + b"\x1f" * 4000, b""):
        content = b"PAR1" + footer + np.uint32(len(footer)).tobytes() + b"PAR1"
        with pytest.raises(ValueError, match="footer"):
            read_footer(io.BytesIO(content), len(content))
