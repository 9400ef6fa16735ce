"""JSON arrays: the same documents as JSON lines, whatever the blanks; written back as arrays; damage is named."""

import bz2
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.writing import write

import sosie
from sosie.documents import Source, blocks, bounded
from sosie.documents.input import Input
from sosie.documents.jsonl import array
from sosie.errors import DataError, SosieError, UsageError

DOCUMENTS = [
    {"text": 'a "rose", [is] {a} rose \\ \n é 東京', "n": [1, {"x": "]"}]},
    {"text": "", "meta": {"a": "\\\\"}},
    {"text": "}],[{", "kept": True},
]


def read(path, **options):
    batches = list(Source(path, **options).batches())
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, [(reject.line, reject.reason) for batch in batches for reject in batch.rejects]


@pytest.mark.parametrize("indent", [None, 0, 2, "\r\n\t"])
@pytest.mark.parametrize("size", [1, 5, 64, 1 << 20])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b" \n "])
def test_an_array_in_pieces_of_any_size(tmp_path, monkeypatch, indent, size, mark):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    path = tmp_path / "a.json"
    path.write_bytes(mark + json.dumps(DOCUMENTS, indent=indent).encode() + b"\n \n")
    assert read(path) == ([document["text"] for document in DOCUMENTS], [])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.fixed_dictionaries({"text": st.text()}, optional={"x": VALUES}) | VALUES, max_size=6), st.data())
def test_an_array_is_what_its_elements_are_on_lines(tmp_path_factory, values, data):
    folder = tmp_path_factory.mktemp("a")
    indent, ascii_only = data.draw(st.sampled_from([None, 1])), data.draw(st.booleans())
    values = [{"text": "first"}, *values]
    (folder / "a.json").write_text(json.dumps(values, indent=indent, ensure_ascii=ascii_only), "utf-8")
    lines = "".join(json.dumps(value, ensure_ascii=ascii_only) + "\n" for value in values)
    (folder / "a.jsonl").write_text(lines, "utf-8")
    assert read(folder / "a.json", on_error="skip") == read(folder / "a.jsonl", on_error="skip")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("pack", [bytes, bz2.compress, lzma.compress], ids=["", ".bz2", ".xz"])
def test_arrays_become_arrays(tmp_path, monkeypatch, indent, pack):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 30)
    suffix = {bz2.compress: ".bz2", lzma.compress: ".xz"}.get(pack, "")
    unpack = {bz2.compress: bz2.decompress, lzma.compress: lzma.decompress}.get(pack, bytes)
    path = tmp_path / f"a.json{suffix}"
    content = json.dumps(DOCUMENTS, indent=indent).encode()
    path.write_bytes(pack(content))
    write(Source(path), {1: 0}, tmp_path / "out")
    kept = unpack((tmp_path / "out/kept" / path.name).read_bytes())
    assert json.loads(kept) == [DOCUMENTS[0], DOCUMENTS[2]]
    dropped = json.loads(unpack((tmp_path / "out/dropped" / path.name).read_bytes()))
    assert dropped == [{**DOCUMENTS[1], "duplicate_of": f"{path.name}:1", "similarity": 0.515625}]
    write(Source(path), {}, tmp_path / "all")
    assert unpack((tmp_path / "all/kept" / path.name).read_bytes()) == content + b"\n"
    assert path.read_bytes() == pack(content)


def test_members_have_one_name_where_all_are_annotated(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([*DOCUMENTS, {"text": "new", "kept_1": 2}], indent=1))
    sosie.dedup(tmp_path / "a.json").write_documents(tmp_path / "out", annotate=True)
    found = json.loads((tmp_path / "out/annotated/a.json").read_text())
    assert [set(document) & {"kept", "kept_1", "kept_2"} for document in found][2] == {"kept", "kept_2"}
    assert all("kept_2" in document for document in found)


def test_nothing_kept_and_an_empty_array(tmp_path):
    (tmp_path / "a.json").write_text('[{"text": "a"}]')
    write(Source(tmp_path / "a.json"), {0: 0}, tmp_path / "out")
    assert (tmp_path / "out/kept/a.json").read_text() == "[]\n"
    for content in ("[]", " [ \n ] ", ""):
        (tmp_path / "b.json").write_text(content)
        assert read(tmp_path / "b.json") == ([], [])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"text": "a"}, 5, {"text": "b"}]', "not an object but a number"),
        ('[{"text": "a"},, {"text": "b"}]', "broken JSON (Expecting value, column 1)"),
        ('[{"text": "a"}, {"text": NaN}, {"text": "b"}]', "broken JSON (NaN is not a JSON number; write null)"),
        ('[{"text": "a"}, {"text": "new\nline"}, {"text": "b"}]', "broken JSON (Invalid control character at"),
        ('[{"text": "a"}, {"texts": ""}, {"text": "b"}]', "no column 'text' (there are: texts)"),
    ],
)
def test_a_bad_object_is_named_by_its_place(tmp_path, content, reason):
    (tmp_path / "a.json").write_text(content)
    texts, rejects = read(tmp_path / "a.json", on_error="skip")
    assert texts == ["a", "b"] and rejects[0][0] == 2 and rejects[0][1].startswith(reason)
    with pytest.raises(DataError, match=r"a\.json, object 2: "):
        read(tmp_path / "a.json")


