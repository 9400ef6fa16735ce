"""Reading: every record has a number, and nothing depends on how the input is cut."""

import contextlib
import gzip
import json
import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.documents import Source, blocks, reading
from sosie.errors import DataError, SosieError, UsageError


def lines_of(documents):
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".gz"):
        content = gzip.compress(content)
    elif path.name.endswith(".zst"):
        content = pa.compress(content, "zstd", asbytes=True) if content else b""
    path.write_bytes(content)
    return path


def read(source, **options):
    """Return what a source says about each document, by number: (row, text, id) and rejects."""
    stream = source.batches(**options)
    kept, rejects = [], []
    for batch in stream:
        assert batch.texts.type == pa.large_string() and batch.texts.null_count == 0
        assert len(batch.texts) == len(batch.rows) <= source.batch_size
        kept += list(
            zip(batch.rows.tolist(), batch.texts.to_pylist(), stream.ids.take(batch.rows).to_pylist(), strict=True)
        )
        if batch.ids is not None:
            assert batch.ids.equals(stream.ids.take(batch.rows))
        rejects += batch.rejects
    assert sorted([row for row, _, _ in kept] + [r.row for r in rejects]) == list(range(stream.documents))
    assert stream.rejected == len(rejects) and stream.finished
    return kept, rejects


DOCUMENTS = [{"text": f"text {i} é", "id": f"k{i}", "more": [i]} for i in range(10)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a.jsonl.gz", "a.ndjson.zst", "A.JSONL.GZ"])
@pytest.mark.parametrize("threads", [1, 2])
def test_json_lines_in_every_wrapping(tmp_path, name, threads):
    path = put(tmp_path / name, lines_of(DOCUMENTS) if not name.isupper() else b"")
    if name.isupper():
        path.write_bytes(gzip.compress(lines_of(DOCUMENTS)))
    kept, rejects = read(Source(path), threads=threads)
    assert kept == [(i, d["text"], d["id"]) for i, d in enumerate(DOCUMENTS)] and not rejects


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_parquet_and_memory_with_every_text_type(tmp_path, kind):
    texts = pa.array([d["text"] for d in DOCUMENTS], pa.string()).cast(kind)
    table = pa.table({"more": pa.array(range(10)), "text": texts, "id": pa.array(range(10), pa.int16())})
    expected = [(i, d["text"], i) for i, d in enumerate(DOCUMENTS)]
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    assert read(Source(tmp_path / "a.parquet", batch_size=2))[0] == expected
    assert read(Source(table, batch_size=4))[0] == expected
    assert read(Source(table.to_reader(3)))[0] == expected
    assert read(Source(pa.record_batch({"text": texts})))[0] == [(i, d["text"], i) for i, d in enumerate(DOCUMENTS)]


def test_anything_with_the_arrow_c_stream_is_read(tmp_path):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"body": ["a", "b"]}).__arrow_c_stream__(requested_schema)

    source = Source(Stream(), text_column="body")
    assert read(source) == read(source) == ([(0, "a", 0), (1, "b", 1)], [])
    with pytest.raises(UsageError, match="the Arrow array holds int64, not texts"):
        Source(pa.chunked_array([[1]]))


def test_made_ids_name_the_physical_line_and_the_row(tmp_path):
    put(tmp_path / "b.jsonl", b'\n{"text": "a"}\r\n \r\n\n{"text": "b"}\n{"text": "c"}')
    put(tmp_path / "c.jsonl", b'{"text": "d"}\n')
    pq.write_table(pa.table({"text": ["e", "f"]}), tmp_path / "d.parquet")
    kept, _ = read(Source([tmp_path / "b.jsonl", tmp_path / "c.jsonl", tmp_path / "d.parquet"]))
    ids = [identifier for _, _, identifier in kept]
    assert ids == ["b.jsonl:2", "b.jsonl:5", "b.jsonl:6", "c.jsonl:1", "d.parquet:1", "d.parquet:2"]


