"""A side that is read: its words, ids and texts by row, even where records were rejected; and translations of it."""

import json

import numpy as np
import pytest

from sosie.crosslingual.sides import read_side
from sosie.documents import Source
from sosie.errors import DataError
from sosie.storage.room import Room


@pytest.fixture
def records(tmp_path):
    lines = [json.dumps({"id": f"i{n}", "text": f"text number{n}"}) for n in range(6)]
    lines[1:1] = ["broken"]
    lines[4:4] = ['{"id": "x", "text": 5}']
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return Source(path, on_error="skip", batch_size=3)


def test_rows_are_those_that_could_be_read(records):
    told = []
    side = read_side(records.batches(), Room("."), advance=told.append)
    assert len(side.terms) == 6 == sum(told) and len(side.rejects) == 2
    assert side.documents.tolist() == [0, 2, 3, 5, 6, 7]
    assert side.terms.words == ["text", *(f"number{n}" for n in range(6))]
    assert side.ids(np.array([4, 1])).to_pylist() == ["i4", "i1"]
    assert side.texts(np.array([3, 1, 5])) == {row: f"text number{row}" for row in (3, 1, 5)}
    assert side.texts(np.empty(0, np.int64)) == {} and side.translated is None


def test_translations_are_counted_beside(records):
    side = read_side(records.batches(), Room("."), lambda texts: [text.upper() + " more" for text in texts])
    assert side.translated.words == ["text", "number0", "more", *(f"number{n}" for n in range(1, 6))]
    assert len(side.translated) == len(side.terms) == 6 and side.terms.frequencies.tolist() == [6] + [1] * 6


@pytest.mark.parametrize(
    "made", [lambda texts: texts[1:], lambda texts: tuple(texts), lambda texts: [None] * len(texts)]
)
def test_what_are_no_translations(records, made):
    with pytest.raises(DataError, match=r"translate must return a list of \d texts, one for each"):
        read_side(records.batches(), Room("."), made)


def test_no_document(tmp_path):
    (tmp_path / "none.jsonl").write_text("\n")
    with pytest.raises(DataError, match=r"none\.jsonl: there is no document"):
        read_side(Source(tmp_path / "none.jsonl").batches(), Room("."))
