"""WARC files: which records are read, in every packing, and what becomes of broken ones."""

import gzip
import os
import random
import sys

import numpy as np
import pyarrow as pa
import pytest
from tests.documents.text.test_files import fill, read
from tests.documents.warc.warcs import PACK, STREAMS, http, page, record, zstd
from tests.documents.writing import write

from sosie.documents import Source, blocks, bounded
from sosie.documents.fetch import fetch_texts
from sosie.documents.inputs import list_inputs
from sosie.documents.warc import blocks as warc_blocks
from sosie.documents.warc.blocks import read_warc
from sosie.documents.warc.headers import load_fastwarc
from sosie.errors import DataError, SosieError, UsageError

RECORDS = [
    record(0, b"software: x\r\n", media="application/warc-fields", kind="warcinfo"),
    record(1, b"GET / HTTP/1.1\r\n\r\n", media="application/http; msgtype=request", kind="request"),
    page(2, b"<nav>Menu</nav><p>one rose</p>"),
    page(3, bytes(range(256)) * 400, media="image/png"),
    page(4, gzip.compress(b"<p>two roses" + b" and another" * 9000), Content_Encoding="gzip"),
    record(5, "drei Rösen".encode(), media="text/plain", kind="conversion"),
    page(6, b""),
]
IDS = [f"{number:08}" for number in (2, 4, 5, 6)]
TEXTS = ["one rose", "two roses" + " and another" * 9000, "drei Rösen", ""]


def save(folder, suffix, records, name="a"):
    folder.mkdir(exist_ok=True)
    path = folder / (name + suffix)
    path.write_bytes(b"".join(PACK[suffix](part) for part in records))
    return path


