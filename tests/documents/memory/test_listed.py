"""A path is a path only if it is one: all of a list, or none of it; what is in doubt is refused."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source
from sosie.documents.memory.listed import HEAD, Paths, are_paths
from sosie.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("data/a.jsonl", "data/b.jsonl", "my notes.txt"):
        (tmp_path / name).write_text('{"text": "a rose"}\n')
    return tmp_path


@pytest.mark.parametrize(
    "items",
    [
        ["data"],
        ["data/a.jsonl", "data/b.jsonl"],
        ["data/*.jsonl"],
        ["my notes.txt", "data"],
        ["my *.txt"],
        ["-"],
        ["-", "data"],
        ["s3://bucket/a.jsonl"],
        ["s3://bucket/a.jsonl", "data"],
        [Path("nowhere")],
        [Path("nowhere"), "a rose"],
    ],
)
def test_paths(items):
    assert are_paths(items)


@pytest.mark.parametrize(
    "items",
    [
        ["a rose is a rose"],
        ["rose", "nose"],
        ["a rose", "n/a", "and/or"],
        ["a tweet", "https://t.co/abc", "-"],
        ["why?", "a [sic] rose", "**bold** text"],
        ["see notes.txt for more", "a rose"],
        ["line one\nline/two.txt"],
        ["x" * 5000, "/" * 5000],
        ["", "a\0b"],
        ["a rose", None],
    ],
)
def test_texts(items):
    assert not are_paths(items)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["data/c.jsonl"], r"'data/c.jsonl': no such file.*from_texts"),
        (["data/a.jsonl", "data/c.jsonl"], r"'data/c.jsonl': no such file"),
        (["missing.txt", "also missing.csv"], r"'missing.txt': no such file"),
        (["other/folder"], r"'other/folder': no such file"),
        (["s3://bucket/a.jsonl", "data/c.jsonl"], r"'data/c.jsonl': no such file"),
        (
            ["data", "a rose is a rose"],
            r"'data' \(item 0.*is there.*'a rose is a rose' \(item 1\) is a text.*from_paths",
        ),
        (["a rose is a rose", "data/c.jsonl"], r"'data/c.jsonl' \(item 1.*looks like a path that is not there"),
        (["a rose is a rose", "./c"], r"'./c' \(item 1.*looks like a path"),
        (["data", None], r"'data' \(item 0"),
    ],
)
def test_doubt_is_refused(items, message):
    with pytest.raises(UsageError, match=message):
        are_paths(items)
    with pytest.raises(UsageError, match=message):
        Source(items)
    with pytest.raises(UsageError, match=message):
        Source(item for item in items)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_any_strings_are_decided_or_refused(items):
    try:
        decided = are_paths(items)
    except UsageError as error:
        assert "from_texts" in str(error)
        return
    if decided:
        assert all(os.path.lexists(item) or item == "-" or "://" in item or set(item) & set("*?[") for item in items)


def test_a_generator_of_paths_is_a_list_of_paths(folder):
    assert len(Source(folder.glob("data/*.jsonl")).batches().inputs) == 2
    assert len(Source(path for path in ("data/a.jsonl", "data/b.jsonl")).batches().inputs) == 2


def test_a_single_string_is_a_path():
    with pytest.raises(UsageError, match=r"a single str is a path. Give texts as a list"):
        Source("a rose is a rose").batches()
    with pytest.raises(UsageError, match=r"^roses: no such file. Check the path"):
        Source("roses").batches()
    with pytest.raises(UsageError, match=r"^data/c.jsonl: no such file"):
        Source("data/c.jsonl").batches()


def test_paths_that_are_meant_as_such():
    for paths in (["a rose is a rose"], ["data", "a rose is a rose"]):
        with pytest.raises(UsageError, match=r"'a rose is a rose': no such file. Texts are read from files"):
            Source.from_paths(paths).batches()
        with pytest.raises(UsageError, match="no such file"):
            Source(Paths(paths)).batches()
    with pytest.raises(UsageError, match="item 1"):
        Source.from_paths(["data", 5])


def test_a_file_that_is_named_twice_is_told_even_if_it_is_one_object():
    name = "data/a.jsonl"
    with pytest.raises(UsageError, match="given twice"):
        Source([name, name]).batches()


def test_folders_that_sosie_wrote_are_no_documents(folder):
    import sosie

    sosie.dedup("data/a.jsonl", output="result")
    sosie.FlatIndex(sosie.Simhash().fit().sign(["a rose"])).save("index")
    with pytest.raises(UsageError, match=r"result: is what `sosie dedup` wrote.*result/kept"):
        Source("result").batches()
    with pytest.raises(UsageError, match="index: holds an index, which `sosie search` asks"):
        Source(["index"]).batches()
    assert Source("result/kept").batches().inputs
    (folder / "manifest.json").write_text('{"name": "of another program"}')
    assert Source("data").batches().inputs


def test_the_first_of_a_long_list_tell_what_all_are():
    texts = ["a rose is a rose"] * HEAD
    assert Source([*texts, "data"]).paths.num_rows == HEAD + 1
    with pytest.raises(UsageError, match="Say which they are"):
        Source([*texts[1:], "data"])
    paths = Source(["data"] * HEAD + ["a rose is a rose"])
    with pytest.raises(UsageError, match="given twice"):
        paths.batches()
