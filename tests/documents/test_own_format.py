"""A format that Sosie does not know: a class and a row in the table, and all that is done with documents works."""

import gzip
import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.documents.writing import write

import sosie
from sosie.documents import Batch, Source
from sosie.documents.batch import Records
from sosie.documents.blocks import read_chunks
from sosie.documents.columns import parsed_columns
from sosie.documents.fetch import fetch_texts
from sosie.documents.format import Format, Naming, Probe
from sosie.documents.formats import FORMATS, SUFFIXES
from sosie.documents.share import ANNOTATED, COPIED
from sosie.documents.text.format import TextFiles
from sosie.errors import DataError, UsageError

FEED = b"\f"
RECORDS = ["a\tthe quick brown fox jumps over the lazy dog", "b\tsomething else entirely", "no tab here"]
RECORDS += ["c\tthe quick brown fox jumps over the lazy dog", "d\tand something new at the end"]


class FormFeed(Format[list[bytes]]):
    """Records of an id, a tab and a text, separated by form feeds; two of them are a piece."""

    name = "feed"
    suffixes: ClassVar = {".ff": "feed"}
    compressions = ("gzip", "zstd")
    unit = "sheet"

    def probe(self, source):
        return Probe(pa.schema({"id": pa.large_string(), "text": pa.large_string()}))

    def read(self, source, names, threads, watch):
        source.check_unchanged()
        content = b"".join(chunk for chunk, _ in read_chunks(source, 1 << 16))
        watch(source.size)
        records = content.split(FEED) if content else []
        for start in range(0, len(records), 2):
            yield records[start : start + 2]

    def decode(self, piece, columns):
        parsed, good, problems = [], [], {}
        for place, record in enumerate(piece):
            name, tab, text = record.decode().partition("\t")
            if tab:
                good.append(place)
                parsed.append((text, None if columns.id is None else name, None))
            else:
                problems[place] = "no tab"
        texts, ids, _ = parsed_columns(parsed, columns)
        return Records(
            len(piece), texts, ids, np.array(good, np.int64), problems, None, len(piece), lambda at: piece[at].decode()
        )

    def write(self, share, threads, advance):
        places = {int(COPIED): [], int(ANNOTATED): []}
        done = 0
        for piece in self.read(share.source, None, threads, lambda position: None):
            place = share.places(done, len(piece))
            added = iter(share.columns(done, place).to_pylist())
            for record, where in zip(piece, place.tolist(), strict=True):
                more = "".join(f"\t{value}" for value in next(added).values()) if where == ANNOTATED else ""
                places.get(where, []).append(record + more.encode())
            done += len(piece)
            advance(len(piece))
        for path, records in zip((share.copies, share.annotated), places.values(), strict=True):
            if path is not None:
                packed = gzip.compress if share.source.compression else bytes
                path.write_bytes(packed(FEED.join(records)))
        return done


class Shouts(TextFiles):
    """Files of one document each, read in small letters."""

    name = "shout"
    suffixes: ClassVar = {".shout": "shout"}
    naming = Naming("shouts", "their names")

    def decode(self, piece, columns):
        records = super().decode(piece, columns)
        return replace(records, texts=pc.utf8_lower(records.texts))

    def fetch(self, piece, wanted, columns):
        return Format.fetch(self, piece, wanted, columns)


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """Add what two more rows would add."""
    for form in (FormFeed(), Shouts()):
        monkeypatch.setitem(FORMATS, form.name, form)
        for suffix, kind in form.suffixes.items():
            monkeypatch.setitem(SUFFIXES, suffix, kind)


def save(path, records=RECORDS):
    content = FEED.join(record.encode() for record in records)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def columns_of(batches: list[Batch]):
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, [row for batch in batches for row in batch.rows.tolist()]


