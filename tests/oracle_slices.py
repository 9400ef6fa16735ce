"""The search over slice lists as the papers describe it (TOPK 2.1, ISSL 5.2 and 6.2), in plain Python."""

from __future__ import annotations

import math
from itertools import combinations


def slices_of(bits, width):
    count = math.ceil(bits / width)
    return [(math.floor(bits * i / count), math.floor(bits * (i + 1) / count)) for i in range(count)]


def number(words):
    return sum(int(word) << 64 * place for place, word in enumerate(words))


def cut(signature, span):
    return signature >> span[0] & ((1 << span[1] - span[0]) - 1)


def masks(width, radius):
    return [sum(1 << bit for bit in bits) for bits in combinations(range(width), radius)]


class SliceOracle:
    """Lists in a dictionary by (slice, value); a search leaves its scores and its work behind."""

    def __init__(self, rows, width):
        self.bits = rows.bits
        self.rows = [number(words) for words in rows.words]
        self.spans = slices_of(rows.bits, width)
        self.lists = {}
        for row, signature in enumerate(self.rows):
            for span in self.spans:
                self.lists.setdefault((span, cut(signature, span)), []).append(row)

    def remove(self, rows):
        for listed in self.lists.values():
            listed[:] = [row for row in listed if row not in rows]

    def expand(self, query, radius, admit):
        for span in self.spans:
            for mask in masks(span[1] - span[0], radius):
                self.visited += 1
                for row in self.lists.get((span, cut(query, span) ^ mask), []):
                    self.postings += 1
                    if admit or row in self.seen:
                        self.seen.setdefault(row, {})[span] = radius

    def score(self, row):
        return sum(span[1] - span[0] - distance for span, distance in self.seen.get(row, {}).items())

    def worst_case(self, row):
        seen = self.seen.get(row, {})
        return sum(seen.get(span, span[1] - span[0]) for span in self.spans)

    def best_case(self, row, radius):
        seen = self.seen.get(row, {})
        return sum(seen.get(span, min(radius + 1, span[1] - span[0])) for span in self.spans)

    def search(self, query, k, options):
        """Return [(distance, row), ...] and the rule that stopped the search."""
        self.visited = self.postings = 0
        self.seen = {}
        widest = max(span[1] - span[0] for span in self.spans)
        breadth = widest if options.breadth is None else options.breadth
        most = max(options.candidates, k)
        k = min(k, len(self.rows))
        for radius in range(breadth + 1):
            self.expand(query, radius, options.j is None or radius <= options.j)
            if options.stop == "early":
                continue
            kth = sorted(self.worst_case(row) for row in range(len(self.rows)))[k - 1]
            contenders = [row for row in range(len(self.rows)) if self.best_case(row, radius) <= kth]
            if all(len(self.seen.get(row, {})) == len(self.spans) for row in contenders):
                return self.compared(query, contenders, k), "all", radius
            if options.stop == "certain" and len(contenders) <= most and all(row in self.seen for row in contenders):
                return self.compared(query, contenders, k), "certain", radius

        def estimate(row):
            return self.best_case(row, breadth) if options.distance == "optimistic" else self.bits - self.score(row)

        chosen = sorted(self.seen, key=lambda row: (estimate(row), row))[:most]
        return self.compared(query, chosen, k), "early", breadth

    def compared(self, query, rows, k):
        return sorted(((self.rows[row] ^ query).bit_count(), row) for row in rows)[:k]
