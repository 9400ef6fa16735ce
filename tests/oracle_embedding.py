"""Embeddings in plain Python integers, with directions that need no fit: what the contract suite compares with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import numpy as np
from tests.oracle import MASK, band_keys, splitmix64
from tests.oracle_text import shingles

from sosie.features.frequencies import count_frequencies
from sosie.features.shingles import Shingles
from sosie.signatures.basis import Basis

WORDS = " ".join(f"w{n}" for n in range(20_000))  # those of the contract suite's collections
UNIT = 1 << 20
EXPONENT = 17


def direction(feature: int, dimensions: int) -> list[int]:
    """Sixteen bits of the feature for each coordinate, less 2^15: a number from -1/4 to 1/4."""
    return [(splitmix64(feature ^ j) & 0xFFFF) - (1 << 15) for j in range(dimensions)]


@cache
def basis(texts: tuple[str, ...], dimensions: int) -> Basis:
    """A basis that knows the words of the texts and of the suite's collections."""
    frequencies = count_frequencies([list(texts), [WORDS]], Shingles(1))
    directions = [direction(feature, dimensions) for feature in frequencies.features.tolist()]
    return Basis(frequencies, np.array(directions, np.int32), EXPONENT)


@cache
def collection(texts: tuple[str, ...]) -> list[Counter[int]]:
    """The documents that the basis has counted."""
    return [Counter(shingles(text, 1, "word")) for text in (*texts, WORDS)]


def values(spec, weighted: Mapping[int, float], count: int) -> list[int]:
    """The inner products of z = (y, sqrt(1 - |y|^2) x) and the random directions, in units of 2^-22."""
    features = sorted(weighted)
    rounded = [round(Fraction(weighted[feature]) * 65536) / 65536 for feature in features]
    square = 0.0
    for weight in rounded:
        square += weight * weight
    units = [round(weight * (UNIT / math.sqrt(square))) for weight in rounded]
    k = spec.dimensions
    pointing = [direction(feature, k) for feature in features]
    sums = [sum(unit * at[j] for unit, at in zip(units, pointing, strict=True)) for j in range(k)]
    point = [(total + (1 << EXPONENT - 1)) >> EXPONENT for total in sums]
    left = round(math.sqrt(max(UNIT * UNIT - sum(y * y for y in point), 0)))
    found = []
    for function in range(count):
        drawn = (splitmix64((spec.seed << 32) + 4096 + function * k + j) for j in range(k))
        inner = sum(y * (word.bit_count() - 32) for y, word in zip(point, drawn, strict=True))
        lane = (64 * spec.seed + function // 64) * 0x9E3779B97F4A7C15
        words = (splitmix64((feature + lane) & MASK) for feature in features)
        own = sum(unit if word >> function % 64 & 1 else -unit for unit, word in zip(units, words, strict=True))
        found.append(inner + own * 4 * left // UNIT)
    return found


def signs(spec, weighted: Mapping[int, float]) -> int:
    return sum(1 << j for j, value in enumerate(values(spec, weighted, spec.bits)) if value > 0)


def keys(spec, weighted: Mapping[int, float]) -> list[int]:
    count, width = spec.code_length * spec.multiplicity, round(spec.interval * 4 * UNIT)
    shifts = (splitmix64((spec.seed << 32) + n) % width for n in range(count))
    intervals = [(v + c) // width & 0xFFFFFFFF for v, c in zip(values(spec, weighted, count), shifts, strict=True)]
    return band_keys(intervals, spec.code_length)
