"""Texts and lines that there is no memory for are rejected, or refused, before the memory is taken."""

import gzip
import json

import pytest
from tests.documents.warc.warcs import page

import sosie
from sosie.documents import Source, bounded
from sosie.documents.columns import Columns
from sosie.documents.formats import format_of
from sosie.errors import DataError

LEAST = 600_000_000  # the least limit


def write(folder, *texts):
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), "utf-8")
    return path


def reading(path, memory, on_error="skip"):
    return Source(path, on_error=on_error).batches(memory=memory)


def test_a_text_that_cannot_fit_is_a_rejected_record(tmp_path):
    path = write(tmp_path, "a rose", "a " * 3_000_000, "\ufdfa" * 700_000, "\u4e00" * 700_000)
    batches = list(reading(path, LEAST))
    assert [row for batch in batches for row in batch.rows.tolist()] == [0, 3]
    reasons = [reject.reason for batch in batches for reject in batch.rejects]
    assert reasons[0].startswith(
        "a text of 6.0 MB, which takes 144.0 MB of memory to compare; there is room for 125.0 MB"
    )
    assert "a text of 2.1 MB, which takes 176" in reasons[1]
    with pytest.raises(DataError, match=r"line 2: a text of 6.0 MB, .*split it"):
        list(reading(path, LEAST, "raise"))


def test_characters_that_fold_to_many_are_expected_to_take_more():
    """As `python -m benchmarks.text_memory` measures them: 50, 55 and 20 bytes for each of a text."""
    for text, taken in (("\u3316 ", 50), ("\ufdfa", 55), ("a ", 20)):
        assert bounded.text_bytes(text.encode()) >= taken * len(text.encode())


def test_without_a_limit_it_is_that_of_the_machine(tmp_path, monkeypatch):
    path = write(tmp_path, "a " * 3_000_000)
    assert [len(batch) for batch in Source(path).batches()] == [1]
    monkeypatch.setattr(bounded, "physical_memory", lambda: LEAST)
    assert [len(batch.rejects) for batch in Source(path, on_error="skip").batches()] == [1]


def test_a_job_keeps_to_its_limit(tmp_path):
    path = write(tmp_path, "a rose is a rose", "a " * 3_000_000)
    found = sosie.dedup(path, memory=LEAST, on_error="skip")
    assert (len(found.kept), len(found.rejects)) == (1, 1)


FILES = {
    "a.jsonl": ('{"text": "a rose"}\n', '{"text": "', '"}\n', '{"text": "is a rose"}'),
    "a.json": ('[{"text": "a rose"},', '{"text": "', '"},', '{"text": "is a rose"}]'),
    "a.csv": ("text\na rose\n", '"', '"\n', "is a rose"),
    "a.tsv": ("text\na rose\n", "", "\n", "is a rose"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_record_that_cannot_fit_is_rejected_before_it_is_held(tmp_path, name):
    path, (before, start, end, after) = tmp_path / name, FILES[name]
    path.write_text(before + start + "a" * 16_000_000 + end + after)
    batches = list(reading(path, LEAST))
    assert [text for batch in batches for text in batch.texts.to_pylist()] == ["a rose", "is a rose"]
    (reject,) = [reject for batch in batches for reject in batch.rejects]
    assert "longer than 7.8 MB, the most that there is memory for (--memory)" in reject.reason and reject.raw is None
    found = sosie.dedup(path, memory=LEAST, on_error="skip", output=tmp_path / "out")
    assert (len(found.kept), len(found.rejects)) == (2, 1)
    with pytest.raises(DataError, match=r"longer than .*, the most that there is memory for"):
        list(reading(path, LEAST, "raise"))


def test_a_file_that_cannot_fit_is_rejected_before_it_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("a rose")
    with open(tmp_path / "b.txt", "wb") as file:
        file.truncate(900_000_000)  # nothing is on the disk, but all of it would be read
    batches = list(reading(tmp_path, LEAST))
    (reject,) = [reject for batch in batches for reject in batch.rejects]
    assert reject.reason.startswith("a file of 900.0 MB; there is memory for 20.8 MB")
    found = sosie.dedup(tmp_path, memory=LEAST, on_error="skip", output=tmp_path.parent / "out")
    assert (len(found.kept), len(found.rejects)) == (1, 1)


def test_a_record_of_warc_that_cannot_fit_is_rejected(tmp_path):
    payload = gzip.compress(b"a " * 10_000_000)
    records = [page(1, b"a rose", "text/plain"), page(2, b"a " * 10_000_000, "text/plain")]
    records += [page(3, payload, "text/plain", Content_Encoding="gzip"), page(4, b"is a rose", "text/plain")]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    batches = list(reading(tmp_path / "a.warc", LEAST))
    assert [text for batch in batches for text in batch.texts.to_pylist()] == ["a rose", "is a rose"]
    reasons = [reject.reason for batch in batches for reject in batch.rejects]
    assert reasons == ["more than 7.8 MB, the most that there is memory for (--memory)"] * 2


def test_a_reference_is_bounded_too(tmp_path):
    path = write(tmp_path, "is a rose", "a" * 16_000_000)
    texts = ["a rose is a rose", "is a rose"]
    dropped = sosie.dedup(texts, against=path, memory=LEAST, on_error="skip").dropped
    assert dropped["duplicate_of"].to_pylist() == ["a.jsonl:1"]
    with pytest.raises(DataError, match=r"a.jsonl, line 2: a line longer than 7.8 MB"):
        sosie.dedup(texts, against=path, memory=LEAST)


FLOODS = {
    "a.jsonl": ('{"text": "a"}\n\n', "1\n", '{"text": "b"}\n', 3),
    "a.json": ('[{"text": "a"},\n', "1,", '{"text": "b"}]', 2),
    "a.csv": ("id,text\n\n1,a\n", "x\n", "2,b\n", 4),
}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_of_bad_records_come_in_small_pieces_and_keep_their_places(tmp_path, monkeypatch, name):
    monkeypatch.setattr("sosie.documents.jsonl.blocks.MOST_RECORDS", 100)
    monkeypatch.setattr("sosie.documents.jsonl.array.MOST_RECORDS", 100)
    monkeypatch.setattr("sosie.documents.csv.blocks.MOST_RECORDS", 100)
    before, bad, after, first = FLOODS[name]
    path = tmp_path / name
    path.write_text(before + bad * 1234 + after)
    source = Source(path, on_error="skip")
    form = format_of(source.inputs()[0])
    pieces = list(form.read(source.inputs()[0], ["text"], 1, lambda position: None))
    assert max(form.decode(piece, Columns("text")).count for piece in pieces) == 100
    batches = list(source.batches())
    assert [text for batch in batches for text in batch.texts.to_pylist()] == ["a", "b"]
    rejects = [reject for batch in batches for reject in batch.rejects]
    assert [reject.line for reject in rejects] == list(range(first, first + 1234))
    assert [reject.row for reject in rejects] == list(range(1, 1235))
    assert len({reject.reason for reject in rejects}) == 1
    found = sosie.dedup(source, output=tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/rejected.jsonl").read_text().splitlines()]
    assert [line["line"] for line in lines] == [reject.line for reject in rejects]
    assert [reject.line for reject in found.rejects] == [reject.line for reject in rejects]
    assert {line["raw"] for line in lines} == {bad.strip(",\n")} == {found.rejects[7].raw}