def spans(path):
    (place,) = list_inputs(path)
    return [span for block in read_warc(place) for span in block.spans]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_documents_of_a_file(tmp_path, monkeypatch, suffix, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    path = save(tmp_path, suffix, RECORDS)
    for options in ({}, {"threads": 1}):
        documents, rejects = read(Source(path, batch_size=2), **options)
        assert documents == list(zip(IDS, TEXTS, strict=True)) and not rejects
    reading = Source(path).batches()
    list(reading)
    name = f"a{suffix}"
    assert reading.ids.places(np.arange(4)) == [f"{name}, record {number}" for number in (3, 5, 6, 7)]
    assert fetch_texts(reading, np.array([2, 0]), limit=8) == {0: "one rose", 2: "drei Rös"}
    assert read(Source(path, html="all"))[0][0][1].split() == ["Menu", "one", "rose"]


@pytest.mark.parametrize("suffix", PACK)
def test_files_without_documents(tmp_path, suffix):
    assert read(Source(save(tmp_path, suffix, []))) == ([], [])
    assert read(Source(save(tmp_path, suffix, RECORDS[:2]))) == ([], [])
    assert read(Source(save(tmp_path, suffix, [b""]))) == ([], [])


def test_a_dictionary_in_front_of_zstd(tmp_path):
    dictionary = STREAMS.zstd_train_dictionary_from_samples([page(n, b"<p>sample %d" % n) for n in range(200)], 4096)
    (tmp_path / "a.warc.zst").write_bytes(b"")
    with open(tmp_path / "a.warc.zst", "wb") as file:
        writer = STREAMS.ZstdWriter(file, dictionary=dictionary)
        for part in RECORDS:
            writer.write(part)
            writer.finish()
        writer.flush()
    path = tmp_path / "a.warc.zst"
    assert path.read_bytes()[:4] == b"\x5d\x2a\x4d\x18"
    assert read(Source(path)) == (list(zip(IDS, TEXTS, strict=True)), [])
    write(Source(path), {0: 1, 2: 1}, tmp_path / "out")
    for folder, expected in (("kept", [IDS[1], IDS[3]]), ("dropped", [IDS[0], IDS[2]])):
        assert [name for name, _ in read(Source(tmp_path / "out" / folder))[0]] == expected


def test_ids_beside_other_inputs(tmp_path):
    save(tmp_path, ".warc", [page(1, b"<p>one")])
    fill(tmp_path, {"b.html": "<p>two"})
    assert read(Source(tmp_path))[0] == [("00000001", "one"), ("b.html", "two")]
    fill(tmp_path, {"c.jsonl": '{"text": "three", "id": "x"}\n'})
    assert read(Source(tmp_path))[0] == [("a.warc:1", "one"), ("b.html", "two"), ("c.jsonl:1", "three")]
    assert [name for name, _ in read(Source(tmp_path, id_column="id"))[0]] == ["00000001", "b.html", "x"]
    fill(tmp_path, {"c.jsonl": '{"text": "three", "id": 3}\n'})
    with pytest.raises(UsageError, match=r"a.warc: the ids of WARC files are record ids.*integers \('id'\)"):
        Source(tmp_path, id_column="id").batches()


def test_ids_that_repeat_or_lack(tmp_path):
    lacking = page(4, b"<p>three").replace(b"WARC-Record-ID", b"WARC-Other-ID")
    path = save(tmp_path, ".warc", [page(1, b"<p>one"), RECORDS[0], page(1, b"<p>two"), lacking])
    with pytest.raises(DataError, match=r"a.warc, record 3: duplicate id '00000001', first in a.warc, record 1. Make"):
        list(Source(path).batches())
    documents, rejects = read(Source(path, on_error="skip"))
    assert documents == [("00000001", "one")]
    assert [(reject.line, reject.reason) for reject in rejects] == [
        (3, "duplicate id '00000001', first in a.warc, record 1"),
        (4, "no WARC-Record-ID"),
    ]


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


BAD = page(8, b"<p>bad")
BROKEN = {
    ".warc": {
        "no WARC header, which begins with WARC/": b"J" + BAD[1:],
        "Content-Length is 'x": BAD.replace(b"Content-Length: ", b"Content-Length: x"),
        "Content-Length does not lead to the end of the record": BAD.replace(b"<p>bad", b"<p>badder"),
        "a payload that is not gzip": page(8, b"<p>bad", Content_Encoding="gzip"),
    },
    ".warc.gz": {
        "damaged gzip": flip(gzip.compress(BAD), 40),
        "incorrect data check": flip(gzip.compress(BAD), -6 % len(gzip.compress(BAD))),
        "damaged gzip (": b"garbage between",
        "no WARC header, which begins with WARC/": gzip.compress(b"J" + BAD[1:]),
        "cut short: ": gzip.compress(BAD[:-12]),
        "more after the record": gzip.compress(BAD + RECORDS[0]),
    },
    ".warc.zst": {
        "damaged zstd (": flip(zstd(BAD), 100),
        "damaged zstd (no frame begins here)": b"garbage between",
        "no WARC header, which begins with WARC/": zstd(b"J" + BAD[1:]),
        "cut short: ": zstd(BAD[:-12]),
        "more after the record": zstd(BAD + RECORDS[0]),
    },
}
CASES = [(suffix, reason) for suffix, cases in BROKEN.items() for reason in cases]


@pytest.mark.parametrize(("suffix", "reason"), CASES)
def test_a_broken_record_is_named_and_reading_goes_on(tmp_path, suffix, reason):
    before, after = page(1, b"<p>one"), page(2, b"<p>two")
    pack = PACK[suffix]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(before) + BROKEN[suffix][reason] + pack(RECORDS[0]) + pack(after))
    with pytest.raises(DataError) as caught:
        list(Source(path).batches())
    message = str(caught.value)
    assert message.startswith(f"a{suffix}, record 2: ") and reason in message
    assert message.endswith("Fix the record or pass --on-error skip.")
    documents, (reject,) = read(Source(path, on_error="skip"))
    assert documents == [("00000001", "one"), ("00000002", "two")]
    assert (reject.row, reject.file, reject.line) == (1, f"a{suffix}", 2) and reason in reject.reason
    counts = write(Source(path, on_error="skip"), {2: 0}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (1, 1, 1)
    assert (tmp_path / f"out/kept/a{suffix}").read_bytes() == pack(before) + pack(RECORDS[0])
    assert (tmp_path / f"out/dropped/a{suffix}").read_bytes() == pack(after)


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_is_cut(tmp_path, suffix):
    whole = save(tmp_path, suffix, [page(1, b"<p>one"), page(2, b"<p>two")]).read_bytes()
    first = len(PACK[suffix](page(1, b"<p>one")))
    for cut in (first + 2, first + 60, len(whole) - 6):
        path = fill(tmp_path, {f"b{suffix}": whole[:cut]}) / f"b{suffix}"
        documents, (reject,) = read(Source(path, on_error="skip"))
        assert documents == [("00000001", "one")] and reject.line == 2
        with pytest.raises(DataError, match=rf"b{suffix}, record 2: "):
            list(Source(path).batches())
    path = fill(tmp_path, {"b.warc": page(1, b"<p>one")[:-4]}) / "b.warc"
    assert read(Source(path)) == ([("00000001", "one")], [])


@pytest.mark.parametrize("suffix", PACK)
def test_records_that_are_too_large(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(bounded, "MAX_RECORD", 4 << 20)
    video = record(2, http(os.urandom(5 << 20), media="video/mp4"))
    records = [page(1, b"<p>one"), video, page(3, b"a" * (5 << 20), media="text/plain"), page(4, b"<p>two")]
    path = save(tmp_path, suffix, records)
    documents, (reject,) = read(Source(path, on_error="skip"))
    assert documents == [("00000001", "one"), ("00000004", "two")]
    assert (reject.line, reject.reason) == (3, "more than 4.2 MB, the most that there is memory for (--memory)")
    write(Source(path, on_error="skip"), {}, tmp_path / "out")
    expected = b"".join(PACK[suffix](part) for part in records[:2] + records[3:])
    assert (tmp_path / f"out/kept/a{suffix}").read_bytes() == expected


def broken(data, chance):
    """Return data with a few bytes flipped, cut out or repeated."""
    for _ in range(chance.randint(1, 3)):
        at, size = chance.randrange(len(data)), chance.choice([1, 4, 50])
        kind = chance.choice(["flip", "cut", "repeat", "end"])
        if kind == "flip":
            data = data[:at] + chance.randbytes(size) + data[at + size :]
        elif kind == "cut":
            data = data[:at] + data[at + size :]
        elif kind == "repeat":
            data = data[:at] + data[max(0, at - size * 9) :]
        elif chance.random() < 0.3:
            data = data[: at + 1]
    return data


@pytest.mark.parametrize("suffix", PACK)
def test_any_damage_is_a_problem_of_some_records(tmp_path, suffix):
    chance = random.Random(suffix)
    whole = save(tmp_path, suffix, [*RECORDS, *(page(number, b"<p>page %d" % number) for number in range(9, 14))])
    original = whole.read_bytes()
    path = tmp_path / f"broken{suffix}"
    rejected = 0
    for _ in range(60):
        data = broken(original, chance)
        path.write_bytes(data)
        found = spans(path)
        bounds = [0, *(span.end for span in found)]
        assert [span.start for span in found] == bounds[:-1] and bounds[-1] == len(data)
        documents, rejects = read(Source(path, on_error="skip"))
        assert len(documents) + len(rejects) == sum(span.is_document for span in found)
        rejected += len(rejects)
        if rejects:
            with pytest.raises(SosieError, match=f"broken{suffix}, record {min(r.line for r in rejects)}: "):
                list(Source(path).batches())
    assert rejected > 30


def test_records_in_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(warc_blocks, "_RECORDS", 2)
    monkeypatch.setattr(warc_blocks, "_CHUNK", 100)
    path = save(tmp_path, ".warc", RECORDS[:3])
    path.write_bytes(path.read_bytes() + b"x" * 1234 + b"\r\n\r\n" + RECORDS[5])
    documents, (reject,) = read(Source(path, on_error="skip"))
    assert documents == [(IDS[0], TEXTS[0]), (IDS[2], TEXTS[2])] and (reject.row, reject.line) == (1, 4)


def test_the_missing_extra(tmp_path, monkeypatch):
    path = save(tmp_path, ".warc", RECORDS)
    monkeypatch.setitem(sys.modules, "fastwarc.stream_io", None)
    load_fastwarc.cache_clear()
    with pytest.raises(UsageError, match=r"WARC needs the package fastwarc.*pip install 'sosie\[html\]'"):
        Source(path).batches()
    assert read(Source(pa.table({"text": ["a"]})))[0] == [(0, "a")]
    load_fastwarc.cache_clear()
