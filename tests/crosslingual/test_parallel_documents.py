"""Documents as parallel text: two columns of a file, and two files that are joined by their ids."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.crosslingual.parallel.text import read_parallel
from sosie.errors import DataError, UsageError


@pytest.fixture
def write(tmp_path):
    def written(name, rows):
        path = tmp_path / name
        if name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(rows), path)
        elif isinstance(rows, str):
            path.write_text(rows)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return written


PAIRS = [{"source": "Haus", "target": "house"}, {"source": "Baum", "target": "tree"}]
GERMAN = [{"id": "a", "text": "Haus"}, {"id": "b", "text": "Baum"}, {"id": "c", "text": "Weg"}]
WORDS = {"b": "tree", "x": "lost", "a": "house", "y": ""}
ENGLISH = [{"id": name, "text": word} for name, word in WORDS.items()]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_two_columns(write, name):
    text = read_parallel(write(name, PAIRS))
    assert text.segments == [("Haus", "house"), ("Baum", "tree")] and text.read == 2
    named = [{"de": row["source"], "en": row["target"]} for row in PAIRS]
    named = read_parallel(write("b" + name, named), source_column="en", target_column="de")
    assert named.segments == [("house", "Haus"), ("tree", "Baum")]


def test_one_column_may_be_named(write):
    assert read_parallel(write("a.csv", "de,target\nHaus,house\n"), source_column="de").segments == [("Haus", "house")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_null_is_no_text(write, name):
    rows = [PAIRS[0], {"source": None, "target": "x"}, {"source": "x", "target": None}, {"source": "", "target": "x"}]
    text = read_parallel(write(name, rows))
    assert text.segments == [("Haus", "house")] and text.left_out == {"one side is empty": 3} and text.read == 4


def test_a_column_may_be_absent_in_some_documents(write):
    text = read_parallel(write("a.jsonl", [PAIRS[0], {"source": "x"}, {"target": "x"}, {"x": 1}, PAIRS[1]]))
    assert text.segments == [("Haus", "house"), ("Baum", "tree")]
    assert text.left_out == {"one side is empty": 2, "both sides are empty": 1}


def test_many_batches(write):
    targets = [None if number % 7 == 0 else "y" * (number % 100) for number in range(1, 70_000)]
    rows = [{"source": f"x{number}", "target": target} for number, target in enumerate(targets)]
    text = read_parallel(write("a.jsonl", rows))
    right = [(row["source"], row["target"]) for row in rows if row["target"]]
    assert text.segments == right and text.left_out == {"one side is empty": len(rows) - len(right)}


def test_bad_records_are_named(write):
    with pytest.raises(DataError, match=r"a\.jsonl, line 2: broken JSON"):
        read_parallel(write("a.jsonl", json.dumps(PAIRS[0]) + "\nx\n"))
    with pytest.raises(DataError, match=r"a\.jsonl, line 2: 'target' is a number, not text"):
        read_parallel(write("a.jsonl", [PAIRS[0], {"source": "x", "target": 1}]))


def test_columns_that_are_not_there(write):
    with pytest.raises(UsageError, match=r"a\.csv: there is no column 'source'.*source_column= and target_column="):
        read_parallel(write("a.csv", "de,en\na,b\n"))
    with pytest.raises(UsageError, match="cannot hold both"):
        read_parallel(write("a.csv", "de,en\na,b\n"), source_column="de", target_column="de")


def test_two_files_are_joined_by_their_ids(write):
    paths = [write("de.jsonl", GERMAN), write("en.parquet", ENGLISH)]
    text = read_parallel(paths)
    assert text.segments == [("Haus", "house"), ("Baum", "tree")]
    assert text.left_out == {"id on one side only": 3} and text.read == 5 and text.files == tuple(map(str, paths))
    assert read_parallel(paths[::-1]).segments == [("tree", "Baum"), ("house", "Haus")]


def test_columns_of_joined_files(write):
    paths = [write(f"{number}.csv", f"key,body\n1,{word}\n") for number, word in enumerate(("Haus", "house"))]
    assert read_parallel(paths, id_column="key", text_column="body").segments == [("Haus", "house")]
    with pytest.raises(UsageError, match=r"0\.csv: its documents have no column 'id'.*id_column="):
        read_parallel(paths, text_column="body")
    with pytest.raises(UsageError, match=r"0\.csv: there is no column 'text'.* and id_column=.*joined by their ids"):
        read_parallel(paths, id_column="key")


def test_ids_of_other_types(write):
    paths = [write("a.jsonl", [{"id": 1, "text": "Haus"}]), write("b.jsonl", [{"id": "1", "text": "house"}])]
    assert read_parallel(paths).segments == [("Haus", "house")]


def test_texts_without_a_word_in_joined_files(write):
    ours = [*GERMAN[:2], {"id": "d", "text": None}, {"id": "y", "text": " "}]
    text = read_parallel([write("de.jsonl", ours), write("en.jsonl", ENGLISH)])
    assert text.left_out == {"one side is empty": 1, "both sides are empty": 1, "id on one side only": 1}


def test_ids_are_distinct(write):
    with pytest.raises(DataError, match=r"de\.jsonl, line 4: duplicate id 'a', first in"):
        read_parallel([write("de.jsonl", [*GERMAN, GERMAN[0]]), write("en.jsonl", ENGLISH)])


def test_columns_of_pairs_in_two_files(write):
    paths = [write("a.jsonl", PAIRS[:1]), write("b.jsonl", PAIRS[1:])]
    assert read_parallel(paths, source_column="source").segments == [("Haus", "house"), ("Baum", "tree")]
    assert read_parallel([*paths, write("c.jsonl", PAIRS)]).read == 4
    with pytest.raises(UsageError, match="give source_column= and target_column="):
        read_parallel(paths)
