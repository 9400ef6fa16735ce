"""A table of word pairs as people write it: source word, target word, probability, separated by tabs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sosie.errors import DataError, UsageError
from sosie.text import words

if TYPE_CHECKING:
    from sosie.crosslingual.dictionary import Dictionary

HEADER = ("source", "target", "p(target|source)", "p(source|target)")
SEVERAL, NONE = "of several words", "without a word"
_RANGE = (1e-30, 1e30)  # what can be divided by the sum of others and is a probability then
_LONGEST = 1 << 16  # bytes of a line


@dataclass(frozen=True)
class Table:
    """The pairs of a table: folded words, and probabilities of each; 0 where a direction does not have the pair.

    `backward` is None where the table has one probability for each pair. `left_out` says how many lines, and why.
    """

    path: str
    source: list[str]
    target: list[str]
    forward: list[float]
    backward: list[float] | None
    left_out: dict[str, int]

    def __len__(self) -> int:
        return len(self.source)


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a table of word pairs; a line that is no entry, or has a pair again, raises `DataError`."""
    table = Table(os.fspath(path), [], [], [], [], {})
    assert table.backward is not None
    left_out, seen, columns = Counter[str](), dict[tuple[str, str], int](), 0
    for number, fields in _lines(path):
        where = f"{table.path}, line {number}"
        if not columns:
            columns = len(fields)
            if columns not in (3, 4):
                raise DataError(f"{where}: {_columns(columns)} instead of 3 or 4, separated by tabs.")
            if not any(character.isdigit() for field in fields[2:] for character in field):
                continue  # a header
        if len(fields) != columns:
            raise DataError(f"{where}: {_columns(len(fields))} instead of {columns}, as in the lines before.")
        shares = [_probability(field, where, may_be_empty=columns == 4) for field in fields[2:]]
        if not any(shares):
            raise DataError(f"{where}: has no probability.")
        read = [words(field) for field in fields[:2]]
        if any(len(each) != 1 for each in read):
            left_out[NONE if not all(read) else SEVERAL] += 1
            continue
        pair = (read[0][0], read[1][0])
        if pair in seen:
            said = f"{pair[0]!r} and {pair[1]!r} are a pair already, in line {seen[pair]}"
            raise DataError(f"{where}: {said}. Case is folded. Keep one of them.")
        seen[pair] = number
        table.source.append(pair[0])
        table.target.append(pair[1])
        table.forward.append(shares[0])
        table.backward.append(shares[-1])
    return Table(
        table.path, table.source, table.target, table.forward, table.backward if columns == 4 else None, dict(left_out)
    )


def export_tsv(dictionary: Dictionary) -> Iterator[str]:
    r"""Yield a dictionary as lines that `read_table` reads, a header first: all pairs of one direction or the other.

    >>> from sosie.crosslingual.dictionary import Dictionary
    >>> print(*export_tsv(Dictionary.from_pairs(["haus"], ["house"], [1.0])), sep="\n")
    source	target	p(target|source)	p(source|target)
    haus	house	1.0	1.0
    """
    yield "\t".join(HEADER)
    source, target = dictionary.source.to_pylist(), dictionary.target.to_pylist()
    forward, backward = dictionary.forward, dictionary.backward
    pairs = zip(backward.words.tolist(), backward.rows.tolist(), strict=True)
    back = dict(zip(pairs, backward.probabilities.tolist(), strict=True))
    known, only = set(zip(forward.rows.tolist(), forward.words.tolist(), strict=True)), dict[int, list[int]]()
    for row, word in sorted(back.keys() - known):
        only.setdefault(row, []).append(word)
    for row, spelt in enumerate(source):
        found, probabilities = forward.of(row)
        for word, share in zip(found.tolist(), probabilities.tolist(), strict=True):
            yield f"{spelt}\t{target[word]}\t{share!r}\t{back.get((row, word), '')!s}"
        for word in only.get(row, ()):
            yield f"{spelt}\t{target[word]}\t\t{back[row, word]!r}"


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of every line that is not empty, with its number."""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST + 1), b""), 1):
                where = f"{os.fspath(path)}, line {number}"
                if len(line) > _LONGEST:
                    raise DataError(f"{where}: is longer than {_LONGEST:,} bytes: no entry of a table.")
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise DataError(f"{where}: is not UTF-8 ({error.reason}).") from error
                if text.strip():
                    yield number, text.split("\t")
    except OSError as error:
        raise UsageError(f"{os.fspath(path)}: cannot be read ({error.strerror}). Check the path.") from error


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _probability(field: str, where: str, may_be_empty: bool) -> float:
    if may_be_empty and not field.strip():
        return 0.0
    try:
        value = float(field)
    except ValueError as error:
        raise DataError(f"{where}: {field!r} is no probability.") from error
    if not _RANGE[0] <= value <= _RANGE[1]:
        raise DataError(f"{where}: {field!r} is no probability: those are above 0 and finite.")
    return value
