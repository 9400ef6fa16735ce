"""XXH64 against the `xxhash` package and the published vectors."""

from __future__ import annotations

import numpy as np
import pytest
import xxhash

from sosie.kernels.text.xxh64 import PADDING, xxh64, xxh64_padded

SEEDS = [0, 1, 2654435761, 2**63 + 12345, 2**64 - 1]


@pytest.mark.parametrize(
    ("text", "seed", "expected"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
        (b"xxhash", 20141025, 0xB559B98D844E0635),
    ],
)
def test_published_vectors(text: bytes, seed: int, expected: int) -> None:
    data = np.frombuffer(text, np.uint8)
    assert int(xxh64(data, 0, len(text), np.uint64(seed))) == expected
    padded = np.concatenate([data, np.full(PADDING, 255, np.uint8)])
    assert int(xxh64_padded(padded, 0, len(text), np.uint64(seed))) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_every_length_at_every_alignment(seed: int) -> None:
    rng = np.random.default_rng(seed % 1000)
    data = rng.integers(0, 256, 400, dtype=np.uint8)
    raw = data.tobytes()
    for length in range(301):
        for start in range(8):
            stop = start + length
            expected = xxhash.xxh64_intdigest(raw[start:stop], seed=seed)
            assert int(xxh64(data, start, stop, np.uint64(seed))) == expected
            assert int(xxh64_padded(data, start, stop, np.uint64(seed))) == expected


def test_bytes_outside_the_span_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, 100, dtype=np.uint8)
    for length in range(41):
        first = data.copy()
        second = data.copy()
        second[:20] ^= 255
        second[20 + length :] ^= 255
        for function in (xxh64, xxh64_padded):
            assert function(first, 20, 20 + length, np.uint64(0)) == function(second, 20, 20 + length, np.uint64(0))


def test_a_span_may_end_where_the_array_ends() -> None:
    for length in range(70):
        data = np.arange(length, dtype=np.uint8)
        assert int(xxh64(data, 0, length, np.uint64(9))) == xxhash.xxh64_intdigest(data.tobytes(), seed=9)
