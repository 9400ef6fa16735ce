"""Random projection and TopSig in plain Python, slow and obviously right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any

from tests.oracle import GOLDEN, MASK, simhash, simhash_sums, splitmix64


def drawn(feature: int, lane: int) -> Iterator[int]:
    """The words that a feature seeds, from a lane on."""
    while True:
        yield splitmix64((feature + lane * GOLDEN) & MASK)
        lane += 1


def numbers(feature: int, bits: int, seed: int, vectors: str) -> list[int]:
    """The numbers of a feature's random vector, of mean 0; Gaussian ones doubled, which makes them whole."""
    words = islice(drawn(feature, 1024 * seed), -(-bits // 4))
    fields = [word >> shift & 0xFFFF for word in words for shift in (0, 16, 32, 48)]
    return [gaussian(field) if vectors == "gaussian" else ternary(field) for field in fields[:bits]]


def gaussian(field: int) -> int:
    return 2 * (16 * (field >> 4).bit_count() + (field & 15)) - 207


def ternary(field: int) -> int:
    uniform = field % 32768
    return -1 if uniform < 5461 else 1 if uniform >= 32768 - 5461 else 0


def projection(weighted: Iterable[tuple[int, float]], bits: int, seed: int, vectors: str) -> int:
    """Bit d is 1 where the sum of weight * number d over the features is greater than 0."""
    return sum(1 << d for d, total in enumerate(_sums(weighted, bits, seed, vectors)) if total > 0)


def _sums(weighted: Iterable[tuple[int, float]], bits: int, seed: int, vectors: str) -> list[int]:
    sums = [0] * bits
    for feature, weight in weighted:
        fixed = round(Fraction(weight) * 65536)
        for d, number in enumerate(numbers(feature, bits, seed, vectors)):
            sums[d] += fixed * number
    return sums


def unit_sums(spec: Any, weighted: Mapping[int, float]) -> list[float]:
    """The sums behind the bits for weights of L2 norm 1 and vectors of numbers of variance 1."""
    norm = math.hypot(*(float(round(Fraction(weight) * 65536)) for weight in weighted.values()))
    if spec.method == "simhash":
        return [total / norm for total in simhash_sums(weighted.items(), spec.bits, spec.seed)]
    sums = _sums(weighted.items(), spec.bits, spec.seed, spec.vectors)
    return [total / norm / spread(spec.vectors) for total in sums]


@cache
def spread(vectors: str) -> float:
    """The standard deviation over all fields that a number is made of."""
    every = [(gaussian if vectors == "gaussian" else ternary)(field) for field in range(1 << 16)]
    return math.sqrt(sum(number * number for number in every) / len(every))


def term_weights(counts: Mapping[int, int], collection: Sequence[Mapping[int, int]]) -> dict[int, float]:
    """The weight of each term of a document, before it is rounded; terms that are left out are not there."""
    found: Counter[int] = Counter()
    for document in collection:
        found.update(document)
    total, length = sum(found.values()), sum(counts.values())
    ratios = {term: Fraction(c * total, length * max(found[term], 1)) for term, c in counts.items()}
    return {term: (counts[term] - 0.5) * math.log(ratio) for term, ratio in ratios.items() if ratio > 1}


def places(term: int, bits: int, density: int, seed: int) -> tuple[list[int], list[int]]:
    """Where a term adds its weight and where it subtracts it: distinct places in the order they are drawn."""
    each = bits // (2 * density)
    seen: list[int] = []
    for word in drawn(term, (1 << 60) + seed * 2**20):
        for half in (word & 0xFFFFFFFF, word >> 32):
            place = half * bits >> 32
            if place not in seen:
                seen.append(place)
        if len(seen) >= 2 * each:
            return seen[:each], seen[each : 2 * each]
    raise AssertionError


def topsig(weighted: Iterable[tuple[int, float]], bits: int, density: int, seed: int) -> int:
    """Bit d is 1 where the sum is greater than 0; where it is 0, that of the simhash of the same weights."""
    weighted = list(weighted)
    sums = [0] * bits
    for term, weight in weighted:
        plus, minus = places(term, bits, density, seed)
        for place in plus:
            sums[place] += round(Fraction(weight) * 65536)
        for place in minus:
            sums[place] -= round(Fraction(weight) * 65536)
    ties = simhash(weighted, max(bits, 65), seed)
    return sum(1 << d for d, total in enumerate(sums) if total > 0 or (total == 0 and ties >> d & 1))
