"""Tables in memory as people have them, and what cannot be read."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sosie
from sosie import Source, UsageError

ROWS = {"id": ["a", "b", "c"], "text": ["one two three four five"] * 2 + ["something else entirely, not that"]}


def texts_of(source):
    return [text for batch in source.batches() for text in batch.texts.to_pylist()]


@pytest.mark.parametrize(
    "table",
    [
        pa.table(ROWS),
        pa.table(ROWS).to_reader(max_chunksize=1),
        pa.RecordBatch.from_pydict(ROWS),
        pl.DataFrame(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype("category"),
    ],
    ids=["table", "reader", "batch", "polars", "pandas", "categories"],
)
def test_any_table(table):
    source = Source(table)
    assert texts_of(source) == ROWS["text"] == texts_of(source)
    assert sosie.dedup(source).dropped.to_pylist() == [{"id": "b", "duplicate_of": "a", "similarity": 1.0}]


def test_a_hugging_face_dataset():
    """The same protocol as `datasets.Dataset`, which has no Arrow C stream of its own."""

    class Dataset:
        def with_format(self, kind):
            assert kind == "arrow"
            return Formatted()

    class Formatted:
        def __getitem__(self, rows):
            assert rows == slice(None)
            return pa.table(ROWS)

    Dataset.__module__ = "datasets.arrow_dataset"
    assert texts_of(Source(Dataset())) == ROWS["text"]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (pl.DataFrame({"n": [1]}).lazy(), "the Polars LazyFrame: there is no column 'text'"),
        ([1, 2], r"the list holds int \(item 0"),
        (7, r"got builtins\.int"),
        ({"text": ["a"]}.items(), "the dict_items holds tuple"),
        (pl.Series([1, 2]), "the Polars Series holds int64, not texts"),
        (pa.array([1]), "the Arrow array holds int64, not texts"),
    ],
)
def test_what_is_no_table(documents, message):
    with pytest.raises(UsageError, match=message):
        Source(documents).batches()


def test_polars_types_that_hold_views(tmp_path):
    table = pl.DataFrame(ROWS).with_columns(
        pl.col("id", "text").cast(pl.Categorical),
        kind=pl.Series(["u", "v", "u"], dtype=pl.Enum(["u", "v"])),
        tags=pl.Series([["é"], [], None]),
        meta=pl.Series([{"names": ["a"], "raw": b"b"}] * 3),
    )
    result = sosie.dedup(table, output=tmp_path / "out")
    assert result.dropped.to_pylist() == [{"id": "b", "duplicate_of": "a", "similarity": 1.0}]
    kept = pl.read_parquet(tmp_path / "out/kept/documents.parquet")
    assert kept.to_dicts() == table[[0, 2]].to_dicts()
