"""Annotating: every document that is not rejected is there, as it was and in its order, with the added columns."""

import csv
import gzip
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.documents import DROPPED, KEPT, REJECTED, Decisions, Source, blocks, write_documents
from sosie.documents.jsonl.write import annotate_lines
from sosie.documents.write_blocks import RecordCut

TEXTS = ["a rose", 'say "rose", twice\nin two lines', "", "caf\u00e9 \u2028 au\tlait", "{}", "007", "\U0001f339"]
BAD = 3
NOTES = ["plain", None, 'a "quoted, note"', "", "back\\slash", "tab\tand\r\nlines", "\u00e9\x01\x7f\u2028"]
SCHEMA = pa.schema(
    [("kept", pa.bool_()), ("cluster", pa.int64()), ("duplicate_of", pa.large_string()), ("similarity", pa.float64())]
)
MAP = pa.map_(pa.string(), pa.int8())
COMPRESSED = [f"a.{form}{suffix}" for form in ("jsonl", "csv", "tsv") for suffix in ("", ".gz", ".zst")]
FORMS = [*COMPRESSED, "a.parquet", "texts", "arrow"]


def values_of(row):
    """Return the values that are added to a document: every type, special characters, and nulls."""
    note = NOTES[row % len(NOTES)]
    return [row % 3 == 0, None if row % 4 == 1 else row - 2, note, None if note is None else 1 / (row + 1)]


class Added:
    """The columns for document numbers; remembers what it was asked for."""

    def __init__(self, value_of=values_of, schema=SCHEMA):
        self.value_of, self.schema, self.asked = value_of, schema, []

    def __call__(self, rows):
        self.asked.append(rows.tolist())
        values = list(zip(*map(self.value_of, rows.tolist()), strict=True)) or [[] for _ in self.schema]
        columns = [pa.array(column, kind) for column, kind in zip(values, self.schema.types, strict=True)]
        return pa.table(columns, schema=self.schema)


def annotate(source, out, added, **options):
    """Annotate what is not rejected; return the pass and the counts. Every third document counts as dropped."""
    reading = source.batches()
    rejects = [reject.row for batch in reading for reject in batch.rejects]
    state = np.where(np.arange(reading.documents) % 3, DROPPED, KEPT)
    state[rejects] = REJECTED
    return reading, write_documents(reading, Decisions(state, added), out, annotate=True, **options)


def sheet(rows, delimiter=","):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def make(folder, form, count):
    """Write documents, one of them bad, in a form; return what a source takes."""
    texts = [TEXTS[row % len(TEXTS)] for row in range(count)]
    if form == "texts":
        (folder / form).mkdir()
        for row, text in enumerate(texts):
            (folder / form / f"{row:04}.txt").write_bytes(b"\0" if row == BAD else text.encode())
        return folder / form
    if form in ("a.parquet", "arrow"):
        table = pa.table({"id": range(count), "text": [None if i == BAD else text for i, text in enumerate(texts)]})
        pq.write_table(table, folder / "a.parquet", row_group_size=7)
        return table if form == "arrow" else folder / form
    if ".jsonl" in form:
        lines = [json.dumps({"id": row, "text": text}, ensure_ascii=row % 2 == 0) for row, text in enumerate(texts)]
        content = "\n".join("broken" if row == BAD else line for row, line in enumerate(lines)).encode()
    else:
        rows = [[str(row), text] for row, text in enumerate(texts)]
        rows[BAD] = ["ragged"]
        content = sheet([["id", "text"], *rows], "\t" if ".tsv" in form else ",")
    packed = {"gz": gzip.compress, "st": lambda plain: pa.compress(plain, "zstd", asbytes=True)}.get(form[-2:], bytes)
    (folder / form).write_bytes(packed(content))
    return folder / form


def unpacked(path):
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    with pa.input_stream(str(path), compression=codec) as stream:
        return stream.read()