def test_a_file_and_a_folder_of_one_name_are_told_apart(tmp_path):
    for name in ("p/a.jsonl", "q/a.jsonl/x.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('{"text": "a rose"}\n')
    inputs = Source([tmp_path / "p/a.jsonl", tmp_path / "q"]).batches().inputs
    assert [source.name for source in inputs] == ["p/a.jsonl", "q/a.jsonl/x.jsonl"]


def test_equal_base_names_are_told_apart_by_their_folders(tmp_path):
    for folder in ("x", "y/z"):
        put(tmp_path / folder / "a.jsonl", b'{"text": "a"}\n')
    kept, _ = read(Source([str(tmp_path / "y/z/a.jsonl"), str(tmp_path / "x/*.jsonl")]))
    assert [identifier for _, _, identifier in kept] == ["y/z/a.jsonl:1", "x/a.jsonl:1"]


def test_the_order_is_that_of_the_arguments_and_sorted_within_a_glob(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.ndjson", "d[1].jsonl"):
        put(tmp_path / name, lines_of([{"text": name}]))
    paths = [tmp_path / "c.ndjson", str(tmp_path / "[ab].jsonl"), str(tmp_path / "d[1].jsonl")]
    assert [text for _, text, _ in read(Source(paths))[0]] == ["c.ndjson", "a.jsonl", "b.jsonl", "d[1].jsonl"]


def test_the_id_column(tmp_path):
    path = put(tmp_path / "a.jsonl", lines_of([{"text": "a", "id": 1, "key": "x"}, {"text": "b", "id": 2, "key": "y"}]))
    assert [i for _, _, i in read(Source(path))[0]] == [1, 2]
    assert [i for _, _, i in read(Source(path, id_column="key"))[0]] == ["x", "y"]
    assert [t for _, t, _ in read(Source(path, text_column="key"))[0]] == ["x", "y"]
    plain = put(tmp_path / "0.jsonl", lines_of([{"text": "a"}]))
    assert [i for _, _, i in read(Source([plain, path]))[0]] == ["0.jsonl:1", "a.jsonl:1", "a.jsonl:2"]


@pytest.mark.parametrize(
    ("arrange", "message"),
    [
        (lambda t: [], "no documents"),
        (lambda t: str(t / "*.jsonl"), "matches no file"),
        (lambda t: t / "missing.jsonl", "no such file"),
        (lambda t: t, r"holds no file that can be read.*\.jsonl.*folders"),
        (lambda t: put(t / "a.xlsx", b""), r"unknown kind of file.*\.jsonl.*\.csv.*\.gz.*\.parquet"),
        (lambda t: put(t / "a.parquet.gz", b""), "unknown kind"),
        (lambda t: [put(t / "a.jsonl", b""), t / "x" / ".." / "a.jsonl"], "given twice|no such file"),
        (lambda t: [put(t / "a.jsonl", b""), str(t / "*.jsonl")], "given twice"),
        (lambda t: put(t / "a.jsonl", lines_of([{"body": "x", "n": 1}])), r"a\.jsonl: .*'text'.*body, n"),
    ],
)
def test_impossible_inputs(tmp_path, arrange, message):
    with pytest.raises(UsageError, match=message):
        Source(arrange(tmp_path)).batches()


def test_impossible_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [1], "body": ["a"], "f": [1.5]}), path)
    later = put(tmp_path / "b.jsonl", lines_of([{"body": "a", "f": 1}]))
    for options, message in [
        ({}, "a.parquet: the column 'text' is int64"),
        ({"text_column": "nope"}, "a.parquet: there is no column 'nope'. The columns are: text, body, f"),
        ({"text_column": "body", "id_column": "nope"}, "no column 'nope'"),
        ({"text_column": "body", "id_column": "f"}, "'f' is double; ids are"),
        ({"text_column": "body", "id_column": "body"}, "both"),
    ]:
        with pytest.raises(UsageError, match=message):
            Source([path, later], **options).batches()
    with pytest.raises(UsageError, match=r"no column 'nope'. The columns are: body, f"):
        Source(later, text_column="body", id_column="nope").batches()
    texts = tmp_path / "c.parquet"
    pq.write_table(pa.table({"body": ["a"], "id": ["x"]}), texts)
    numbers = put(tmp_path / "d.jsonl", lines_of([{"body": "a", "id": 1}]))
    with pytest.raises(UsageError, match=r"c.parquet: the ids are string here and integers in the first"):
        Source([numbers, texts], text_column="body").batches()
    for wrong in ({"on_error": "ignore"}, {"batch_size": 0}):
        with pytest.raises(UsageError):
            Source(path, **wrong)


def test_one_document_without_the_column_is_its_own_fault(tmp_path):
    path = put(tmp_path / "a.jsonl", b'{"x": 1}\n{"text": "a"}\n')
    with pytest.raises(DataError, match=r"a.jsonl, line 1: no column 'text'"):
        list(Source(path).batches())
    kept, rejects = read(Source(path, on_error="skip"))
    assert kept == [(1, "a", "a.jsonl:2")] and rejects[0].reason.startswith("no column")


