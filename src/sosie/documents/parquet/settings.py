"""How a Parquet file was written, as far as it says: compression and encodings of its columns, and how strong.

The level of a compression is not stored. It is the least at which some of the rows come out as small as they are in
the file, so that what is kept of a file is not larger than the file; where fewer rows are written, they may take more
room each, because the strongest levels are slow.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.documents.input import Input
from sosie.documents.parquet.footer import Chunk, read_footer
from sosie.documents.parquet.read import footer_of, open_parquet, read_parquet

# From the weakest that is usual to the strongest.
_LEVELS = {"ZSTD": (1, 3, 6, 9, 12, 15, 19), "GZIP": (6, 9), "BROTLI": (8, 11)}
_ENCODINGS = ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
_FIRST_BYTES, _SAMPLE_BYTES = 32 << 20, 1 << 20
_ROWS = 1 << 12
_TOLERANCE = 1.002
_ARROW_SCHEMA = b"ARROW:schema"


def read_settings(source: Input, written: float = 1.0) -> dict[str, Any]:
    """Return the options of `pyarrow.parquet.ParquetWriter` by which a file comes out as it was written.

    `written` is the share of its rows that is written: what the others took is used, half of it to be on the safe side.
    """
    groups = footer_of(source).groups
    if not groups or not groups[0].rows:
        return {"compression": "snappy"}
    chunks = groups[0].chunks
    with open_parquet(source) as file:
        stored = _ARROW_SCHEMA in (file.metadata.metadata or {})
    settings = {**_settings(chunks), "store_schema": stored}
    codecs = {chunk.compression for chunk in chunks if chunk.compression in _LEVELS}
    if not codecs:
        return settings
    wanted = _ratio(chunks) * (1 + 0.5 * (1 / max(written, 0.01) - 1)) * _TOLERANCE
    rows = _first_rows(source)
    base = _written_ratio(rows, {**settings, "compression_level": _levels(chunks, 0)})
    some = rows.slice(rows.num_rows // 2, max(1, rows.num_rows * _SAMPLE_BYTES // max(rows.nbytes, 1)))
    tried = {0: base}
    for step in range(1, max(len(_LEVELS[codec]) for codec in codecs)):
        if min(tried.values()) <= wanted:
            break
        weak = _written_ratio(some, {**settings, "compression_level": _levels(chunks, 0)})
        # Strong levels are slow: how much better they are is judged by a few rows.
        strong = _written_ratio(some, {**settings, "compression_level": _levels(chunks, step)})
        tried[step] = base * strong / weak
    return {**settings, "compression_level": _levels(chunks, min(tried, key=lambda step: tried[step]))}


def _levels(chunks: list[Chunk], step: int) -> dict[str, int]:
    """Return the level of each column that has one."""
    known = {chunk.path: _LEVELS[chunk.compression] for chunk in chunks if chunk.compression in _LEVELS}
    return {path: levels[min(step, len(levels) - 1)] for path, levels in known.items()}


def _settings(chunks: list[Chunk]) -> dict[str, Any]:
    names = {chunk.path: chunk.compression for chunk in chunks}
    encodings = {
        chunk.path: encoding
        for chunk in chunks
        for encoding in _ENCODINGS
        if encoding in chunk.encodings and not chunk.has_dictionary
    }
    settings: dict[str, Any] = {
        "compression": {path: "NONE" if name == "UNCOMPRESSED" else name for path, name in names.items()},
        "write_statistics": [chunk.path for chunk in chunks if chunk.has_statistics],
        "use_dictionary": [chunk.path for chunk in chunks if chunk.has_dictionary],
    }
    return {**settings, "column_encoding": encodings} if encodings else settings


def _ratio(chunks: list[Chunk]) -> float:
    packed = sum(chunk.packed for chunk in chunks)
    return float(packed / max(1, sum(chunk.unpacked for chunk in chunks)))


def _first_rows(source: Input) -> Any:
    """Return the first rows of a file, some MiB of them."""
    batches, size = [], 0
    for batch in read_parquet(source, None, _ROWS, 1):
        batches.append(batch)
        size += batch.nbytes
        if size >= _FIRST_BYTES:
            break
    return pa.Table.from_batches(batches).combine_chunks()


def _written_ratio(sample: Any, settings: dict[str, Any]) -> float:
    """Return how small rows become, as a part of what they are unpacked."""
    sink = pa.BufferOutputStream()
    pq.write_table(sample, sink, row_group_size=max(1, sample.num_rows), **settings)
    written = sink.getvalue()
    return _ratio(read_footer(pa.BufferReader(written), written.size).groups[0].chunks)
