"""Valid bytes, and JSON, made wrong: flipped, cut, repeated, spliced, with tokens of the format where none belongs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    8,
    255,
    256,
    2**15,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    -(2**63),
)
VALUES = (*NUMBERS, 1.5, 1e308, True, False, None, "", "x", "../x", "\ud800", "\0", [], {}, [[]], [0, 1], {"a": 1})
LARGEST = 1 << 16  # bytes of a case, about


def mutated(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Return data with one bit flipped anywhere, or one to four changes; `others` are valid, too, and give pieces."""
    if data and random.random() < 0.3:
        at = random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        data = random.choice(CHANGES)(random, data, others, tokens)[: 3 * LARGEST]
    return data


def mutated_json(random: Random, value: Any) -> Any:
    """Return a JSON value in which one member, element or number somewhere is another one."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        if random.random() < 0.1:
            return {key: kept for key, kept in value.items() if key != name}
        if random.random() < 0.05:
            return {**value, random.choice(["x", name + "x", "../x"]): value[name]}
        return {**value, name: mutated_json(random, value[name])}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        way = random.random()
        if way < 0.1:
            return value[:at] + value[at + 1 :]
        if way < 0.2:
            return value[: at + 1] + value[at:]
        return [*value[:at], mutated_json(random, value[at]), *value[at + 1 :]]
    if type(value) is int and random.random() < 0.6:
        return random.choice((value + 1, value - 1, -value, value * 2, value // 2, value ^ 1 << random.randrange(40)))
    if isinstance(value, str) and value and random.random() < 0.4:
        written = value.encode("utf-8", "surrogatepass")
        return mutated(random, written, [b"index"], [b"/", b"\\", b"<"]).decode("utf-8", "replace")
    return random.choice(VALUES)


def as_json(value: Any) -> bytes:
    """Return a JSON value as bytes, whatever strings it holds."""
    return json.dumps(value).encode()


def _place(random: Random, data: bytes) -> int:
    """Return where to change: anywhere, or near the beginning or the end, where formats keep what matters."""
    size = len(data)
    near = min(size, 64)
    low, high = random.choice(((0, size), (0, size), (0, near), (size - near, size)))
    return random.randint(low, high)


def _piece(random: Random, data: bytes) -> bytes:
    start = _place(random, data)
    return data[start : start + random.choice((1, 2, 4, 8, 16, 64, 256))]


def _flip(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        changed[_place(random, data[1:])] ^= 1 << random.randrange(8)
    return bytes(changed)


def _set(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at, width = _place(random, data), random.choice((1, 2, 4, 8))
    number = random.choice(NUMBERS) % (1 << 8 * width)
    return data[:at] + number.to_bytes(width, random.choice(("little", "big"))) + data[at + width :]


def _cut(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at = _place(random, data)
    return random.choice((data[:at], data[at:]))


def _remove(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at = _place(random, data)
    return data[:at] + data[at + len(_piece(random, data)) :]


def _insert(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at = _place(random, data)
    new = random.choice((random.randbytes(random.choice((1, 3, 8, 64))), _piece(random, data), b"\0" * 16))
    return data[:at] + new + data[at:]


def _token(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at, token = _place(random, data), random.choice(tokens)
    return data[:at] + token + data[at + random.choice((0, 0, len(token))) :]


def _repeat(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Repeat what may open something, thousands of times, and perhaps something else after it: depth is an attack."""
    at, made = _place(random, data), b""
    openers = [token for token in tokens if token[:1] in b'<{["'] or tokens
    for _ in range(random.choice((1, 2, 2))):
        piece = random.choice((random.choice(openers), random.choice(openers), _piece(random, data))) or b"x"
        times = min(random.choice((10, 1_000, 10_000)), LARGEST // len(piece))
        made += b"".join(piece.replace(b"%d", b"%d" % number) for number in range(times))
    return data[:at] + made + data[at:]


def _splice(random: Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    other = random.choice((*others, data))
    return data[: _place(random, data)] + other[_place(random, other) :]


CHANGES = (_flip, _flip, _flip, _set, _set, _cut, _remove, _insert, _token, _token, _repeat, _repeat, _splice)