def as_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def table_of(content, delimiter):
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=delimiter, strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_every_format_and_compression(tmp_path, form, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 300)
    given_in = make(tmp_path, form, 60)
    added, steps = Added(), []
    reading, counts = annotate(Source(given_in, on_error="skip"), tmp_path / "out", added, advance=steps.append)
    rows = [row for row in range(60) if row != BAD]
    assert (counts.kept, counts.dropped, counts.rejected) == (19, 40, 1) and sum(steps) == 60
    assert [row for portion in added.asked for row in portion] == rows
    assert len(added.asked) > 2 or form in ("a.parquet", "arrow", "texts")
    names = ["id", "text", *SCHEMA.names]
    expected = [dict(zip(names, [row, TEXTS[row % len(TEXTS)], *values_of(row)], strict=True)) for row in rows]
    out = tmp_path / "out"
    written = [str(path.relative_to(out)) for path in sorted(out.rglob("*")) if path.is_file()]
    if form == "texts":
        assert written == ["annotated/" + name for name in reading.inputs[0].files.names if name != "0003.txt"] + [
            "annotations.tsv"
        ]
        listed = table_of((out / "annotations.tsv").read_bytes(), "\t")
        assert listed[0] == ["file", *SCHEMA.names]
        assert listed[1:] == [[f"{row:04}.txt", *map(as_text, values_of(row))] for row in rows]
        for row in rows:
            assert (out / f"annotated/{row:04}.txt").read_bytes() == TEXTS[row % len(TEXTS)].encode()
        return
    assert written == ["annotated/documents.parquet" if form == "arrow" else f"annotated/{form}"]
    if form in ("a.parquet", "arrow"):
        found = pq.read_table(out / written[0])
        assert found.schema.equals(pa.schema([("id", pa.int64()), ("text", pa.string()), *SCHEMA]))
        assert found.to_pylist() == expected
        return
    content = unpacked(out / written[0])
    if ".jsonl" in form:
        assert [json.loads(line) for line in content.split(b"\n")[:-1]] == expected
        assert content.endswith(b"\n")
    else:
        found = table_of(content, "\t" if ".tsv" in form else ",")
        assert found == [names, *([as_text(value) for value in row.values()] for row in expected)]


@pytest.mark.parametrize("form", FORMS)
def test_threads_do_not_matter(tmp_path, form, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    given_in = make(tmp_path, form, 40)
    outputs = []
    for threads in (1, 3):
        out = tmp_path / f"out{threads}"
        annotate(Source(given_in, on_error="skip"), out, Added(), threads=threads)
        outputs.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert outputs[0] == outputs[1]


def test_an_input_of_which_nothing_is_left(tmp_path):
    for name, content in {"a.jsonl": b"broken", "b.csv": b"text\n", "c.csv": b"", "d.txt": b"\0"}.items():
        (tmp_path / name).write_bytes(content)
    pq.write_table(pa.table({"text": ["x"]}).slice(1), tmp_path / "e.parquet")
    annotate(Source(tmp_path, on_error="skip"), tmp_path / "out", Added())
    out = tmp_path / "out/annotated"
    assert sorted(path.name for path in out.iterdir()) == ["a.jsonl", "b.csv", "c.csv", "e.parquet"]
    assert (out / "a.jsonl").read_bytes() == (out / "c.csv").read_bytes() == b""
    assert (out / "b.csv").read_bytes() == b"text,kept,cluster,duplicate_of,similarity\n"
    assert pq.read_schema(out / "e.parquet").names == ["text", *SCHEMA.names]
    assert not (tmp_path / "out/annotations.tsv").exists()


ONE = Added(lambda row: [row], pa.schema([("kept", pa.int64())]))


def test_numbers_run_over_all_inputs(tmp_path):
    files = {"a.txt": "0", "b.jsonl": '{"text": "1"}\n{"text": "2", "kept": 0}', "c.csv": "text\n3\n", "d/e.md": "5"}
    (tmp_path / "in/d").mkdir(parents=True)
    for name, content in files.items():
        (tmp_path / "in" / name).write_text(content)
    pq.write_table(pa.table({"text": ["4"]}), tmp_path / "in/d/a.parquet")
    annotate(Source(tmp_path / "in"), tmp_path / "out", ONE)
    out = tmp_path / "out/annotated"
    assert (out / "b.jsonl").read_text() == '{"text": "1", "kept_1": 1}\n{"text": "2", "kept": 0, "kept_1": 2}\n'
    assert (out / "c.csv").read_text() == "text,kept\n3,3\n"
    assert pq.read_table(out / "d/a.parquet").to_pylist() == [{"text": "4", "kept": 4}]
    assert (out / "d/e.md").read_text() == "5"
    assert (tmp_path / "out/annotations.tsv").read_text() == "file\tkept\na.txt\t0\nd/e.md\t5\n"


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (['{"text": "a"}', '{"text": "b", "kept": 1}'], "kept_1"),
        (['{"text": "a"}', '{"text": "b", "k\\u0065pt": 1}', '{"text": "c", "kept\\u005f1": 1}'], "kept_2"),
        (['{"text": "a", "n": {"kept": 1}}', '{"text": "{\\"kept\\": 1}"}', '{"text": "c", "Kept": 1}'], "kept"),
        (['{"text": "a"}', '{"no text": "b", "kept": 1}', 'broken {"kept": 1}'], "kept"),
        (['{"text": "a", "kept_1": 1}', '{"text": "b", "kept_by": 1, "\\"kept": 1}'], "kept"),
    ],
)
def test_a_member_has_one_name_in_a_file(tmp_path, lines, name):
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    annotate(Source(tmp_path / "a.jsonl", on_error="skip"), tmp_path / "out", ONE)
    found = (tmp_path / "out/annotated/a.jsonl").read_text().splitlines()
    good = [(row, line) for row, line in enumerate(lines) if line.startswith('{"text"')]
    assert found == [f'{line[:-1]}, "{name}": {row}}}' for row, line in good]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{}\n", b'{"kept": 7}\n'),
        (b" {\t}\r\n", b' {"kept": 7\t}\r\n'),
        (b'{"a": {}} \n', b'{"a": {}, "kept": 7} \n'),
        (b'{"a": "}{" \t}\n', b'{"a": "}{", "kept": 7 \t}\n'),
    ],
)
def test_members_are_put_in_and_nothing_else_changes(line, expected):
    cut = RecordCut(line, np.array([0]), np.array([len(line) - 1]))
    assert annotate_lines(cut, pa.table({"added": [7]}), ["kept"]) == expected


