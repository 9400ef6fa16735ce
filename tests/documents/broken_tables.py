"""Parquet and Arrow files that are damaged and read: run by test_broken_tables.py through tests/trials.py."""

import resource
import shutil

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

import sosie
from sosie.documents.source import Source

ROWS = 40
TEXTS = [f"text number {i % 7} about roses, and {'x' * (i % 5)} thorns" for i in range(ROWS)]
PLAIN = pa.table({"id": list(range(ROWS)), "text": TEXTS})
NESTED = PLAIN.append_column("tags", [[[str(i)] * (i % 3) for i in range(ROWS)]]).append_column(
    "meta", [[{"a": i, "b": None if i % 4 else "q"} for i in range(ROWS)]]
)
CODED = PLAIN.set_column(1, "text", PLAIN["text"].dictionary_encode())
PARQUET = {
    "plain": (PLAIN, {"use_dictionary": False, "compression": "none"}),
    "dictionary": (PLAIN, {"compression": "snappy"}),
    "indexed": (PLAIN, {"compression": "zstd", "write_page_index": True}),
    "nested": (NESTED, {"compression": "none", "store_schema": False}),
    "delta": (
        PLAIN,
        {
            "use_dictionary": False,
            "compression": "lz4",
            "column_encoding": {"text": "DELTA_BYTE_ARRAY", "id": "DELTA_BINARY_PACKED"},
        },
    ),
    "pages": (PLAIN, {"row_group_size": 15, "data_page_size": 100, "compression": "brotli"}),
    "newer": (
        PLAIN,
        {
            "use_dictionary": False,
            "compression": "gzip",
            "data_page_version": "2.0",
            "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY", "id": "BYTE_STREAM_SPLIT"},
        },
    ),
    "checksums": (PLAIN, {"write_page_checksum": True, "store_schema": False}),
}
ARROW = {"feather": (PLAIN, "uncompressed"), "lz4": (NESTED, "lz4"), "zstd": (PLAIN, "zstd"), "coded": (CODED, "lz4")}
KINDS = [*PARQUET, *ARROW, "stream"]
_whole = {}


def make(path, kind):
    """Write a file of a kind."""
    if kind in PARQUET:
        table, options = PARQUET[kind]
        pq.write_table(table, path, **options)
    elif kind in ARROW:
        table, compression = ARROW[kind]
        feather.write_feather(table, path, compression)
    else:
        with pa.ipc.new_stream(str(path), NESTED.schema) as stream:
            stream.write_table(NESTED, max_chunksize=15)


def attempt(folder, rng):
    """Damage a file of some kind, and read it; now and then write what is kept of it."""
    kind = rng.choice(KINDS)
    path = folder / f"{kind}.{'parquet' if kind in PARQUET else 'arrow'}"
    if kind not in _whole:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        make(path, kind)
        _whole[kind] = path.read_bytes()
    path.write_bytes(damaged(_whole[kind], rng))
    read = sum(len(batch) for batch in Source(path, on_error="skip").batches(1))
    if rng.random() < 0.1:
        output = folder / f"{kind}.out"
        shutil.rmtree(output, ignore_errors=True)
        sosie.dedup(path, output=output, on_error="skip", threads=1)
    return "read" if read == ROWS else "read in part"


def damaged(whole, rng):
    """Return bytes with a bit flipped, or cut short, or with other numbers in places."""
    data, choice = bytearray(whole), rng.random()
    if choice < 0.6:
        data[_place(data, rng)] ^= 1 << rng.randrange(8)
    elif choice < 0.7:
        del data[rng.randrange(len(data)) :]
    elif choice < 0.9:
        for _ in range(rng.randrange(1, 5)):
            data[_place(data, rng)] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)))
    else:
        at, length = _place(data, rng), rng.randrange(1, 9)
        data[at : at + rng.choice((0, length))] = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))
    return bytes(data)


def _place(data, rng):
    """Return a place, as often in the last quarter as before: there the footers are."""
    return rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(3 * len(data) // 4, len(data))
