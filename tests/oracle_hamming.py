"""Obviously right answers for everything that compares bits or keys, and data that is hard to get right."""

from __future__ import annotations

import numpy as np

from sosie.types import Signatures

WIDTHS = (1, 3, 64, 65, 128, 256, 1000, 1024, 4096)
KINDS = ("random", "clustered", "duplicated", "equal", "zeros", "ones", "complement", "narrow")


def pack(bits):
    """Turn a 0/1 matrix into words."""
    count, width = bits.shape
    padded = np.zeros((count, -(-width // 64) * 64), np.uint8)
    padded[:, :width] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(count, -1)


def bits_of(kind, count, width, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.integers(0, 2, (count, width), dtype=np.uint8)
    if kind == "clustered":
        centres = rng.integers(0, 2, (5, width), dtype=np.uint8)
        return centres[rng.integers(0, 5, count)] ^ (rng.random((count, width)) < 0.05).astype(np.uint8)
    if kind == "duplicated":
        few = rng.integers(0, 2, (max(1, count // 4), width), dtype=np.uint8)
        return few[rng.integers(0, len(few), count)]
    if kind == "equal":
        return np.repeat(rng.integers(0, 2, (1, width), dtype=np.uint8), count, axis=0)
    if kind == "zeros":
        return np.zeros((count, width), np.uint8)
    if kind == "ones":
        return np.ones((count, width), np.uint8)
    if kind == "complement":
        half = rng.integers(0, 2, (count, width), dtype=np.uint8)
        half[1::2] = 1 - half[: len(half[1::2]) * 2 : 2]
        return half
    if kind == "narrow":  # all differences sit in the last bits
        bits = np.zeros((count, width), np.uint8)
        last = min(width, 4)
        bits[:, width - last :] = rng.integers(0, 2, (count, last), dtype=np.uint8)
        return bits
    raise ValueError(kind)


def signatures(kind, count, width, seed=0, **more):
    words = pack(bits_of(kind, count, width, seed)) if count else np.empty((0, -(-width // 64)), np.uint64)
    return Signatures(words, width, **more)


def queries_near(rows, count=5, seed=1):
    """Return some of the rows, some with a few flipped bits, and one random query."""
    rng = np.random.default_rng(seed)
    bits = bits_of("random", count, rows.bits, seed)
    for i in range(count - 1 if len(rows) else 0):
        row = np.unpackbits(rows.words[rng.integers(len(rows))].view(np.uint8), bitorder="little")[: rows.bits]
        bits[i] = row ^ (rng.random(rows.bits) < (0.03 if i % 2 else 0)).astype(np.uint8)
    return Signatures(pack(bits), rows.bits)


def distances(a, b):
    return np.bitwise_count(a[:, None, :] ^ b[None, :, :]).sum(axis=2, dtype=np.int64)


def nearest(queries, rows, k, live=None):
    """Return for every query [(distance, row), ...] of the k nearest."""
    return [ranked[:k] for ranked in _ranked(queries, rows, live)]


def near(queries, rows, radius, live=None):
    """Return for every query [(distance, row), ...] within the radius."""
    return [[pair for pair in ranked if pair[0] <= radius] for ranked in _ranked(queries, rows, live)]


def _ranked(queries, rows, live):
    if not len(rows):
        return [[] for _ in range(len(queries))]
    present = range(len(rows)) if live is None else live
    return [sorted((int(line[row]), row) for row in present) for line in distances(queries.words, rows.words)]


def listed(matches):
    return [
        list(zip(matches.of(query)[1].tolist(), matches.of(query)[0].tolist(), strict=True))
        for query in range(len(matches))
    ]


def pairs_within(a, b, radius):
    """Return the pairs of a join, with groups of more than 64 equal rows as stars."""
    other = a if b is None else b
    near_pairs = np.argwhere(distances(a.words, other.words) <= radius) if len(a) and len(other) else []
    first_a, size_a = _equal(a.words)
    first_b, size_b = _equal(other.words)
    found = set()
    for i, j in ((int(i), int(j)) for i, j in near_pairs):
        if b is None and i >= j:
            continue
        bounded = size_a[i] > 64 or size_b[j] > 64
        if bounded and first_a[i] != i and first_b[j] != j:
            continue
        found.add((i, j))
    return sorted(found)


def _equal(words):
    keys = [row.tobytes() for row in words]
    first, size = {}, {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
        size[key] = size.get(key, 0) + 1
    return [first[key] for key in keys], [size[key] for key in keys]


def pairs_sharing(a, b=None):
    """Return the pairs of rows that agree in some table."""
    other = a if b is None else b
    if not len(a) or not len(other):
        return []
    agree = (a[:, None, :] == other[None, :, :]).any(axis=2)
    return [(int(i), int(j)) for i, j in np.argwhere(agree) if b is not None or i < j]