def test_the_message_names_file_line_column_and_remedy(tmp_path):
    path = put(tmp_path / "corpus.jsonl", b'{"text": "a"}\n\n{"text": "a" "b"}\n')
    with pytest.raises(DataError) as caught:
        list(Source(path).batches())
    assert str(caught.value) == (
        "corpus.jsonl, line 3: broken JSON (Expecting ',' delimiter, column 14). Fix the line or pass --on-error skip."
    )


def test_empty_files_hold_no_documents(tmp_path):
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl"):
        put(tmp_path / name, b"" if name != "c.jsonl" else b"\xef\xbb\xbf")
    assert read(Source(str(tmp_path / "*"))) == ([], [])
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "d.parquet")
    assert read(Source(str(tmp_path / "*"))) == ([], [])
    assert read(Source(pa.table({"text": pa.array([], pa.string())}))) == ([], [])


def test_a_byte_order_mark_is_skipped_at_the_start_only(tmp_path):
    path = put(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"text": "a"}\n\xef\xbb\xbf{"text": "b"}\n')
    kept, rejects = read(Source(path, on_error="skip"))
    assert [text for _, text, _ in kept] == ["a"] and rejects[0].line == 2


def test_concatenated_members_of_gzip_and_zstd(tmp_path):
    parts = [lines_of(DOCUMENTS[:3]), lines_of(DOCUMENTS[3:7]), lines_of(DOCUMENTS[7:])]
    (tmp_path / "a.jsonl.gz").write_bytes(b"".join(gzip.compress(part) for part in parts))
    (tmp_path / "a.jsonl.zst").write_bytes(b"".join(pa.compress(part, "zstd", asbytes=True) for part in parts))
    for name in ("a.jsonl.gz", "a.jsonl.zst"):
        assert [i for _, _, i in read(Source(tmp_path / name))[0]] == [d["id"] for d in DOCUMENTS]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
def test_every_truncation_is_named_and_so_is_garbage(tmp_path, name):
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"text": ["some text"] * 3}), path)
    else:
        put(path, lines_of(DOCUMENTS))
    whole = path.read_bytes()
    cuts = [whole[:size] for size in range(0 if name == "a.parquet" else 1, len(whole), 7)]
    for content in [*cuts, whole[:-1], b"garbage", whole + b"garbage", b"\0" * 100]:
        path.write_bytes(content)
        with pytest.raises(DataError, match=name):
            read(Source(path, on_error="skip"))


def test_damaged_parquet_never_gives_another_kind_of_error(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(20)]}), path)
    whole = path.read_bytes()
    for position in range(0, len(whole), 3):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            read(Source(path, on_error="skip"))
        except SosieError as error:
            assert "a.parquet" in str(error)


def test_the_first_problem_in_document_order_is_raised(tmp_path):
    first = put(tmp_path / "a.jsonl", b"broken\n")
    second = put(tmp_path / "b.jsonl.gz", lines_of(DOCUMENTS))
    second.write_bytes(second.read_bytes()[:-4])
    third = put(tmp_path / "c.jsonl", b"again\n")
    for threads in (1, 2):
        with pytest.raises(DataError, match=r"a\.jsonl, line 1: broken"):
            list(Source([first, third, second]).batches(threads=threads))


def test_a_line_far_longer_than_a_block(tmp_path):
    text = "é" * (6 << 20)
    path = put(
        tmp_path / "a.jsonl", lines_of([{"text": "a"}]) + json.dumps({"text": text}, ensure_ascii=False).encode()
    )
    assert [len(t) for _, t, _ in read(Source(path))[0]] == [1, len(text)]


def test_arrow_rows_that_cannot_be_used(tmp_path):
    bad = pa.Array.from_buffers(pa.string(), 2, [None, *pa.array([b"\xff", b"ok"], pa.binary()).buffers()[1:]])
    texts = pa.concat_arrays([bad, pa.array([None, "c", "d", "e"], pa.string())])
    table = pa.table({"text": texts, "id": pa.array([1, 2, 3, None, 2**64 - 1, 6], pa.uint64())})
    pq.write_table(table, tmp_path / "a.parquet")
    shown = ("a.parquet, row 1", r"the Arrow table, row 0 \(counted from 0\)")
    places = ((tmp_path / "a.parquet", "a.parquet"), (table, "documents.parquet"))
    for (source, place), first in zip(places, shown, strict=True):
        kept, rejects = read(Source(source, on_error="skip"))
        assert kept == [(1, "ok", 2), (5, "e", 6)]
        assert [(r.file, r.line) for r in rejects] == [(place, line) for line in (1, 3, 4, 5)]
        words = ["invalid UTF-8", "'text' is null", "'id' is null", "beyond 64 bits"]
        assert all(word in reject.reason for word, reject in zip(words, rejects, strict=True))
        with pytest.raises(DataError, match=f"{first}: .*invalid UTF-8"):
            list(Source(source).batches())


