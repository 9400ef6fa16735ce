"""Whatever documents are given as, they are the same documents; what is none is refused by name."""

import io
from collections import deque
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source
from sosie.documents.memory import given as given_module
from sosie.documents.memory import records, spool
from sosie.documents.memory.given import take
from sosie.documents.source import as_source
from sosie.errors import DataError, UsageError

TEXTS = ["the quick brown fox", "a rose is\na rose", "", "n/a", "Ünïcödé ☃"]
COLUMNS = {"id": list("abcde"), "text": TEXTS, "n": [1, 2, None, 4, 5]}
RECORDS = [{name: column[row] for name, column in COLUMNS.items()} for row in range(len(TEXTS))]


def contents(documents, **options):
    reading = Source(documents, **options).batches()
    texts = [text for batch in reading for text in batch.texts.to_pylist()]
    return texts, reading.ids.take(np.arange(reading.documents)).to_pylist()


class Stream:
    """What another Arrow library gives: a stream of a column."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.chunked_array([TEXTS]).__arrow_c_stream__(requested_schema)


BARE = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "map": lambda: map(str, TEXTS),
    "keys": lambda: dict.fromkeys(TEXTS).keys(),
    "deque": lambda: deque(TEXTS),
    "pandas": lambda: pd.Series(TEXTS, index=[9, 8, 7, 6, 5]),
    "pandas objects": lambda: pd.Series(TEXTS, dtype=object),
    "pandas categories": lambda: pd.Series(TEXTS).astype("category"),
    "polars": lambda: pl.Series("anything", TEXTS),
    "numpy": lambda: np.array(TEXTS),
    "numpy objects": lambda: np.array(TEXTS, object),
    "numpy strings": lambda: np.array(TEXTS, np.dtypes.StringDType()),
    "array": lambda: pa.array(TEXTS),
    "views": lambda: pa.array(TEXTS, pa.string_view()),
    "chunks": lambda: pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
    "stream": Stream,
}


@pytest.mark.parametrize("kind", BARE)
@pytest.mark.parametrize("column", ["text", "body"])
def test_texts_alone(kind, column):
    assert contents(BARE[kind](), text_column=column) == (TEXTS, [0, 1, 2, 3, 4])
    source = Source(BARE[kind]())
    assert not source.has_columns and list(source.batches()) and list(source.batches())  # as often as one likes


TABLES = {
    "list": lambda: RECORDS,
    "generator": lambda: (record for record in RECORDS),
    "columns": lambda: COLUMNS,
    "columns of others": lambda: {"id": np.array(COLUMNS["id"]), "text": pd.Series(TEXTS), "n": pl.Series(range(5))},
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "lazy": lambda: pl.LazyFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "structs": lambda: pa.array(RECORDS),
    "reader": lambda: pa.table(COLUMNS).to_reader(),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    assert contents(TABLES[kind]()) == (TEXTS, COLUMNS["id"])
    assert contents(TABLES[kind](), text_column="id", id_column="text") == (COLUMNS["id"], TEXTS)
    assert Source(TABLES[kind]()).has_columns


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1), st.integers(1, 5), st.integers(1, 40))
def test_any_texts_in_any_batches(texts, size, characters):
    """A stream is the list of its texts, however it is cut and wherever it is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_BATCH", size)
        patch.setattr(records, "_BATCH_CHARACTERS", characters)
        patch.setattr(spool, "IN_MEMORY", characters)
        patch.setattr(given_module, "HEAD", size)
        source = Source.from_texts(text for text in texts)
        assert source.paths.column("text").to_pylist() == texts
        dicts = Source(({"text": text, "n": number} for number, text in enumerate(texts)))
        assert dicts.paths.to_pydict() == {"text": texts, "n": list(range(len(texts)))}


