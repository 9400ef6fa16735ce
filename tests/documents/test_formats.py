"""The same documents in every format: the same decisions, and every document in one place."""

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from tests.documents.warc.warcs import page

import sosie
from sosie.documents.formats import COMPRESSIONS, FORMATS, SUFFIXES, readable

TEXTS = [
    'the quick brown fox, "quoted", jumps over the lazy dog\nand runs away',
    "something else entirely which is not about any animal",
    "The quick brown fox, quoted, jumps over the lazy dog and runs away!",
    "",
    "007",
    "caf\u00e9 au lait \u2028 in the morning",
]


def table(delimiter):
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, delimiter=delimiter)
    writer.writerows([("note", "text"), *(("n", text) for text in TEXTS)])
    return sheet.getvalue().encode()


def make(folder, name):
    """Write the documents and return the path to give."""
    path = folder / name
    if name == "texts":
        path.mkdir()
        for place, text in enumerate(TEXTS):
            (path / f"{place}.txt").write_text(text, newline="")
        return path
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"text": TEXTS}), path)
        return path
    if name.endswith(".feather"):
        pf.write_feather(pa.table({"text": TEXTS}), path)
        return path
    if name.endswith(".arrow"):
        table_ = pa.table({"text": TEXTS})
        with pa.ipc.new_stream(path, table_.schema) as stream:
            stream.write_table(table_)
        return path
    if ".warc" in name:
        path.write_bytes(b"".join(gzip.compress(page(n, text.encode(), "text/plain")) for n, text in enumerate(TEXTS)))
        return path
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
    content = table(",") if ".csv" in name else table("\t") if ".tsv" in name else lines
    if ".json" in name and ".jsonl" not in name and "lines" not in name:
        content = json.dumps([{"text": text} for text in TEXTS], indent=1).encode()
    if name.endswith(".gz"):
        content = gzip.compress(content)
    elif name.endswith(".bz2"):
        content = bz2.compress(content)
    elif name.endswith(".xz"):
        content = lzma.compress(content)
    elif name.endswith(".zst"):
        content = pa.compress(content, "zstd", asbytes=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        *("a.jsonl", "a.csv", "a.csv.gz", "a.tsv", "a.tsv.zst", "a.parquet", "texts", "a.warc.gz", "lines.json"),
        *("a.json", "a.json.gz", "a.json.zst", "a.jsonl.bz2", "a.csv.xz", "a.json.xz", "a.feather", "a.arrow"),
    ],
)
def test_every_format_gives_the_same_decisions(tmp_path, name):
    path = make(tmp_path, name)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    result = sosie.dedup(path, threshold=0.9, output=tmp_path / "out")
    assert result.mask.tolist() == [True, True, False, True, True, True]
    assert result.dropped["duplicate_of"].to_pylist() == result.reading.ids.take([0]).to_pylist()
    again = sosie.dedup(tmp_path / "out/kept", threshold=0.9)
    assert again.mask.tolist() == [True] * 5
    assert {file: file.read_bytes() for file in before} == before


def test_the_guide_and_the_message_list_every_suffix():
    guide = (Path(__file__).parents[2] / "docs/guide/formats.md").read_text()
    for suffix in [*SUFFIXES, *COMPRESSIONS]:
        assert f"`{suffix}`" in guide and suffix in readable()
    assert readable() == (
        "*.jsonl, *.ndjson (one object per line), *.json (an array of objects, or one object per line), *.csv, *.tsv, "
        "each also with .gz, .zst, .bz2 or .xz; *.warc, also with .gz or .zst; *.parquet, *.feather, *.arrow; *.txt, "
        "*.md, *.html and *.htm (one document per file); folders of these, and JSON lines from standard input as -"
    )


def test_no_two_formats_claim_a_kind_or_a_suffix():
    forms = list(dict.fromkeys(FORMATS.values()))
    kinds = [kind for form in forms for kind in form.kinds]
    suffixes = [suffix for form in forms for suffix in form.suffixes]
    assert sorted(kinds) == sorted(FORMATS) and sorted(suffixes) == sorted(SUFFIXES)
    assert all(FORMATS[form.name] is form and suffix == suffix.lower() for form in forms for suffix in form.suffixes)
