"""Tags against plain Python, and against what they are to tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_tags, oracle_text

from sosie.features.shingles import Shingles
from sosie.features.tags import draw_key
from sosie.kernels.text.tags import tag_padded
from sosie.text.column import as_column

KEY = draw_key()
PLAIN = [int(word) for word in KEY]
LENGTHS = [*range(66), 1016, 1023, 1024, 1031, 1032, 1033, 2048, 2056, 5000]
CHOICES = [Shingles(width, unit) for width in (1, 3, 9) for unit in ("word", "char", "prefix", "code")]
CHOICES += [Shingles(2, stem="en"), Shingles(1, stop_words="en")]
texts = st.text(st.sampled_from("abB z,_9\u00e9\u0301\u4e2d\u6587\u0e01\u0e49\ufdfa\U00020000\0 "), max_size=90)


def padded_tag(data: bytes) -> int:
    """Return a tag by the kernel; whatever follows the bytes does not count."""
    room = np.frombuffer(b"?" + data + b"\xa5" * 8, np.uint8)
    return int(tag_padded(room, 1, 1 + len(data), KEY))


@pytest.mark.parametrize("length", LENGTHS)
def test_tags_are_those_of_plain_python(length: int) -> None:
    data = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8).tobytes()
    assert padded_tag(data) == oracle_tags.tag(data, PLAIN)


@pytest.mark.parametrize("data", [b"\xff" * 31, b"\xff" * 1024, b"\xff" * 4096, b"\0" * 2000])
def test_sums_wrap_around(data: bytes) -> None:
    full = np.full_like(KEY, 2**64 - 1)
    full[-1] = 2**61 - 2
    room = np.frombuffer(data + b"?" * 8, np.uint8)
    assert int(tag_padded(room, 0, len(data), full)) == oracle_tags.tag(data, [int(word) for word in full])


@pytest.mark.parametrize("length", LENGTHS)
def test_every_byte_and_the_length_count(length: int) -> None:
    data = bytes(length)
    others = {padded_tag(data[:i] + b"\1" + data[i + 1 :]) for i in range(min(length, 40))}
    others |= {padded_tag(data + b"\0"), padded_tag(data[:-8] + b"\1" + data[-7:]) if length > 8 else 0}
    assert padded_tag(data) not in others


@settings(max_examples=60, deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(CHOICES))
def test_tags_are_of_the_very_words_that_are_hashed(written: list[str], shingles: Shingles) -> None:
    column = as_column(written)
    hashes, tags, offsets = shingles.tagged(column, 0, len(column), KEY)
    plain, plain_offsets = shingles.occurrences(column, 0, len(column))
    assert (hashes.tolist(), offsets.tolist(), len(tags)) == (plain.tolist(), plain_offsets.tolist(), len(hashes))
    if shingles.stem is None and shingles.left_out is None:
        pieces = [piece for text in written for piece in oracle_text.pieces(text, shingles.width, shingles.unit)]
        assert tags.tolist() == [oracle_tags.tag(piece.encode(), PLAIN) for piece in pieces]
    # hashes do not collide by chance: words are equal if and only if hashes are
    assert len(set(zip(hashes.tolist(), tags.tolist(), strict=True))) == len(set(hashes.tolist()))
    assert len(set(tags.tolist())) == len(set(hashes.tolist()))


def test_no_two_runs_have_one_key() -> None:
    assert draw_key().tolist() != draw_key().tolist()
    assert draw_key()[-2] % 2 == 1 and draw_key()[-1] < 2**61 - 1
