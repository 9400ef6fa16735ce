"""Files that expand enormously: refused at the limit, in bounded memory, with the remedy said."""

import bz2
import gzip
import json
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.documents.warc.warcs import PACK, record

from sosie.cli.sign import command as sign_command
from sosie.documents import Source, blocks, bounded
from sosie.documents.input import Input
from sosie.documents.inputs import list_inputs
from sosie.documents.parquet.read import read_parquet
from sosie.documents.tables import slices
from sosie.errors import DataError, UsageError

LIMIT = r"expands to more than 200 times its [0-9,]+ bytes \(plus 1 MiB\): .*larger --max-expansion"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr("sosie.documents.input.FREE_EXPANSION", 1 << 20)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(slices, "WORST_BYTES", 1 << 20)


def pack(content, name):
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    return packers.get(name.rpartition(".")[2], lambda data: pa.compress(data, "zstd", asbytes=True))(content)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.csv.gz", "a.tsv.zst", "a.jsonl.bz2", "a.csv.xz"])
@pytest.mark.parametrize("one_line", [False, True])
def test_a_bomb_is_refused_at_the_limit(tmp_path, monkeypatch, name, one_line):
    path = tmp_path / name
    line = b'{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}\n' if "json" in name else b"aaaaaaaaaaaaaaaaaaaaaaaa\n"
    head = b"" if "json" in name else b"text\n"
    path.write_bytes(pack(head + (b"a" * (10 << 20) if one_line else line * (1 << 18)), name))
    most = 200 * path.stat().st_size + (1 << 20)
    read = []
    monkeypatch.setattr(
        Input,
        "check_expansion",
        lambda self, size, check=Input.check_expansion: read.append(size) or check(self, size),
    )
    for on_error in ("raise", "skip"):
        with pytest.raises(DataError, match=f"{name}: {LIMIT}"):
            list(Source(path, on_error=on_error).batches(1))
    assert most < max(read) <= most + (1 << 16)


def test_the_limit_can_be_raised(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(pack(b'{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaa"}\n' * (1 << 16), path.name))
    assert sum(len(batch) for batch in Source(path, max_expansion=2000).batches()) == 1 << 16
    arguments = [str(path), "-o", str(tmp_path / "out"), "--quiet"]
    run = CliRunner().invoke(sign_command, arguments)
    assert isinstance(run.exception, DataError)
    assert CliRunner().invoke(sign_command, [*arguments, "--max-expansion", "2000"]).exit_code == 0
    with pytest.raises(UsageError, match="max_expansion must be at least 1"):
        Source(path, max_expansion=0)


@pytest.mark.parametrize("size", [1000, 1 << 19])
def test_a_line_that_is_too_long_is_rejected_and_those_after_it_are_read(tmp_path, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    monkeypatch.setattr(bounded, "MAX_RECORD", 1 << 20)
    monkeypatch.setattr("sosie.documents.input.MAX_RECORD", 1 << 20)
    path, blanks = tmp_path / "a.jsonl", b" " * (3 << 20)
    whole = [b'{"text": "a"}', b"[" * (3 << 20), b'{"text": "b"}', blanks, blanks + b"1" * (1 << 21)]
    for last in (b"", b"\n", b'\n{"text": "c"}'):
        path.write_bytes(b"\n".join(whole) + last)
        batches = list(Source(path, on_error="skip").batches())
        assert [text for batch in batches for text in batch.texts.to_pylist()] == ["a", "b", *"c" * (len(last) > 1)]
        rejects = [(reject.line, reject.reason, reject.raw) for batch in batches for reject in batch.rejects]
        assert rejects == [(line, "a line longer than 1.0 MB", None) for line in (2, 5)]
    with pytest.raises(DataError, match=r"a.jsonl, line 2: a line longer than 1.0 MB. Fix the line or pass --on-error"):
        list(Source(path).batches())
    path.write_bytes((json.dumps({"text": "a" * 700_000}) + "\n").encode() * 3)
    assert sum(len(batch) for batch in Source(path).batches()) == 3


def test_a_line_of_100_mb_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 4 << 20)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "' + b"a" * 100_000_000 + b'"}\n')
    sizes = [length for batch in Source(path).batches() for length in pc.binary_length(batch.texts).to_pylist()]
    assert sizes == [1, 100_000_000]


