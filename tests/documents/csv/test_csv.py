"""CSV and TSV: the two ways to read a block agree with each other and with the standard library's reader."""

import csv
import gzip
import io
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.documents import Source, blocks
from sosie.documents.columns import Columns
from sosie.documents.csv.blocks import read_csv, record_ends
from sosie.documents.csv.decode import decode_records, records_each, records_whole
from sosie.documents.input import MAX_RECORD
from sosie.documents.inputs import list_inputs
from sosie.errors import DataError, UsageError

IDS = Columns("text", "id", pa.large_string())

TOKENS = [
    b'"', b'"', b'""', b",", b",", b"\t", b"\n", b"\n", b"\r\n", b"\r", b"a", b"NA", b"007", b" ", b"\0", b"\xff",
    b"\xc3\xa9", b'"x, y"', b'"p\nq"', b'"p\r\nq"', b'"p\rq"', b'5" disk', b"1,b\n", b'2,"c"\n', b"3,d\n4,e\n", b"\\",
    b"'", b"#", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"1,b\r\n",
]  # fmt: skip
soup = st.lists(st.sampled_from(TOKENS), max_size=14).map(b"".join)
fields = st.sampled_from(
    [b"a", b"", b"NA", b'""', b'"a,b"', b'"a""b"', b'"a\nb"', b'"a\r\nb"', b'"\n"', b'a"b', b"\xc3\xa9"]
)
rows = st.lists(st.tuples(fields, fields).map(b",".join), max_size=8)
tables = st.tuples(rows, st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r\n\r\n"])).map(
    lambda parts: parts[1].join(parts[0])
)
bodies = st.one_of(tables, soup, st.tuples(tables, soup, tables).map(b"\n".join), st.tuples(tables, soup).map(b"".join))


def put(path, content):
    if path.name.endswith(".gz"):
        content = gzip.compress(content)
    elif path.name.endswith(".zst"):
        content = pa.compress(content, "zstd", asbytes=True)
    path.write_bytes(content)
    return path


def blocks_of(folder, content, size=None, name="a.csv", most=MAX_RECORD):
    return list(read_csv(replace(list_inputs(put(folder / name, content))[0], max_record=most), size))


def facts(records):
    ids = None if records.ids is None else records.ids.to_pylist()
    return records.texts.to_pylist(), ids, records.accepted.tolist(), sorted(records.problems.items())


def all_facts(parts, decode):
    """Join what is said of each block, with physical lines."""
    texts, ids, problems, lines, first = [], [], [], [], 0
    for block in parts:
        records = decode(block, IDS)
        assert records.count == len(records.accepted) + len(records.problems) == len(block)
        numbers = np.arange(records.count) if records.lines is None else records.lines
        texts += records.texts.to_pylist()
        ids += records.ids.to_pylist()
        problems += [(first + int(numbers[at]) + 1, reason) for at, reason in sorted(records.problems.items())]
        lines += [first + int(numbers[at]) + 1 for at in records.accepted]
        first += records.line_count
    return texts, ids, lines, problems


def by_the_standard_library(body):
    """Return the rows that csv.reader reads, None if it refuses; blank lines are no rows."""
    try:
        return [row for row in csv.reader(io.StringIO(body.decode(), newline=""), strict=True) if row]
    except (csv.Error, UnicodeDecodeError):
        return None


@given(body=bodies, size=st.sampled_from([1, 3, 20, 1000]))
@settings(max_examples=600, deadline=None)
@example(b'1,"a\n2,b\n3,c\n', 1000)
@example(b'1,5" disk\n2,"a\nb"\n', 1000)
@example(b'1,"a" b\n2,c\n', 1000)
@example(b"1,a\r2,b\r", 1000)
@example(b'1,"a\rb"\n', 1000)
@example(b'1,""\n""\n"",""\n', 3)
@example(b"1,a\r\r\n2,b", 20)
@example(b'"",""x,"\n"\n', 20)
@example(b"\xef\xbb\xbf1,b\n", 20)
def test_both_paths_agree_with_each_other_and_with_csv(tmp_path_factory, body, size):
    folder = tmp_path_factory.mktemp("csv")
    content = b"id,text\n" + body
    whole = blocks_of(folder, content)
    for block in whole:
        fast = records_whole(block, IDS)
        if fast is not None:
            assert facts(fast) == facts(records_each(block, IDS))
    each = all_facts(whole, records_each)
    assert all_facts(blocks_of(folder, content, size), decode_records) == each
    texts, ids, _, problems = each
    expected = by_the_standard_library(body)
    if expected is not None and b"\0" not in body and not problems:
        assert [list(pair) for pair in zip(ids, texts, strict=True)] == expected
    if expected is None or any(len(row) != 2 for row in expected):
        assert problems
    if expected is not None and all(len(row) == 2 for row in expected) and not {0, 13} & set(body):
        assert not problems


