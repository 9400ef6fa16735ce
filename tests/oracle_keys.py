"""Keys of p-stable LSH and of fuzzy-fingerprints in plain Python: slow and obviously right."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from tests.oracle import GOLDEN, MASK, splitmix64

Counts = Mapping[int, int]


def gaussian(feature: int, function: int, seed: int) -> int:
    """The component of Gaussian vector `function` for a feature, in units of 2^-12."""
    lane, draw = divmod(function, 5)
    word = splitmix64((feature + (16384 * seed + lane) * GOLDEN) & MASK)
    number = word >> 12 * draw & 4095
    upper = max(number, 4095 - number)
    quantile = round(NormalDist().inv_cdf((upper + 0.5) / 4096) * 4096)
    return quantile if number == upper else -quantile


def chained(values: Sequence[int], table: int) -> int:
    key = splitmix64(table)
    for value in values:
        key = splitmix64(key ^ value & MASK)
    return key


def p_stable_keys(weighted: Mapping[int, float], spec) -> list[int]:
    """floor((a.x + c) / width) for every function, with x of length 2^24 and a in units of 2^-12."""
    row = sorted((feature, round(weight * 65536) / 65536) for feature, weight in weighted.items())
    square = 0.0
    for _, weight in row:
        square += weight * weight
    units = [(feature, round(weight * (2**24 / math.sqrt(square)))) for feature, weight in row]
    width = round(spec.interval * 2**36)
    values = []
    for function in range(spec.code_length * spec.multiplicity):
        shared = 0 if spec.encoding == "sum" else function
        shift = splitmix64(16384 * spec.seed + shared) * width >> 64
        values.append((sum(unit * gaussian(feature, function, spec.seed) for feature, unit in units) + shift) // width)
    tables = [values[t * spec.code_length : (t + 1) * spec.code_length] for t in range(spec.multiplicity)]
    return [chained([sum(row)] if spec.encoding == "sum" else row, table) for table, row in enumerate(tables)]


class Fuzzy:
    """A fuzzy-fingerprint fitted to documents, given as the counts of their features."""

    def __init__(self, spec, documents: Sequence[Counts]) -> None:
        self.spec, k, r, l = spec, spec.code_length, spec.intervals, spec.multiplicity  # noqa: E741
        documents = [document for document in documents if document]
        total = Counter[int]()
        for document in documents:
            total.update(document)
        sums, self.known = [0] * k, {}
        for feature in sorted(total, key=lambda feature: (-total[feature], feature)):
            self.known[feature] = sums.index(min(sums))
            sums[self.known[feature]] += total[feature]
        self.expected = [(count + 0.5) / (sum(sums) + 0.5 * k) for count in sums]
        self.cuts = [[[] for _ in range(k)] for _ in range(l)]
        columns = list(zip(*map(self.deviations, documents), strict=True))
        for scheme in range(l):
            for place in range(k):
                shift = (scheme + 1) / (l + 1) - 0.5
                self.cuts[scheme][place] = [quantile(columns[place], (i + shift) / r) for i in range(1, r)]

    def deviations(self, document: Counts) -> list[float]:
        found = [0] * self.spec.code_length
        for feature, count in document.items():
            drawn = splitmix64((feature + self.spec.seed * GOLDEN) & MASK) % self.spec.code_length
            found[self.known.get(feature, drawn)] += count
        n = sum(found)
        return [(c - n * e) / math.sqrt(n * (e * (1 - e))) for c, e in zip(found, self.expected, strict=True)]

    def keys(self, document: Counts) -> list[int]:
        k, r, keys = self.spec.code_length, self.spec.intervals, []
        y = self.deviations(document)
        for scheme, cuts in enumerate(self.cuts):
            digits = [bisect_right(of_class, deviation) for of_class, deviation in zip(cuts, y, strict=True)]
            if len(self.cuts) * r**k > 1 << 64:
                keys.append(chained(digits, scheme))
            else:
                keys.append(scheme * r**k + sum(digit * r**i for i, digit in enumerate(digits)))
        return keys


def quantile(values: Sequence[float], share: float) -> float:
    """Where a histogram with 64 bins to a unit reaches a share of the values, on a grid of 1 / 1024."""
    bins = sorted(min(max(math.floor((value + 16) * 64), 0), 2047) for value in values)
    counts = Counter(bins)
    wanted, below = share * len(values), 0
    for number in sorted(counts):
        if below + counts[number] > wanted:
            return round(1024 * (number / 64 - 16 + (wanted - below) / counts[number] / 64)) / 1024
        below += counts[number]
    raise AssertionError("a share below 1 is reached")
