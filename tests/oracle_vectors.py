"""Sparse vectors and the linking of two languages in plain Python, slow and obviously right.

A row, a document or a part of a vector is a dict of numbers by column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Row = Mapping[int, float]
Words = Mapping[str, float]
Stand = Mapping[str, Sequence[tuple[str, float]]]  # what stands for each word, and how much of it


def projected(row: Mapping[int, float], table: Sequence[Sequence[tuple[int, float]]]) -> dict[int, float]:
    """The sum of count times value over all terms that a column stands for; what is not above 0 is not there."""
    sums: dict[int, float] = {}
    for term, count in row.items():
        for column, value in table[term]:
            if count * value > 0:
                sums[column] = sums.get(column, 0.0) + count * value
    return sums


def rarity(df: float, documents: float) -> float:
    """BM25's idf; 0 where no document has the column, and where a df exceeds what N documents can have."""
    ratio = (documents - df + 0.5) / (df + 0.5)
    return math.log(1 + ratio) if df > 0 and ratio > 0 else 0.0


def weighed(counts: Mapping[int, float], idf: Sequence[float], mean_length: float) -> dict[int, float]:
    """BM25 (k1 = 1.2, b = 0.75) of a row of counts, scaled to a length of 1; all 0 if nothing weighs."""
    length = sum(counts.values())
    found = {
        column: idf[column] * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / mean_length))
        for column, count in counts.items()
    }
    norm = math.sqrt(sum(weight * weight for weight in found.values()))
    return {column: weight / norm if norm else 0.0 for column, weight in found.items()}


def product(a: Row, b: Row) -> float:
    """The inner product, added up in the order of the columns."""
    total = 0.0
    for column in sorted(a.keys() & b.keys()):
        total += a[column] * b[column]
    return total


def best(a: Row, rows: Sequence[Row], k: int) -> list[tuple[int, float]]:
    """The k rows with the greatest products above 0, greatest first, equal ones by row."""
    found = [(other, product(a, row)) for other, row in enumerate(rows)]
    return sorted(((other, value) for other, value in found if value > 0), key=lambda pair: (-pair[1], pair[0]))[:k]


def similar(a: Sequence[Row], b: Sequence[Row], least: float) -> dict[tuple[int, int], float]:
    """All pairs whose product is above 0 and at least `least`."""
    found = {(i, j): product(row, other) for i, row in enumerate(a) for j, other in enumerate(b)}
    return {pair: value for pair, value in found.items() if value > 0 and value >= least}


def nearest(a: Sequence[Row], b: Sequence[Row], count: int, back: int) -> dict[tuple[int, int], float]:
    """Each row of `a` with its `count` best of `b`, and each of `b` with its `back` best of `a`."""
    found = {(i, j): value for i, row in enumerate(a) for j, value in best(row, b, count)}
    return found | {(i, j): value for j, row in enumerate(b) for i, value in best(row, a, back)}


def standings(pairs: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """By how much each pair stands out: s(a, b) - (R(a) + R(b)) / 2, R being the mean of the two best of an end."""

    def usual(end: int, row: int) -> float:
        return sum(sorted((value for pair, value in pairs.items() if pair[end] == row), reverse=True)[:2]) / 2

    return {(a, b): value - (usual(0, a) + usual(1, b)) / 2 for (a, b), value in pairs.items()}


def margins(pairs: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Of pairs that are the best of both ends, the first of equal ones: the similarity over the mean second best."""
    found = {}
    for pair, value in pairs.items():
        rivals = [sorted((-v, p) for p, v in pairs.items() if p[end] == pair[end]) for end in (0, 1)]
        if all(each[0][1] == pair for each in rivals):
            seconds = sum(-each[1][0] for each in rivals if len(each) > 1) / 2
            found[pair] = value / max(seconds, 1e-9)
    return found


def stood_for(row: Words, stand: Stand) -> dict[str, float]:
    """The words of a document, replaced by what stands for them."""
    sums: dict[str, float] = {}
    for word, count in row.items():
        for other, share in stand.get(word, ()):
            sums[other] = sums.get(other, 0.0) + count * share
    return sums


def frequencies(rows: Sequence[Words]) -> dict[str, float]:
    """In how many documents each word is."""
    found: dict[str, float] = {}
    for row in rows:
        for word in row:
            found[word] = found.get(word, 0) + 1
    return found


def mean_length(rows: Sequence[Words]) -> float:
    """How many words a document has on average."""
    return sum(sum(row.values()) for row in rows) / len(rows)


def unit(row: Words, idf: Callable[[str], float], mean: float) -> dict[str, float]:
    """BM25 weights of a document of words, of length 1."""
    names = sorted(row)
    made = weighed({i: row[name] for i, name in enumerate(names)}, [idf(name) for name in names], mean)
    return {name: made[i] for i, name in enumerate(names)}


def cosines(
    asking: Sequence[Words], asked: Sequence[Words], stand: Stand, df: Mapping[str, float] | None = None
) -> list[list[float]]:
    """The cosine of each asking document, its words replaced, with each that is asked, in the language of the latter.

    A word is as rare as it is among those that are asked, or of the replaced documents as `df` among the asking ones;
    one that a single document of both sides has is not looked at.
    """
    replaced = [stood_for(row, stand) for row in asking]
    own, theirs = frequencies(asked), frequencies(replaced)

    def idf(found: Mapping[str, float], documents: int) -> Callable[[str], float]:
        return lambda word: (
            rarity(found.get(word, 0), documents) if own.get(word, 0) + theirs.get(word, 0) >= 2 else 0.0
        )

    projected_idf = idf(own, len(asked)) if df is None else idf(df, len(asking))
    left = [unit(row, projected_idf, mean_length(replaced)) for row in replaced]
    right = [unit(row, idf(own, len(asked)), mean_length(asked)) for row in asked]
    return [[sum(a[word] * b.get(word, 0.0) for word in a) for b in right] for a in left]


def runs_of(word: str) -> list[tuple[str, float]]:
    """The runs of four letters of a word with its ends, if it has four letters."""
    marked = f"^{word}$"
    return [(marked[i : i + 4], 1.0) for i in range(len(marked) - 3)] if len(word) >= 4 else []


def reciprocal_rank(rows: Sequence[Sequence[tuple[int, Sequence[float]]]], weights: Sequence[float]) -> float:
    """The mean of 1 / rank of the first candidate of each row, among candidates that are told apart by number."""
    total = 0.0
    for row in rows:
        scores = {number: sum(s * w for s, w in zip(scores, weights, strict=True)) for number, scores in row}
        true = row[0][0]
        total += 1 / (1 + sum(score > scores[true] + 1e-9 for number, score in scores.items() if number != true))
    return total / len(rows)
