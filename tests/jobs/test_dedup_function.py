"""`sosie.dedup`: everyday parameters without a second class, and results in the types that people have."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sosie
from sosie.errors import DataError, MismatchError, UsageError
from sosie.report.timing import Silent

TEXTS = ["the quick brown fox jumps over the lazy dog"] * 2 + [
    "something else entirely, not a fox",
    "a dog sleeps here",
]
ROWS = {"id": ["a", "b", "c", "d"], "text": TEXTS, "stars": [1, 2, 3, 4]}


@pytest.fixture(scope="module")
def result():
    return sosie.dedup(ROWS)


def test_the_parameters_are_those_of_the_class(tmp_path):
    """What `dedup` says at once is what the class and a source say."""
    table = pa.table({"body": TEXTS, "key": [7, 8, 9, 10], "stars": [1, 2, 3, 4]})
    options = {
        "similarity": "cosine",
        "weighting": "tf",
        "keep": "max:stars",
        "clusters": "transitive",
        "method": "exact",
    }
    mine = sosie.dedup(table, 0.7, text_column="body", id_column="key", width=1, unit="char", **options)
    job = sosie.Deduplicator(threshold="0.7", shingles=sosie.Shingles(1, "char"), **options)
    theirs = job.run(sosie.Source(table, text_column="body", id_column="key"))
    assert mine.kept.equals(theirs.kept) and mine.pairs.equals(theirs.pairs)
    assert mine.report["parameters"] == theirs.report["parameters"]
    assert sosie.dedup(table, text_column="body", shingles=sosie.Shingles(5)).report["parameters"]["method"][
        "shingles"
    ] == {
        "width": 5,
        "unit": "word",
    }


def test_a_reference_is_read_like_the_documents(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text('{"key": 1, "body": "a dog sleeps here"}\n')
    documents = [{"key": key, "body": text} for key, text in enumerate(TEXTS)]
    read = {"text_column": "body", "id_column": "key"}
    for against in (str(path), [path], [{"key": 1, "body": TEXTS[3]}], [TEXTS[3]], pl.Series([TEXTS[3]])):
        found = sosie.dedup(documents, against=against, **read)
        assert found.kept.to_pylist() == [0, 2] and found.dropped.to_pylist()[1]["duplicate_in"] == "reference"
    for against in (sosie.Source.from_texts([TEXTS[3]]), sosie.Reference([TEXTS[3]], only=True)):
        assert 3 not in sosie.dedup(documents, against=against, **read).kept.to_pylist()


def test_outputs(tmp_path):
    sosie.dedup(TEXTS, output=tmp_path / "out")
    assert (tmp_path / "out/kept/documents.parquet").exists()
    with pytest.raises(UsageError, match="is not empty"):
        sosie.dedup(TEXTS, output=tmp_path / "out")
    sosie.dedup(TEXTS, output=tmp_path / "out", overwrite=True, annotate=True)
    assert (tmp_path / "out/annotated/documents.parquet").exists()
    sosie.dedup(TEXTS, output=sosie.Output(tmp_path / "more", annotate=True))
    assert (tmp_path / "more/annotated/documents.parquet").exists()
    with pytest.raises(UsageError, match="annotate says what is written"):
        sosie.dedup(TEXTS, annotate=True)


def test_memory_as_people_write_it():
    assert sosie.dedup(TEXTS, memory="4GB").kept.to_pylist() == sosie.dedup(TEXTS, memory=4 * 10**9).kept.to_pylist()
    for wrong in ("4 gigs", 0, -1, True, 4.5):
        with pytest.raises(UsageError, match="is not a size"):
            sosie.dedup(TEXTS, memory=wrong)
    with pytest.raises(UsageError, match="too little"):
        sosie.Deduplicator().run(TEXTS, memory="1MB")


def test_bad_records_are_skipped_on_request():
    with pytest.raises(DataError, match="row 1"):
        sosie.dedup(["a rose", None])
    found = sosie.dedup(["a rose", None], on_error="skip")
    assert found.report.counts.rejected == 1 and found.filter(["a rose", None]) == ["a rose"]
    assert found.to_arrow().column("kept").to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 2, "shingles": sosie.Shingles(3)}, "width and shingles say the same"),
        ({"width": 2, "method": sosie.Exact()}, r"a spec has its own shingles, as in Exact\(shingles="),
        ({"shingles": sosie.Shingles(2), "method": sosie.Minhash()}, "shingles: a method that is given as a spec"),
        ({"width": 0}, "1 to 1024"),
        ({"unit": "words"}, "unit='words'"),
        ({"similarity": "jacard"}, "jaccard, cosine or containment"),
        ({"keep": "newest"}, "newest:date"),
        ({"threshold": 80}, r"for 80 percent, write 0\.8"),
        ({"on_error": "ignore"}, "'raise' or 'skip'"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(UsageError, match=message):
        sosie.dedup(TEXTS, **options)


def test_progress_of_ones_own_is_told_and_bars_need_someone_who_looks(capfd):
    class Told(Silent):
        def __init__(self):
            self.stages = []

        def start(self, stage, total):
            self.stages.append(stage)

    told = Told()
    sosie.dedup(TEXTS, progress=told)
    assert told.stages[:2] == ["read", "collapse"]
    sosie.dedup(TEXTS, progress=True)  # standard error is no terminal here
    assert "read" not in capfd.readouterr().err


FRAMES = {
    "arrow": pa.table(ROWS),
    "batch": pa.RecordBatch.from_pydict(ROWS),
    "array": pa.array(TEXTS),
    "chunks": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "pandas": pd.DataFrame(ROWS, index=[4, 3, 2, 1]),
    "pandas series": pd.Series(TEXTS, index=[4, 3, 2, 1]),
    "polars": pl.DataFrame(ROWS),
    "polars series": pl.Series(TEXTS),
    "numpy": np.array(TEXTS),
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "dicts": pa.table(ROWS).to_pylist(),
    "columns": ROWS,
}


def plain(data):
    """Any of these as lists of Python objects."""
    if isinstance(data, dict):
        return {name: list(column) for name, column in data.items()}
    if isinstance(data, pd.DataFrame):
        return data.to_dict("list")
    if isinstance(data, pl.DataFrame):
        return data.to_dict(as_series=False)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return data.to_pydict()
    return [each.as_py() if isinstance(each, pa.Scalar) else each for each in data]


@pytest.mark.parametrize("kind", FRAMES)
def test_filter_gives_what_stays_in_its_own_type(result, kind):
    data = FRAMES[kind]
    stays = result.filter(data)
    assert type(stays) is type(data)
    given, found = plain(data), plain(stays)
    if isinstance(given, dict):
        assert found == {name: [column[row] for row in (0, 2, 3)] for name, column in given.items()}
    else:
        assert found == [given[row] for row in (0, 2, 3)]
    if kind.startswith("pandas"):
        assert stays.index.tolist() == [4, 2, 1]


def test_filter_of_a_query_stays_one(result):
    stays = result.filter(pl.LazyFrame(ROWS))
    assert isinstance(stays, pl.LazyFrame) and stays.collect()["id"].to_list() == ["a", "c", "d"]


def test_what_cannot_be_filtered(result):
    with pytest.raises(MismatchError, match="1 row to filter, and 4 documents"):
        result.filter(TEXTS[:1])
    with pytest.raises(MismatchError, match="3 rows"):
        result.filter({"text": TEXTS[:3]})
    for wrong in ((text for text in TEXTS), "text", 5):
        with pytest.raises(UsageError, match="cannot be filtered"):
            result.filter(wrong)


def test_frames_have_a_row_for_each_document(result):
    expected = {
        "id": ["a", "b", "c", "d"],
        "kept": [True, False, True, True],
        "cluster": [0, 0, None, None],
        "duplicate_of": [None, "a", None, None],
        "similarity": [None, 1.0, None, None],
    }
    assert result.to_arrow().to_pydict() == expected
    assert result.to_polars().to_dict(as_series=False) == expected
    frame = result.to_pandas()
    assert frame["cluster"].dtype == "Int64" and frame["kept"].dtype == bool
    assert frame.astype(object).where(frame.notna(), None).to_dict("list") == expected


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_say_what_to_install(result, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=f"not installed: pip install {library}"):
        getattr(result, f"to_{library}")()


def test_a_result_is_readable(result):
    assert repr(result).splitlines() == [
        "Deduplication",
        "  documents  4",
        "  kept       3",
        "  dropped    1, each verified: Jaccard >= 0.8 with the kept one",
        "  pairs      1 in 1 cluster, the largest of 2",
        "  method     exact, recall 100 % predicted",
    ]
    assert repr(result.report).startswith("Report(4 documents: 3 kept, 1 dropped; ")
    assert "Jaccard &gt;= 0.8" in result._repr_html_()


def test_a_result_of_identical_texts_is_readable():
    found = sosie.dedup(["A rose", "a rose", "A rose"], method="identical")
    assert "  dropped    1, each identical to the kept one, byte for byte\n" in repr(found)
    assert "  dropped    0 (identical to the kept one, byte for byte)" in repr(sosie.dedup(["A"], method="identical"))


def test_a_result_with_everything_is_readable():
    texts = ["one two three", "!!!", None, "one two three four"]
    found = sosie.dedup(texts, 0.5, on_error="skip", against=["one two three"], similarity="cosine", weighting="tf")
    lines = repr(found)
    for said in ("rejected   1", "2 of them because of the reference", "Cosine of tf weights >= 0.5"):
        assert said in lines, lines


def test_nothing_in_a_notebook_is_markup_of_others():
    from sosie.shown import as_html

    page = as_html("<img src=x>", [("<script>", "a & b <b>"), ("x", '"')])
    assert "<img" not in page and "<script" not in page and "<b>" not in page and "&amp;" in page


def test_join_takes_documents():
    pairs = sosie.join(TEXTS, threshold=0.9)
    assert len(pairs) == 1 and pairs.table.to_pylist() == [{"a": 0, "b": 1, "similarity": 1.0}]
    assert repr(pairs) == "JoinedDocuments(1 pair of 4 documents)"
    assert pairs.to_pandas().shape == (1, 3) and pairs.to_polars().shape == (1, 3)
    across = sosie.join(pd.DataFrame(ROWS), ({"id": 5, "text": text} for text in TEXTS[:1]), measure="containment")
    assert across.table.to_pylist() == [{"a": "a", "b": 5, "similarity": 1.0}, {"a": "b", "b": 5, "similarity": 1.0}]
    with pytest.raises(UsageError, match="radius is for signatures"):
        sosie.join(TEXTS, radius=3)
    with pytest.raises(UsageError, match="exact: leave it out"):
        sosie.join(TEXTS, method="blocks")
    with pytest.raises(UsageError, match="cannot join list with Features"):
        sosie.join(TEXTS, sosie.Shingles().extract(TEXTS))