@given(
    table=st.lists(st.tuples(st.text(max_size=5), st.text(st.sampled_from('a",\n\r\t é'), max_size=9)), max_size=9),
    form=st.sampled_from(["csv", "tsv"]),
    # With other line ends the writer leaves a carriage return without quotes.
    style=st.sampled_from([(csv.QUOTE_ALL, "\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_MINIMAL, "\r\n")]),
    size=st.sampled_from([1, 7, 10_000]),
)
@settings(max_examples=200, deadline=None)
def test_what_the_standard_library_writes_is_read_back(tmp_path_factory, table, form, style, size):
    table = [row for row in table if "\0" not in row[0]]
    sheet = io.StringIO(newline="")
    delimiter = "\t" if form == "tsv" else ","
    csv.writer(sheet, delimiter=delimiter, quoting=style[0], lineterminator=style[1]).writerows(
        [("id", "text"), *table]
    )
    content = sheet.getvalue().encode()
    read = blocks_of(tmp_path_factory.mktemp("csv"), content, size, f"a.{form}")
    texts, ids, lines, problems = all_facts(read, decode_records)
    assert list(zip(ids, texts, strict=True)) == table and not problems
    written, newlines = [], 1 + 1
    for row in table:
        written.append(newlines)
        newlines += sum(value.count("\n") for value in row) + 1
    assert lines == written


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.tsv", "A.TSV"])
def test_values_are_text_in_every_wrapping(tmp_path, name):
    comma = b"," if ".csv" in name else b"\t"
    lines = [b"\xef\xbb\xbfid", b"text\r\n007", b"NA\r\n\r\nnull", b'""\r\n1.50', b'"one\r\ntwo"\r\ntrue', b""]
    path = put(tmp_path / name, comma.join(lines))
    stream = Source(path).batches()
    (batch,) = stream
    assert batch.texts.to_pylist() == ["NA", "", "one\r\ntwo", ""]
    assert batch.ids.to_pylist() == ["007", "null", "1.50", "true"] and batch.ids.type == pa.large_string()
    assert stream.ids.places(np.arange(4)) == [f"{name}, line {line}" for line in (2, 4, 5, 7)]


def test_made_ids_are_file_and_physical_line(tmp_path):
    first = put(tmp_path / "a.csv", b'\n\ntext,"two\nlines"\n"a\nb",x\n\nc,y\n')
    second = put(tmp_path / "b.csv", b"x,text\n1,d")
    for size in (1, 4 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "BLOCK_BYTES", size)
            stream = Source([first, second]).batches()
            assert [text for batch in stream for text in batch.texts.to_pylist()] == ["a\nb", "c", "d"]
        assert stream.ids.take(range(3)).to_pylist() == ["a.csv:5", "a.csv:8", "b.csv:2"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"2", "1 field instead of 2"),
        (b"2,b,c", "3 fields instead of 2"),
        (b'2,"b" c', "text after the closing quote (field 2; a quote inside quotes is written twice)"),
        (b"2,b\rc", "a carriage return outside quotes (field 2)"),
        (b"2,\xff", "invalid UTF-8 (byte 3 of the record)"),
        (b"2,b\0", "a NUL byte (byte 4 of the record)"),
        (b'2,"b', "a quote that is not closed (field 2)"),
    ],
)
def test_every_kind_of_bad_record_is_named(tmp_path, record, reason):
    path = put(tmp_path / "a.csv", b"id,text\n1,a\n" + record + b"\n3,c\n")
    with pytest.raises(DataError) as caught:
        list(Source(path).batches())
    remedy = "Fix the line or pass --on-error skip"
    if reason.startswith("invalid UTF-8"):
        remedy += ", or name the --encoding, if it is another one, as in cp1252"
    assert str(caught.value) == f"a.csv, line 3: {reason}. {remedy}."
    (batch,) = Source(path, on_error="skip").batches()
    assert batch.texts.to_pylist() == ["a", "c"] and batch.rows.tolist() == [0, 2]
    (reject,) = batch.rejects
    assert (reject.line, reject.reason, reject.raw) == (3, reason, record.decode("utf-8", "backslashreplace"))


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"id,body\n1,a\n", UsageError, r"no column 'text'. The columns are: id, body"),
        (b"text,text\n1,a\n", UsageError, r"2 columns 'text'"),
        (b"\xff\xfei\0d\0", DataError, r"a.csv: is UTF-16 by its byte order mark.*iconv"),
        (b"caf\xe9,text\n", DataError, r"a.csv, line 1: the header has invalid UTF-8"),
        (b'\n"text\n1,a\n', DataError, r"a.csv, line 2: the header has a quote that is not closed"),
        (b"text\r1\r2\r", DataError, r"a.csv, line 1: the header has a carriage return"),
    ],
)
def test_unusable_headers(tmp_path, content, kind, message):
    with pytest.raises(kind, match=message):
        Source(put(tmp_path / "a.csv", content)).batches()