def test_bytes_that_are_not_utf8(tmp_path):
    (tmp_path / "a.json").write_bytes(b'[{"text": "caf\xe9"}, {"text": "b"}]')
    texts, rejects = read(tmp_path / "a.json", on_error="skip")
    assert texts == ["b"] and rejects == [(1, "invalid UTF-8 (byte 14 of the line)")]
    (tmp_path / "a.json").write_text('[{"text": "a"}]', "utf-16")
    with pytest.raises(DataError, match=r"UTF-16 by its byte order mark.*--encoding utf-16"):
        read(tmp_path / "a.json")
    assert read(tmp_path / "a.json", encoding="utf-16") == (["a"], [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"text": "a"}, {"text": "b"', "the array is not closed.* object 2"),
        ('[{"text": "a"}', "the array is not closed"),
        ('[{"text": "a"}] {"text": "b"}', "more after the end of the array"),
        ('[{"text": "a"]}, {"text": "b"}]', "more after the end of the array"),
        ('[{"text": "a}, {"text": "b"}]', "the array is not closed"),
    ],
)
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_an_array_that_is_broken_as_a_whole(tmp_path, monkeypatch, content, message, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    (tmp_path / "a.json").write_text(content)
    for on_error in ("raise", "skip"):
        with pytest.raises(DataError, match=rf"a\.json: .*{message}"):
            read(tmp_path / "a.json", on_error=on_error)


@pytest.mark.parametrize("size", [3, 40])
def test_an_object_that_is_too_long_is_rejected_and_those_after_it_are_read(tmp_path, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    monkeypatch.setattr(bounded, "MAX_RECORD", 60)
    monkeypatch.setattr("sosie.documents.input.MAX_RECORD", 60)
    path, strange = tmp_path / "a.json", '],{\\\\\\"[' * 9
    for at in range(3):
        objects = ['{"text": "a"}', ' {"text": "b"}\n', '{"text": "c"}']
        objects.insert(at, f'{{"text": [[{{}}, "{strange}"]]}}')
        path.write_text(f"[{','.join(objects)}]")
        texts, rejects = read(path, on_error="skip")
        assert texts == ["a", "b", "c"] and rejects == [(at + 1, "an object longer than 0.0 MB")]
        with pytest.raises(DataError, match=rf"object {at + 1}: an object longer than .*--on-error skip"):
            read(path)


def test_an_object_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded, "MAX_RECORD", 1 << 16)
    (tmp_path / "a.json").write_text('[{"text": "' + "a" * (1 << 18))
    with pytest.raises(DataError, match="the array is not closed"):
        read(tmp_path / "a.json")


def test_other_json_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "data": DOCUMENTS}, indent=2))
    with pytest.raises(SosieError, match=r"one JSON object over several lines.*take out the array in 'data'"):
        read(path)
    path.write_text("[1, 2, 3]")
    with pytest.raises(SosieError, match=r"a\.json, object 1: not an object but a number"):
        read(path)
    path.write_text('["a", "b"]')
    with pytest.raises(SosieError, match="object 1: not an object but text"):
        read(path)


def test_lines_in_a_json_file_are_read_as_ever(tmp_path):
    (tmp_path / "a.json").write_text('{"text": "a"}\nbroken\n\n{"text": "b"}\n')
    assert read(tmp_path / "a.json", on_error="skip")[0] == ["a", "b"]
    (tmp_path / "a.json").write_text('broken\n{"text": "b"}\n')
    assert read(tmp_path / "a.json", on_error="skip")[0] == ["b"]


def test_a_json_file_that_is_there_for_another_purpose(tmp_path, caplog):
    (tmp_path / "page.html").write_text("<p>a rose is a rose</p>")
    (tmp_path / "index.json").write_text(json.dumps({"docs": [{"title": "a"}]}, indent=2))
    (tmp_path / "package.json").write_text('{"name": "site"}\n')
    (tmp_path / "numbers.json").write_text("[1, 2]")
    assert read(tmp_path) == (["a rose is a rose"], [])
    assert "3 files hold no documents and are passed over" in caplog.text and "index.json" in caplog.text
    with pytest.raises(UsageError, match="no column 'text'"):
        read(tmp_path / "package.json")


def test_beside_json_that_holds_documents_nothing_is_passed_over(tmp_path):
    (tmp_path / "a.json").write_text('[{"text": "a"}]')
    (tmp_path / "b.json").write_text("{\n}\n")
    with pytest.raises(DataError, match=r"b\.json: is one JSON object over several lines.*--exclude"):
        read(tmp_path)
    assert read(tmp_path, exclude=["b.json"]) == (["a"], [])
    (tmp_path / "b.json").write_text('{"body": "a"}\n')
    assert read(tmp_path, on_error="skip") == (["a"], [(1, "no column 'text' (there are: body)")])


def test_a_folder_of_json_without_the_column(tmp_path):
    (tmp_path / "a.json").write_text('[{"body": "a"}]')
    with pytest.raises(UsageError, match=r"no file holds documents: .*a\.json.*no column 'text'.*columns are: body"):
        read(tmp_path)
    assert read(tmp_path, text_column="body") == (["a"], [])


def test_separators_agree_with_a_plain_walk():
    source = Input("a.json", "a.json", "json")
    for text in (r'{"a": "\\"}, {"b": "\""}, "\\\"", [1, [2]]]', "1, 2]", "]", '"]"', "", '{"a": 1}'):
        cutter = array.ArrayCutter(source)
        cutter.is_open = True
        cut = list(cutter.cut(text.encode()))
        found = [block.data[a:b] for block in cut for a, b in zip(block.starts, block.ends, strict=True)]
        whole = text if text.endswith("]") and text.count("]") > text.count("[") else text + "]"
        expected = [json.dumps(value) for value in json.loads("[" + whole)] if whole == text else []
        assert [json.dumps(json.loads(element)) for element in found] == expected