@pytest.mark.parametrize("name", ["a.ff", "a.FF.gz"])
@pytest.mark.parametrize("batch_size", [1, 100])
def test_read_and_fetch(tmp_path, name, batch_size):
    reading = Source(save(tmp_path / name), on_error="skip", batch_size=batch_size).batches()
    batches = list(reading)
    texts = [record.partition("\t")[2] for record in RECORDS]
    assert columns_of(batches) == ([text for text in texts if text], [0, 1, 3, 4])
    assert [(reject.row, reject.line, reject.reason, reject.raw) for batch in batches for reject in batch.rejects] == [
        (2, 3, "no tab", "no tab here")
    ]
    assert reading.ids.take([0, 3]).to_pylist() == ["a", "c"] and reading.expected == 5
    assert fetch_texts(reading, np.array([1, 2, 4])) == {1: texts[1], 4: texts[4]}


def test_errors_say_what_a_record_is_called(tmp_path):
    with pytest.raises(DataError, match=r"a\.ff, sheet 3: no tab\. Fix the sheet or pass --on-error skip\."):
        list(Source(save(tmp_path / "a.ff")).batches())
    with pytest.raises(DataError, match=r"duplicate id 'a', first in a\.ff, sheet 1"):
        list(Source(save(tmp_path / "a.ff", ["a\tone", "a\ttwo"])).batches())
    with pytest.raises(UsageError, match=r"no column 'body'\. The columns are: id, text"):
        Source(save(tmp_path / "a.ff"), text_column="body").batches()
    (tmp_path / "a.pdf").touch()
    with pytest.raises(UsageError, match=r"\*\.jsonl.*, \*\.ff, each also with .*\*\.htm and \*\.shout \(one document"):
        Source(tmp_path / "a.pdf").batches()


def test_html_in_its_text_column(tmp_path):
    path = save(tmp_path / "a.ff", ["a\t<nav>Home</nav><p>A rose.</p>", "b\t<p>Another</p>"])
    reading = Source(path, html="main").batches()
    assert columns_of(list(reading)) == (["A rose.", "Another"], [0, 1])
    assert fetch_texts(reading, np.array([0])) == {0: "A rose."}


@pytest.mark.parametrize("name", ["a.ff", "a.ff.gz"])
def test_write(tmp_path, name):
    source = Source(save(tmp_path / name), on_error="skip")
    counts = write(source, {3: 0}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (3, 1, 1)
    unpack = gzip.decompress if name.endswith(".gz") else bytes
    kept = unpack((tmp_path / "out/kept" / name).read_bytes()).split(FEED)
    assert kept == [RECORDS[at].encode() for at in (0, 1, 4)]
    dropped = unpack((tmp_path / "out/dropped" / name).read_bytes())
    assert dropped == f"{RECORDS[3]}\ta\t{0.5 + 3 / 64}".encode()


def test_dedup_beside_other_formats(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    save(folder / "a.ff", RECORDS[:2])
    text = RECORDS[0].partition("\t")[2]
    (folder / "b.jsonl").write_text(json.dumps({"id": "x", "text": text}) + "\n")
    (folder / "c.shout").write_text(text.upper() + " OR NOT")
    (folder / "d.txt").write_text("quite another document, on its own")
    result = sosie.dedup(folder, output=tmp_path / "out")
    assert result.dropped.to_pylist() == [{"id": "x", "duplicate_of": "a", "similarity": 1.0}]
    assert [place.format for place in result.reading.inputs] == ["feed", "jsonl", "shout", "text"]
    assert result.reading.ids.take([3, 4]).to_pylist() == ["c.shout", "d.txt"]
    assert (tmp_path / "out/kept/a.ff").read_bytes() == (folder / "a.ff").read_bytes()
    assert (tmp_path / "out/kept/c.shout").read_text().startswith("THE QUICK")
    assert fetch_texts(result.reading, np.array([3])) == {3: text + " or not"}
    assert (tmp_path / "out/report.html").exists()


def test_names_instead_of_columns(tmp_path):
    (tmp_path / "c.shout").write_text("ONE")
    save_ids = tmp_path / "b.jsonl"
    save_ids.write_text('{"id": 7, "text": "a"}\n')
    with pytest.raises(UsageError, match=r"the ids of shouts are their names, .* or give the shouts alone"):
        Source([save_ids, tmp_path / "c.shout"]).batches()
    counts = write(Source(tmp_path / "c.shout"), {0: 0}, tmp_path / "out")
    assert counts.dropped == 1
    assert (tmp_path / "out/dropped.tsv").read_text().splitlines()[1].startswith("c.shout\t")
