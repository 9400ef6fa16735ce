"""The algorithms in plain Python, slow and obviously right: what the kernels and the stages are compared with.

How text becomes shingles is in `oracle_text`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15

Pair = tuple[int, int]


def splitmix64(x: int) -> int:
    z = (x + GOLDEN) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def feature_bits(feature: int, bits: int, seed: int) -> int:
    """The bits that a feature stands for: its hash, or words drawn from it for wide signatures and other seeds."""
    if bits <= 64 and seed == 0:
        return feature
    words = -(-bits // 64)
    return sum(splitmix64((feature + (64 * seed + j) * GOLDEN) & MASK) << 64 * j for j in range(words))


def weights(counts: Mapping[int, int], weighting: str, collection: Sequence[Mapping[int, int]]) -> dict[int, float]:
    """The weight of each feature of a document, among the documents of a collection, before it is rounded."""
    found = Counter(feature for document in collection for feature in document)
    n = max(len(collection), 1)
    mean = max(sum(sum(document.values()) for document in collection), 1) / n
    length = sum(counts.values())

    def weight(tf: int, df: int) -> float:
        if weighting == "bm25":
            idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
            return idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
        return {"binary": 1, "tf": tf, "tf-idf": tf * math.log(1 + n / df)}[weighting]

    return {feature: weight(tf, max(found[feature], 1)) for feature, tf in counts.items()}


def simhash_sums(weighted: Iterable[tuple[int, float]], bits: int, seed: int = 0) -> list[int]:
    """Per bit, the sum of +weight where a feature's bit is 1 and -weight where it is 0, in units of 2^-16."""
    sums = [0] * bits
    for feature, weight in weighted:
        fixed = round(Fraction(weight) * 65536)
        word = feature_bits(feature, bits, seed)
        for j in range(bits):
            sums[j] += fixed if word >> j & 1 else -fixed
    return sums


def simhash(weighted: Iterable[tuple[int, float]], bits: int, seed: int = 0) -> int:
    """Bit j is 1 where the sum is greater than 0."""
    return sum(1 << j for j, total in enumerate(simhash_sums(weighted, bits, seed)) if total > 0)


def minima(features: Iterable[int], count: int, seed: int = 0) -> list[int]:
    """The minimum of (high half of the hash ^ x) * f mod 2^32 over the features, for `count` pairs (x, f)."""
    highs = [feature >> 32 for feature in features]
    drawn = [splitmix64((seed << 16) + lane) for lane in range(count)]
    return [min((high ^ d & 0xFFFFFFFF) * (d >> 32 | 1) & 0xFFFFFFFF for high in highs) for d in drawn]


def band_keys(lows: Sequence[int], rows: int) -> list[int]:
    keys = []
    for band in range(len(lows) // rows):
        key = splitmix64(band)
        for low in lows[band * rows : band * rows + rows]:
            key = splitmix64(key ^ low)
        keys.append(key)
    return keys


def packed(lows: Sequence[int], b: int) -> int:
    """b bits of each minimum, one after the other."""
    return sum((splitmix64(low) & (1 << b) - 1) << i * b for i, low in enumerate(lows))


def jaccard(a: set[int] | frozenset[int], b: set[int] | frozenset[int]) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a or b else Fraction(0)


def cosine_reaches(a: dict[int, int], b: dict[int, int], threshold: Fraction) -> bool:
    """Whether dot / (|a| |b|) >= threshold, squared so that everything is an integer."""
    dot = sum(count * b.get(feature, 0) for feature, count in a.items())
    norms = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    return norms > 0 and Fraction(dot * dot, norms) >= threshold**2


def similar_pairs(sets: Sequence[set[int]], threshold: Fraction) -> list[Pair]:
    """All pairs a < b with Jaccard similarity >= threshold, by comparing all with all."""
    return [(i, j) for i in range(len(sets)) for j in range(i + 1, len(sets)) if jaccard(sets[i], sets[j]) >= threshold]


def similar_across(sets: Sequence[set[int]], others: Sequence[set[int]], threshold: Fraction) -> list[Pair]:
    return [(i, j) for i, a in enumerate(sets) for j, b in enumerate(others) if jaccard(a, b) >= threshold]


def identical_groups(sets: Sequence[set[int]], rank: Sequence[int]) -> list[list[int]]:
    """Rows with the same features, in keep order; rows without features are in no group."""
    groups: dict[frozenset[int], list[int]] = {}
    for row in sorted(range(len(sets)), key=lambda row: rank[row]):
        if sets[row]:
            groups.setdefault(frozenset(sets[row]), []).append(row)
    return list(groups.values())


def anchors(count: int, similarity: dict[Pair, Fraction]) -> list[int]:
    """In order, an item similar to no kept one is kept; any other joins its most similar kept one (first of equals)."""
    anchor: list[int] = []
    for item in range(count):
        kept = [other for other in range(item) if anchor[other] == other and (other, item) in similarity]
        anchor.append(max(kept, key=lambda other: (similarity[other, item], -other), default=item))
    return anchor


def components(count: int, pairs: Iterable[Pair]) -> list[int]:
    """The first item that a chain of pairs connects each item with."""
    first = list(range(count))
    changed = True
    pairs = list(pairs)
    while changed:
        changed = False
        for a, b in pairs:
            low = min(first[a], first[b])
            changed |= first[a] != low or first[b] != low
            first[a] = first[b] = low
    return first
