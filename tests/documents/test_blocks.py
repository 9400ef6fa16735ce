"""Compressed files: bz2 and xz are read in bounded steps, with several streams, and damage is named."""

import bz2
import io
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source, blocks
from sosie.errors import DataError

LINES = "".join(json.dumps({"text": f"text number {number}"}) + "\n" for number in range(500)).encode()
PACK = {".bz2": bz2.compress, ".xz": lzma.compress}


def texts_of(path):
    return [text for batch in Source(path).batches() for text in batch.texts.to_pylist()]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_several_streams_in_a_file(tmp_path, monkeypatch, suffix, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(PACK[suffix](LINES[:500]) + PACK[suffix](b"") + PACK[suffix](LINES[500:]))
    assert texts_of(path) == [f"text number {number}" for number in range(500)]


@pytest.mark.parametrize("suffix", PACK)
def test_damage_is_named(tmp_path, suffix):
    path, packed = tmp_path / f"a.jsonl{suffix}", PACK[suffix](LINES)
    for content in (
        packed[: len(packed) // 2],
        packed[:-3],
        packed[:40] + b"xx" + packed[42:],
        b"not packed",
        packed + b"x",
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"a\.jsonl\{suffix}: cannot be read \(damaged or cut short"):
            texts_of(path)
    for content in (b"", PACK[suffix](b"")):
        path.write_bytes(content)
        assert texts_of(path) == []


@given(st.lists(st.binary(max_size=200), max_size=4), st.integers(1, 64), st.booleans())
def test_xz_in_any_steps(parts, size, padded):
    packed = b"".join(lzma.compress(part) + b"\0" * (8 if padded else 0) for part in parts)
    stream = blocks.PackedStream(io.BytesIO(packed), blocks.UNPACKERS["xz"])
    found = []
    while part := stream.read(size):
        assert len(part) <= size
        found.append(part)
    assert b"".join(found) == b"".join(parts)


def test_xz_that_asks_for_much_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "XZ_MEMORY", 1 << 20)
    (tmp_path / "a.jsonl.xz").write_bytes(lzma.compress(LINES, preset=9))
    with pytest.raises(DataError, match="Memory usage limit"):
        texts_of(tmp_path / "a.jsonl.xz")