def test_names_in_a_line_that_is_nested_too_deeply_to_parse(tmp_path):
    deep = "[" * sys.getrecursionlimit() * 2 + "]" * sys.getrecursionlimit() * 2
    lines = [f'{{"text": "{row}", "{name}": {deep}}}' for row, name in enumerate(["x", "kept", "kept_1"])]
    for out, chosen, last in (("one", lines[:1], "kept"), ("all", lines, "kept_2")):
        (tmp_path / "a.jsonl").write_text("\n".join(chosen))
        annotate(Source(tmp_path / "a.jsonl"), tmp_path / out, ONE)
        found = (tmp_path / out / "annotated/a.jsonl").read_text().splitlines()
        assert found == [f'{line[:-1]}, "{last}": {row}}}' for row, line in enumerate(chosen)]


def test_names_in_a_header_that_repeats_them(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'text,kept,"kept",kept_1,Kept\r\na,1,2,3,4\r\nb,1,2,3,4')
    annotate(Source(tmp_path / "a.csv"), tmp_path / "out", ONE)
    found = (tmp_path / "out/annotated/a.csv").read_bytes()
    assert found == b'text,kept,"kept",kept_1,Kept,kept_2\r\na,1,2,3,4,0\r\nb,1,2,3,4,1\n'


def test_parquet_keeps_schema_metadata_and_compression(tmp_path):
    fields = [pa.field("text", pa.string(), False, {"k": "v"}), pa.field("Kept", pa.int8()), pa.field("kept", MAP)]
    columns = [["a", "b"], [1, None], [[("x", 1)], None]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    original = pa.table(arrays, schema=pa.schema(fields, {"owner": "me"}))
    pq.write_table(original, tmp_path / "a.parquet", compression="gzip")
    annotate(Source(tmp_path / "a.parquet"), tmp_path / "out", Added())
    found = pq.read_table(tmp_path / "out/annotated/a.parquet")
    assert found.column_names == ["text", "Kept", "kept", "kept_1", "cluster", "duplicate_of", "similarity"]
    assert found.select([0, 1, 2]).equals(original) and found.schema.metadata == original.schema.metadata
    assert found.schema.field("text").equals(fields[0], check_metadata=True)
    group = pq.ParquetFile(tmp_path / "out/annotated/a.parquet").metadata.row_group(0)
    assert {group.column(i).compression for i in range(4)} == {"GZIP"}


def test_types_that_arrow_cannot_filter(tmp_path):
    texts = pa.array(["a", None, "b", "c", None, "d"], pa.string_view())
    annotate(Source(pa.table({"text": texts}), on_error="skip"), tmp_path / "out", ONE)
    found = pq.read_table(tmp_path / "out/annotated/documents.parquet")
    assert found.to_pylist() == [{"text": text, "kept": row} for row, text in enumerate(texts.to_pylist()) if text]


def test_a_column_that_is_called_like_the_list_of_files(tmp_path):
    (tmp_path / "a\tb.txt").write_text("a")
    added = Added(lambda row: ["x\ty"], pa.schema([("file", pa.string())]))
    annotate(Source(tmp_path / "a\tb.txt"), tmp_path / "out", added)
    assert (tmp_path / "out/annotations.tsv").read_text() == 'file\tfile_1\n"a\tb.txt"\t"x\ty"\n'


BLANKS = st.text(" \t", max_size=2) | st.just(" \t" * 4)
NAMES = st.sampled_from(["kept", "kept_1", "kept_1_1", "k\u00e9pt", "", "x", "kept ", 'k"ept'])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text('ab{}"\\:,\n\u00e9\u2028', max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def odd_lines(draw):
    """A line of JSON that is written as no library would: blanks anywhere, characters escaped at will."""

    def spelt(name):
        plain = [json.dumps(character, ensure_ascii=False)[1:-1] for character in name]
        ways = [st.sampled_from([way, f"\\u{ord(character):04x}"]) for way, character in zip(plain, name, strict=True)]
        return f'"{"".join(draw(st.tuples(*ways)))}"'

    members = [*draw(st.lists(st.tuples(NAMES, JSON_VALUES), max_size=3)), ("text", draw(st.text(max_size=4)))]
    blank = iter(draw(st.lists(BLANKS, min_size=20, max_size=20)))
    parts = [
        f"{next(blank)}{spelt(name)}{next(blank)}:{next(blank)}{json.dumps(value, ensure_ascii=draw(st.booleans()))}"
        for name, value in draw(st.permutations(members))
    ]
    inside = f"{next(blank)},".join(parts)
    return f"{next(blank)}{{{inside}{next(blank)}}}{next(blank)}".encode() + draw(st.sampled_from([b"", b"\r"]))


@given(
    lines=st.lists(odd_lines(), min_size=1, max_size=6),
    ends=st.lists(st.sampled_from([b"\n", b"\n\n", b"\n \r\n"]), min_size=6, max_size=6),
    final=st.booleans(),
    size=st.sampled_from([1, 40, 10_000]),
)
@example([b'{"text":""}'], [b"\n"] * 6, False, 1)
@settings(max_examples=100, deadline=None)
def test_lines_stay_byte_for_byte_around_the_members(tmp_path_factory, lines, ends, final, size):
    folder = tmp_path_factory.mktemp("annotate")
    content = b"".join(line + end for line, end in zip(lines, ends, strict=False))
    (folder / "a.jsonl").write_bytes(content if final else content.rstrip(b"\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        annotate(Source(folder / "a.jsonl"), folder / "out", ONE)
    taken = {name for line in lines for name, _ in json.loads(line, object_pairs_hook=list)}
    name = next(name for name in ["kept", *(f"kept_{number}" for number in range(1, 99))] if name not in taken)
    expected = []
    for row, line in enumerate(lines):
        head = line[: line.rindex(b"}")].rstrip(b" \t")
        expected.append(head + f', "{name}": {row}'.encode() + line[len(head) :])
        before, after = (json.loads(each, object_pairs_hook=list) for each in (line, expected[-1]))
        assert after == [*before, (name, row)]
    assert (folder / "out/annotated/a.jsonl").read_bytes() == b"".join(line + b"\n" for line in expected)
