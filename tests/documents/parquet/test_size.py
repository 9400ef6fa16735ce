"""What is kept of a Parquet file is no larger than the file, however that was written."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents.writing import write

from sosie.documents import Source
from sosie.documents.inputs import list_inputs
from sosie.documents.parquet.settings import read_settings


@pytest.fixture(scope="module")
def table():
    chance = random.Random(3)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(3000)]
    texts = [" ".join(chance.choices(words, k=40)) for _ in range(4000)]
    kinds = chance.choices(["news", "blog", "wiki"], k=4000)
    return pa.table({"key": [f"{chance.getrandbits(64):x}" for _ in texts], "kind": kinds, "text": texts})


DELTA = {"key": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "kind": "PLAIN"}
WAYS = {
    "snappy": {},
    "none": {"compression": "none"},
    "zstd-1": {"compression": "zstd"},
    "zstd-9": {"compression": "zstd", "compression_level": 9},
    "zstd-19": {"compression": "zstd", "compression_level": 19},
    "gzip-9": {"compression": "gzip", "compression_level": 9},
    "brotli": {"compression": "brotli"},
    "without dictionaries": {"use_dictionary": False, "write_statistics": False},
    "delta": {"compression": "zstd", "use_dictionary": False, "column_encoding": DELTA},
    "without the schema": {"store_schema": False},
    "by column": {"compression": {"key": "snappy", "kind": "none", "text": "zstd"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_all_of_a_file_is_as_large_as_the_file(tmp_path, table, way):
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, **WAYS[way])
    write(Source(path), {}, tmp_path / "out")
    kept = tmp_path / "out/kept/a.parquet"
    assert pq.read_table(kept).equals(table)
    assert kept.stat().st_size <= 1.002 * path.stat().st_size
    # All but a few are smaller in any case.
    write(Source(path), {number: 0 for number in range(1, 400)}, tmp_path / "less")
    assert (tmp_path / "less/kept/a.parquet").stat().st_size < path.stat().st_size


def test_polars(tmp_path, table):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.from_arrow(table).write_parquet(path)
    write(Source(path), {}, tmp_path / "out")
    assert (tmp_path / "out/kept/a.parquet").stat().st_size <= 1.002 * path.stat().st_size


def test_strong_levels_are_taken_only_where_they_are_needed(tmp_path, table):
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="zstd", compression_level=19)
    (place,) = list_inputs(path)
    levels = [read_settings(place, share)["compression_level"]["text"] for share in (1.0, 0.9, 0.3)]
    assert levels == sorted(levels, reverse=True) and levels[-1] == 1 and levels[0] >= 15


def test_files_without_rows_or_groups(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    write(Source(path), {}, tmp_path / "out")
    assert pq.read_table(tmp_path / "out/kept/a.parquet").num_rows == 0
    nested = pa.table({"text": ["a", "b"], "tags": [["x"], ["y", "z"]], "n": np.arange(2)})
    pq.write_table(nested, path, compression="zstd")
    write(Source(path), {1: 0}, tmp_path / "nested")
    assert pq.read_table(tmp_path / "nested/kept/a.parquet").equals(nested.slice(0, 1))