def test_duplicate_ids_name_both_places(tmp_path):
    a = put(tmp_path / "a.jsonl", b'\n{"text": "a", "id": "x"}\n')
    b = put(tmp_path / "b.jsonl", b'{"text": "b", "id": "y"}\n{"text": "c", "id": "x"}\n')
    with pytest.raises(DataError, match=r"b.jsonl, line 2: duplicate id 'x', first in a.jsonl, line 2\. .*--id-column"):
        list(Source([a, b]).batches())


record = st.one_of(
    st.builds(lambda t, i: {"text": t, "id": i}, st.text(max_size=5), st.integers(0, 12).map(str)),
    st.sampled_from([{"text": None, "id": "q"}, {"id": "z"}, 7, {"text": "t", "id": 3}, {"text": "u", "id": None}]),
)


@given(
    records=st.lists(record, max_size=25),
    cuts=st.lists(st.integers(0, 25), max_size=6),
    batch_size=st.integers(1, 9),
    block=st.sampled_from([1, 30, 1000]),
    threads=st.sampled_from([1, 2]),
)
@settings(max_examples=150, deadline=None)
def test_splitting_and_batching_change_nothing(tmp_path_factory, records, cuts, batch_size, block, threads):
    folder = tmp_path_factory.mktemp("split")

    def outcome(parts, **options):
        paths = [put(folder / f"{n}.jsonl", lines_of(part)) for n, part in enumerate(parts)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "BLOCK_BYTES", options.pop("block", 1 << 20))
            try:
                kept, rejects = read(Source(paths, on_error="skip", id_column="id", **options), threads=threads)
            except UsageError:
                return "unusable"
        return kept, [(reject.row, reject.reason.split(", first in")[0], reject.raw) for reject in rejects]

    edges = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    parts = [records[start:stop] for start, stop in pairwise(edges)]
    whole = outcome([records])
    assert outcome(parts, batch_size=batch_size, block=block) == whole
    if whole != "unusable":
        ids = [identifier for _, _, identifier in whole[0]]
        assert len(set(ids)) == len(ids)


def test_batches_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(reading, "BATCH_BYTES", 10)
    stream = Source(pa.table({"text": ["abcd", "efgh", "ij", "x" * 50, "", "k"]})).batches()
    assert [batch.texts.to_pylist() for batch in stream] == [["abcd", "efgh", "ij"], ["x" * 50], ["", "k"]]


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path):
    path = put(tmp_path / "a.jsonl", lines_of(DOCUMENTS))
    stream = Source(path).batches()
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match=r"a.jsonl: changed while it was being read"):
        list(stream)
    stream = Source(path).batches()
    path.unlink()
    with pytest.raises(DataError, match="disappeared"):
        list(stream)


def test_many_inputs_number_on(tmp_path):
    paths = [put(tmp_path / f"{n:02}.jsonl", lines_of([{"text": str(n)}] * (n % 3))) for n in range(30)]
    kept, _ = read(Source(paths))
    assert [row for row, _, _ in kept] == list(range(30))
    assert [text for _, text, _ in kept] == [str(n) for n in range(30) for _ in range(n % 3)]
    assert np.all(Source(paths).batches().counts == 0)
    assert [len(batch) for batch in Source(paths, batch_size=11).batches()] == [10, 11, 9]


def test_stopping_early_leaves_no_file_open(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    path = put(tmp_path / "a.jsonl.gz", lines_of(DOCUMENTS * 20))
    pq.write_table(pa.table({"text": ["a"] * 10}), tmp_path / "b.parquet", row_group_size=1)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for source in (Source(path, id_column="more", text_column="id"), Source(tmp_path / "b.parquet", batch_size=1)):
        with contextlib.suppress(DataError):
            next(source.batches(threads=2))
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_rejects_count_as_documents_of_a_batch(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02d}.jsonl").write_text('{"text": 1}\n' * 3)
    batches = list(Source(tmp_path, on_error="skip", batch_size=10).batches())
    assert sum(len(batch.rejects) for batch in batches) == 120
    assert max(len(batch) + len(batch.rejects) for batch in batches) <= 10
