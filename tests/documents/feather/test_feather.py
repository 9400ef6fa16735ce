"""Arrow files: read in small pieces, written as they were; damage and bombs are named before they do harm."""

import json
import random

import pyarrow as pa
import pyarrow.feather as pf
import pytest
from tests.documents.writing import write

import sosie
from sosie.documents import Source
from sosie.documents.feather import messages, read
from sosie.errors import DataError, SosieError, UsageError

TEXTS = [f"text number {number} of many é" for number in range(100)]


def table(**columns):
    kinds = pa.array([str(number % 3) for number in range(100)]).dictionary_encode()
    schema = pa.schema([pa.field("text", pa.string(), metadata={"k": "v"}), pa.field("kind", kinds.type)], {"m": "w"})
    found = pa.table([TEXTS, kinds], schema=schema)
    for name, values in columns.items():
        found = found.append_column(name, values)
    return found


def save(path, data, stream=False, **options):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(path, data.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(data, max_chunksize=17)
    return path


def texts_of(source):
    return [text for batch in source.batches() for text in batch.texts.to_pylist()]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_rows_go_where_they_belong_with_schema_and_compression(tmp_path, monkeypatch, stream, compression):
    monkeypatch.setattr(read, "PIECE_BYTES", 200)
    path = save(tmp_path / "a.arrow", table(), stream, compression=compression)
    before = path.read_bytes()
    assert texts_of(Source(path)) == TEXTS
    write(Source(path), {3: 1, 50: 2}, tmp_path / "out")
    opened = pa.ipc.open_stream if stream else pa.ipc.open_file
    kept = opened(tmp_path / "out/kept/a.arrow").read_all()
    rest = [number for number in range(100) if number not in (3, 50)]
    assert kept.equals(table().take(rest), check_metadata=True) and kept.schema.equals(table().schema, True)
    dropped = opened(tmp_path / "out/dropped/a.arrow").read_all()
    assert dropped["text"].to_pylist() == [TEXTS[3], TEXTS[50]]
    assert dropped["duplicate_of"].to_pylist() == ["a.arrow:2", "a.arrow:3"]
    with open(tmp_path / "out/kept/a.arrow", "rb") as file:
        layout = messages.read_layout(file, (tmp_path / "out/kept/a.arrow").stat().st_size)
    assert (layout.is_stream, layout.compression) == (stream, compression)
    assert path.read_bytes() == before


def test_nested_columns_views_and_ids(tmp_path):
    inner = pa.StructArray.from_arrays([pa.array(TEXTS)], ["body"])
    data = table(meta=inner, id=pa.array(range(100), pa.uint16()), view=pa.array(TEXTS, pa.string_view()))
    path = save(tmp_path / "a.feather", data)
    reading = Source(path, text_column="meta.body").batches()
    assert next(reading).ids.to_pylist() == list(range(100))
    assert texts_of(Source(path, text_column="view")) == TEXTS
    write(Source(path), {1: 0}, tmp_path / "out")
    assert pf.read_table(tmp_path / "out/kept/a.feather").num_rows == 99


def test_nulls_and_bytes_that_are_not_utf8_are_rejected_by_row(tmp_path):
    raw = pa.array([b"good", None, b"caf\xe9", b"fine"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    path = save(tmp_path / "a.feather", pa.table({"text": texts}))
    batches = list(Source(path, on_error="skip").batches())
    rejects = [(reject.line, reject.reason) for batch in batches for reject in batch.rejects]
    assert rejects == [(2, "'text' is null"), (3, "'text' has invalid UTF-8 (byte 4)")]
    with pytest.raises(DataError, match=r"a\.feather, row 2: 'text' is null"):
        texts_of(Source(path))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_damage_never_gives_another_kind_of_error(tmp_path, stream, compression):
    path = save(tmp_path / "a.arrow", table(), stream, compression=compression)
    content = path.read_bytes()
    chance = random.Random(7)
    for cut in [0, 1, 4, 8, 100, len(content) // 2, len(content) - 20]:
        path.write_bytes(content[:cut])
        with pytest.raises(DataError, match=r"a\.arrow: is damaged or not an Arrow file"):
            texts_of(Source(path))
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(chance.choice([1, 3, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            texts_of(Source(path, on_error="skip"))
        except SosieError as error:
            assert "a.arrow" in str(error)


def test_an_index_beyond_its_dictionary(tmp_path):
    indices = pa.array([0, 9, 1], pa.int32())
    texts = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    path = save(tmp_path / "a.arrow", pa.table({"text": texts}))
    with pytest.raises(DataError, match="an index beyond its dictionary"):
        texts_of(Source(path))


@pytest.mark.parametrize("stream", [False, True])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch, stream):
    monkeypatch.setattr("sosie.documents.input.FREE_EXPANSION", 1 << 20)
    path = save(tmp_path / "a.arrow", pa.table({"text": ["a" * (1 << 20)] * 20}), stream, compression="zstd")
    monkeypatch.setattr(pa.ipc, "open_file", lambda *args, **options: pytest.fail("it was opened"))
    monkeypatch.setattr(pa.ipc, "open_stream", lambda *args, **options: pytest.fail("it was opened"))
    with pytest.raises(DataError, match=r"a\.arrow: expands to more than 200 times its .*--max-expansion"):
        texts_of(Source(path))


def test_a_long_text_that_a_dictionary_repeats(tmp_path, monkeypatch):
    monkeypatch.setattr("sosie.documents.input.FREE_EXPANSION", 1 << 20)
    monkeypatch.setattr("sosie.documents.tables.slices.WORST_BYTES", 1 << 20)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int8()), pa.array(["a" * (1 << 18)]))
    path = save(tmp_path / "a.feather", pa.table({"text": texts}))
    with pytest.raises(DataError, match="expands to more than"):
        texts_of(Source(path))


def test_feather_of_version_1_is_named(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + b"\0" * 100)
    with pytest.raises(DataError, match=r"is Feather of version 1.*Write it again"):
        texts_of(Source(tmp_path / "a.feather"))
    with pytest.raises(UsageError, match="no column 'body'"):
        texts_of(Source(save(tmp_path / "b.feather", table()), text_column="body"))


def test_polars_and_pandas_write_them_too(tmp_path):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"text": TEXTS}).write_ipc(tmp_path / "p.arrow", compression="zstd")
    table().to_pandas().to_feather(tmp_path / "q.feather")
    assert texts_of(Source([tmp_path / "p.arrow", tmp_path / "q.feather"])) == TEXTS * 2


@pytest.fixture(scope="module")
def datasets():
    return pytest.importorskip("datasets")


@pytest.mark.filterwarnings("ignore")
def test_what_datasets_saves(tmp_path, datasets):
    rows = [{"id": number, "text": TEXTS[number % 90]} for number in range(100)]
    whole = datasets.Dataset.from_list(rows)
    whole.save_to_disk(tmp_path / "one", num_shards=2)
    (tmp_path / "one/cache-1234.arrow").write_bytes(b"not of the dataset")
    datasets.DatasetDict({"train": whole.select(range(80)), "test": whole.select(range(80, 100))}).save_to_disk(
        tmp_path / "two"
    )
    for name, files in (("one", 2), ("two", 2)):
        result = sosie.dedup(tmp_path / name, method="exact", threshold=1, output=tmp_path / f"out-{name}")
        assert len(result.reading.inputs) == files and result.report.counts.dropped == 10
        kept = sorted((tmp_path / f"out-{name}/kept").rglob("*.arrow"))
        assert sum(datasets.Dataset.from_file(str(file)).num_rows for file in kept) == 90
        for file in (tmp_path / f"out-{name}/dropped").rglob("*.arrow"):
            assert "duplicate_of" in datasets.Dataset.from_file(str(file)).features


def test_a_dataset_of_which_a_part_is_missing(tmp_path):
    save(tmp_path / "data-0.arrow", table(), stream=True)
    state = {"_data_files": [{"filename": "data-0.arrow"}, {"filename": "data-1.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    with pytest.raises(DataError, match=r"data-1\.arrow: is missing, and state\.json names it"):
        Source(tmp_path).batches()
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [], "_indices_data_files": [{"filename": "i"}]}))
    with pytest.raises(DataError, match="flatten_indices"):
        Source(tmp_path).batches()