def test_the_header_of_every_file_is_checked_first(tmp_path):
    good = put(tmp_path / "a.csv", b"text\nx\n")
    with pytest.raises(UsageError, match=r"b.csv: there is no column 'text'"):
        Source([good, put(tmp_path / "b.csv", b"body\nx\n")]).batches()
    empty = put(tmp_path / "c.csv", b"\xef\xbb\xbf")
    (batch,) = Source([empty, good, put(tmp_path / "d.csv", b"text\n"), put(tmp_path / "e.tsv", b"\n")]).batches()
    assert batch.texts.to_pylist() == ["x"]


def test_columns_that_are_not_read_may_repeat(tmp_path):
    (batch,) = Source(put(tmp_path / "a.csv", b"x,text,x,\n1,a,2,3\n")).batches()
    assert batch.texts.to_pylist() == ["a"]


def test_clean_blocks_take_the_fast_path(tmp_path):
    content = 'id,text\r\n1,"a\r\n""b"", é"\r\n\r\n2,\u2028 plain\r\n'.encode()
    (block,) = blocks_of(tmp_path, content)
    assert records_whole(block, IDS).texts.to_pylist() == ['a\r\n"b", é', "\u2028 plain"]
    (block,) = blocks_of(tmp_path, b'id,text\n1,5" disk\n2,x "y" z\n')
    assert records_whole(block, IDS).texts.to_pylist() == ['5" disk', 'x "y" z']


def test_a_field_far_longer_than_a_block(tmp_path):
    long = b'say ""hi"",\n' * 500_000
    parts = blocks_of(tmp_path, b'id,text\n0,a\n1,"' + long + b'"\n2,b\n', 1 << 16)
    texts, ids, _, problems = all_facts(parts, decode_records)
    assert ids == ["0", "1", "2"] and not problems
    assert texts[1] == long.decode().replace('""', '"')


def test_an_open_quote_spoils_its_line_only_even_in_endless_files(tmp_path):
    content = b'id,text\n1,"a\n' + b"2,b\n" * 2000
    texts, _, lines, problems = all_facts(blocks_of(tmp_path, content, 64, most=1000), decode_records)
    assert texts == ["b"] * 2000 and lines == list(range(3, 2003))
    too_long = "longer than 0.0 MB, the most that there is memory for (--memory)"
    assert problems == [(2, f"a quote that is not closed, or a record {too_long}")]
    for last in (b"", b"\n2,b\n"):
        content = b'id,text\n0,a\n1,"' + b"a" * 2000 + last
        texts, _, lines, problems = all_facts(blocks_of(tmp_path, content, 64, most=1000), decode_records)
        assert texts == ["a", *"b" * bool(last)] and problems == [(3, f"a line {too_long}")]
        assert lines == [2, *[4] * bool(last)]
    with pytest.raises(DataError, match=r"a.csv, line 1: the header has a line longer than"):
        blocks_of(tmp_path, b'"' + b"a" * 2000, 64, most=1000)


def test_record_ends_by_parity_and_one_by_one():
    assert [*record_ends(b'a,"b\n"\n"c"\n', b",")] == [pytest.approx([6, 10]), True]
    ends, regular = record_ends(b'a,5" x\n"b\nc"\n', b",")
    assert ends.tolist() == [6, 12] and not regular


def test_taken_records_are_decoded_alone(tmp_path):
    (block,) = blocks_of(tmp_path, b'id,text\n1,a\n2,"b\nb"\n3,c\n4,d\n')
    for chosen in ([0], [1, 2], [3], [0, 1, 2, 3], []):
        taken = decode_records(block.take(np.array(chosen, np.int64)), IDS)
        assert taken.texts.to_pylist() == [["a", "b\nb", "c", "d"][row] for row in chosen]
