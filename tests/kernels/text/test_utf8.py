"""UTF-8 against Python's own codec, valid or not."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.kernels.text.utf8 import decode, encode


def decoded(content: bytes) -> str:
    data = np.frombuffer(content + b"\xbf\xbf\xbf", np.uint8)  # what follows the span must not complete it
    points, position = [], 0
    while position < len(content):
        point, position = decode(data, position, len(content))
        points.append(chr(point))
    assert position == len(content)
    return "".join(points)


def test_every_code_point_there_and_back() -> None:
    out = np.zeros(8, np.uint8)
    for point in [
        *range(0, 0xD800, 7),
        *range(0xE000, 0x110000, 97),
        0x7F,
        0x80,
        0x7FF,
        0x800,
        0xFFFF,
        0x10000,
        0x10FFFF,
    ]:
        expected = chr(point).encode()
        assert encode(point, out, 2) == 2 + len(expected)
        assert bytes(out[2 : 2 + len(expected)]) == expected
        assert decoded(expected) == chr(point)


def test_every_kind_of_broken_sequence() -> None:
    telling = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF]
    telling += [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    for length in range(1, 4):
        for content in itertools.product(telling, repeat=length):
            assert decoded(bytes(content)) == bytes(content).decode("utf-8", "replace")
    for lead in (0xF0, 0xF1, 0xF4):
        for content in itertools.product([0x41, 0x80, 0x8F, 0x90, 0xBF, 0xC2], repeat=3):
            assert decoded(bytes([lead, *content])) == bytes([lead, *content]).decode("utf-8", "replace")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes(content: bytes) -> None:
    assert decoded(content) == content.decode("utf-8", "replace")