def test_a_stream_is_asked_once_and_kept_without_files(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "IN_MEMORY", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    asked = []

    def stream():
        for number in range(100_000):
            asked.append(number)
            yield f"text number {number}"

    source = Source(stream())
    assert len(asked) == 100_000 and not list(tmp_path.iterdir())
    assert source.paths.num_rows == 100_000 and source.paths.column("text")[99_999].as_py() == "text number 99999"
    assert sum(len(batch) for batch in source.batches()) == 100_000


def test_dicts_that_differ_have_all_columns(monkeypatch):
    rows = [{"text": "a"}, {"text": "b", "n": 1}, {"text": "c", "n": 2.5, "tags": ["x"]}]
    expected = {"text": ["a", "b", "c"], "n": [None, 1, 2.5], "tags": [None, None, ["x"]]}
    assert take(rows, "text").paths.to_pydict() == expected
    monkeypatch.setattr(records, "_BATCH", 1)
    assert take(iter(rows), "text").paths.to_pydict() == expected
    with pytest.raises(UsageError, match="'n' holds int64 at first and string later"):
        take(iter([{"text": "a", "n": 1}, {"text": "b", "n": "x"}]), "text")


def test_null_texts_are_bad_records():
    for documents in (["a", None], pd.Series(["a", None]), [{"text": "a"}, {"text": None}], [{"text": "a"}, {"n": 1}]):
        with pytest.raises(DataError, match=r"row 1 \(counted from 0\): 'text' is null"):
            list(Source(documents).batches())
        reading = Source(documents, on_error="skip").batches()
        assert [text for batch in reading for text in batch.texts.to_pylist()] == ["a"] and reading.rejected == 1


def test_a_title_names_what_was_given():
    titles = [
        Source(BARE["polars"]()),
        Source(TABLES["list"]()),
        Source.from_texts(["docs.jsonl"]),
        Source({"text": ["a"]}),
    ]
    assert [source.batches().inputs[0].path for source in titles] == [
        "the Polars Series",
        "the list of dicts",
        "the list of texts",
        "the dict of columns",
    ]
    assert repr(titles[1]) == "Source(the list of dicts: 5 documents)"
    assert repr(Source("a.jsonl", text_column="body")) == "Source('a.jsonl', text_column='body')"


REFUSED = [
    (None, "documents are None"),
    (5, "got builtins.int"),
    (b"bytes", "decode them"),
    ([b"bytes"], r"item 0.*decode"),
    (["a", b"bytes"], r"item 1.*decode"),
    (["a", 5], r"holds int \(item 1"),
    ([5], "neither a path nor a text nor a dict"),
    ([("x", "a")], "a dict for each document"),
    ([], "the list is empty"),
    (iter([]), "was it used before"),
    ({}, "the dict is empty"),
    ({"a", "b"}, "no order"),
    ({"text": "a"}, "'text' is str"),
    ({"text": 5}, "'text' is int"),
    ({"text": {0: "a"}}, "'text' is dict"),
    (pd.DataFrame({"text": ["a", "b"], "n": [1, "x"]}), "the pandas DataFrame is not a table that Arrow can hold"),
    ({"text": ["a"], "id": [1, 2]}, "'text' has 1, 'id' has 2"),
    ({5: ["a"]}, "names of type str"),
    ([{"text": "a"}, "b"], r"item 1 \(counted from 0\) is str"),
    ([{"text": 5}], r"'text' of item 0 \(counted from 0\) is int"),
    ([{"text": "a", "n": 1}, {"text": "b", "n": "x"}], r"'n' holds values of several types \(int, str\)"),
    (io.StringIO("a"), "an open file"),
    (np.array([["a"]]), "2 dimensions"),
    (np.array([b"a"]), "decode"),
    (np.array([1.0]), "float64, not texts"),
    (pa.array([1]), "the Arrow array holds int64"),
    (pa.array([b"a"]), "decode"),
    (pd.Series([1]), "the pandas Series holds int64"),
    ([Path("a"), 5], "item 1"),
    ([pl.DataFrame({"text": ["a"]})], "the list holds DataFrame"),
]


@pytest.mark.parametrize(("documents", "message"), REFUSED, ids=[str(row) for row in range(len(REFUSED))])
def test_what_is_no_documents(documents, message):
    with pytest.raises(UsageError, match=message):
        Source(documents)


def test_lone_surrogates_are_told_by_their_place():
    with pytest.raises(DataError, match=r"the list, item 1 \(counted from 0\) is not valid Unicode"):
        Source(["a", "b\ud800"])


def test_from_texts_takes_nothing_for_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("what is in the file")
    assert contents(["a.txt"]) == (["what is in the file"], ["a.txt"])
    reading = Source.from_texts(["a.txt"], ids=["x"]).batches()
    assert [batch.texts.to_pylist() for batch in reading] == [["a.txt"]]
    assert reading.ids.take([0]).to_pylist() == ["x"]
    for wrong, message in (
        ("a.txt", "put it into a list"),
        ({"text": ["a"]}, "which sosie.Source takes"),
        (5, "holds no texts"),
    ):
        with pytest.raises(UsageError, match=message):
            Source.from_texts(wrong)
    assert Source.from_texts(["a"], text_column="body").batches().columns.text == "body"
    with pytest.raises(UsageError, match="1 ids for 2 texts"):
        Source.from_texts(["a", "b"], ids=[1])


def test_texts_alone_have_no_ids():
    with pytest.raises(UsageError, match="id_column='key': the list of texts has no columns"):
        Source(["a"], id_column="key")


def test_a_source_has_its_own_options():
    source = Source(["a"])
    assert as_source(source) is source and as_source(["a"], text_column="body", id_column=None).text_column == "body"
    with pytest.raises(UsageError, match="text_column: a Source says that itself"):
        as_source(source, text_column="body")
