"""Text files as other programs write them: encodings and delimiters, read and written back."""

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.writing import write

from sosie.documents import Source, blocks
from sosie.documents.dialect import Transcoder
from sosie.errors import DataError, UsageError

ROWS = [("1", "café au lait"), ("2", "naïve, ça va"), ("3", "plain")]


def read(path, **options):
    reading = Source(path, **options).batches()
    batches = list(reading)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, [reject.reason for batch in batches for reject in batch.rejects]


def csv(delimiter=";"):
    lines = [("id", "text"), *ROWS]
    return "".join(f'{a}{delimiter}"{b}"\r\n' for a, b in lines)


TEXTS = [text for _, text in ROWS]


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "~"])
def test_a_delimiter_that_is_given(tmp_path, delimiter):
    path = tmp_path / "a.csv"
    path.write_text(csv(delimiter), newline="")
    assert read(path, delimiter=delimiter) == (TEXTS, [])
    write(Source(path, delimiter=delimiter), {1: 0}, tmp_path / "out")
    kept, dropped = ((tmp_path / f"out/{each}/a.csv").read_bytes().decode() for each in ("kept", "dropped"))
    lines = csv(delimiter).splitlines(keepends=True)
    assert kept == lines[0] + lines[1] + lines[3]
    assert dropped.splitlines()[1] == f'2{delimiter}"naïve, ça va"{delimiter}1{delimiter}0.515625'


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_delimiter_is_found_where_only_it_fits_the_header(tmp_path, delimiter, name):
    (tmp_path / name).write_text(csv(delimiter), newline="")
    assert read(tmp_path / name) == (TEXTS, [])


def test_a_comma_stays_where_the_header_has_the_column(tmp_path):
    (tmp_path / "a.csv").write_text("text,x;text\na;b,c\n")
    assert read(tmp_path / "a.csv") == (["a;b"], [])
    (tmp_path / "a.csv").write_text("id;body\n1;a\n")
    with pytest.raises(
        UsageError, match=r"no column 'text'\. The columns are: id;body\. If ';' separates them, pass --delimiter"
    ):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é"])
def test_what_is_no_delimiter(delimiter):
    with pytest.raises(UsageError, match="the delimiter must be one character"):
        Source("a.csv", delimiter=delimiter)


def test_options_that_nothing_reads_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(UsageError, match="--delimiter is for csv, and there is none"):
        read(tmp_path / "a.jsonl", delimiter=";")
    with pytest.raises(UsageError, match="the encoding 'utf-9' cannot be read"):
        Source(tmp_path / "a.jsonl", encoding="utf-9")
    for name in ("rot13", "iso2022_jp", "utf-7", "base64", "idna"):
        with pytest.raises(UsageError, match="cannot be read"):
            Source(tmp_path / "a.jsonl", encoding=name)
    assert Source(tmp_path / "a.jsonl", encoding="UTF8").encoding is None


ENCODINGS = ["cp1252", "latin-1", "utf-16", "utf-16-be", "utf-32", "gb18030", "mac-roman"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.txt"])
def test_another_encoding_is_read_and_kept(tmp_path, monkeypatch, encoding, name):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 7)
    lines = {"csv": csv(","), "jsonl": "".join(f'{{"id": "{a}", "text": "{b}"}}\r\n' for a, b in ROWS)}
    content = lines.get(name.split(".")[1], TEXTS[0]).encode(encoding)
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    source = Source(path, encoding=encoding)
    assert read(path, encoding=encoding)[0] == (TEXTS[:1] if name == "a.txt" else TEXTS)
    write(source, {}, tmp_path / "all")
    kept = (tmp_path / "all/kept" / name).read_bytes()
    assert (gzip.decompress(kept) if name.endswith("gz") else kept) == content
    if name != "a.txt":
        write(source, {2: 0}, tmp_path / "out")
        dropped = (tmp_path / "out/dropped" / name).read_bytes()
        assert "plain" in (gzip.decompress(dropped) if name.endswith("gz") else dropped).decode(encoding)
        assert read(tmp_path / "out/dropped" / name, encoding=encoding)[0] == ["plain"]


def test_ids_that_the_encoding_lacks_are_escaped_in_added_columns(tmp_path):
    (tmp_path / "東京.csv").write_bytes("text\ncafé\ncafé!\n".encode("cp1252"))
    write(Source(tmp_path / "東京.csv", encoding="cp1252"), {1: 0}, tmp_path / "out")
    dropped = (tmp_path / "out/dropped/東京.csv").read_bytes().decode("cp1252")
    assert dropped.splitlines()[1] == r"café!,\u6771\u4eac.csv:2,0.515625"


def test_bytes_that_are_not_of_the_encoding_reject_their_record(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\ncaf\xe9\nbad \x81\ngood\n")
    texts, reasons = read(tmp_path / "a.csv", encoding="cp1252", on_error="skip")
    assert texts == ["café", "good"] and reasons == ["invalid cp1252 (byte 5 of the record)"]
    (tmp_path / "a.txt").write_bytes(b"bad \x81")
    assert read(tmp_path / "a.txt", encoding="cp1252", on_error="skip")[1] == ["invalid cp1252 (byte 5 of the file)"]
    (tmp_path / "b.csv").write_bytes("text\nab\n".encode("utf-16") + b"x")
    with pytest.raises(DataError, match=r"b\.csv: is not utf-16-le.*--encoding"):
        read(tmp_path / "b.csv", encoding="utf-16")


@given(st.text(), st.sampled_from(ENCODINGS), st.integers(1, 9))
def test_a_transcoder_gives_back_what_it_took(text, encoding, size):
    content = text.encode(encoding, "ignore")
    coder = Transcoder(codecs.lookup(encoding).name.replace("_", "-"), "a.csv")
    parts = [coder.decode(content[start : start + size]) for start in range(0, len(content), size)]
    whole = b"".join([*parts, coder.decode(b"", final=True)])
    assert coder.encode(whole) == content