LONG = "a" * (1 << 18)


def repeated(count, **columns):
    """Return a table in which one long text stands in every row."""
    array = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([LONG]))
    return pa.table({"text": array, **columns})


def write_packed(table, path, stored):
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=stored)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_a_text_that_a_dictionary_repeats_a_million_times(tmp_path, stored, nested):
    path = tmp_path / "a.parquet"
    table = repeated(1_000_000)
    if nested:
        table = pa.table({"m": pa.StructArray.from_arrays([table["text"].chunk(0)], ["text"])})
    write_packed(table, path, stored)
    assert path.stat().st_size < 50_000
    name = "m.text" if nested else "text"
    with pytest.raises(DataError, match=rf"a\.parquet: {LIMIT}"):
        list(Source(path, text_column=name).batches(1))
    (place,) = list_inputs(path)
    for names in ([name], None):
        batch = next(read_parquet(place, names, 1 << 16, 1))
        assert batch.num_rows == (1 << 20) // len(LONG)


def test_such_a_table_in_memory_comes_in_small_pieces():
    batch = next(Source(repeated(1_000_000)).batches(1))
    assert len(batch) <= 4 * (4 << 20) // len(LONG) and batch.texts[0].as_py() == LONG


def test_texts_that_share_prefixes_come_in_small_pieces(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [LONG] * 300})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}, compression="zstd")
    (place,) = list_inputs(path)
    assert next(read_parquet(place, None, 1 << 16, 1)).num_rows <= 64
    with pytest.raises(DataError, match=LIMIT):
        list(Source(path).batches(1))


def test_columns_read_as_dictionaries_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "WORST_BYTES", 64)
    texts = pa.array(["a rose", None, "is a rose", "a rose"] * 5)
    kinds = [pa.string(), pa.large_string(), pa.binary(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    columns = {str(kind): texts.cast(kind) for kind in kinds}
    nested = pa.StructArray.from_arrays([texts, texts], ["x", "y"])
    schema = pa.schema([pa.field("n", pa.int64(), nullable=False, metadata={"k": "v"}), *pa.table(columns).schema])
    table = pa.table([range(20), *columns.values()], schema=schema.with_metadata({"m": "w"})).append_column("s", nested)
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=8)
    (place,) = list_inputs(path)
    batches = list(read_parquet(place, None, 1 << 16, 1))
    assert max(batch.num_rows for batch in batches) <= 64 // len("is a rose")
    assert pa.Table.from_batches(batches).equals(pq.read_table(path), check_metadata=True)
    picked = pa.Table.from_batches(read_parquet(place, ["s.y", "string"], 1 << 16, 1))
    assert picked.to_pylist() == [{"s.y": text, "string": text} for text in texts.to_pylist()]


def test_ordinary_repetition_is_read_in_large_pieces(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a short text", "another"] * 50_000}), path)
    assert next(Source(path).batches(1)).rows.tolist() == list(range(1 << 16))


@pytest.mark.parametrize("suffix", [".warc.gz", ".warc.zst"])
@pytest.mark.parametrize("kind", ["request", "conversion"])
def test_records_of_warc_expand_no_further(tmp_path, suffix, kind):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK[suffix](record(1, b"a" * (2 << 20), "text/plain", kind)))
    with pytest.raises(DataError, match=LIMIT):
        list(Source(path, on_error="skip").batches())
    assert sum(len(batch) for batch in Source(path, max_expansion=10**6).batches()) == (kind == "conversion")
