"""What stands for a word of one side: its translations, the word itself, its parts, or the runs of its letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.crosslingual.dictionary import Dictionary
from sosie.kernels.vectors.project import Table
from sosie.types import F64, I64, offsets_of

LINKS = ("", "s", "es", "en", "n", "e", "er", "-")  # letters that may join the parts of a compound
_LEAST = 4  # letters of a part


class Lexical(NamedTuple):
    """Translations of words: word i has `others[targets[j]]` with a probability, j in offsets[i] to offsets[i + 1]."""

    words: Mapping[str, int]
    others: list[str]
    offsets: I64
    targets: I64
    probabilities: F64

    @classmethod
    def of(cls, dictionary: Dictionary, backward: bool = False) -> Lexical:
        """Return one direction of a dictionary.

        >>> made = Dictionary.from_pairs(["haus", "haus"], ["house", "home"], [0.8, 0.2])
        >>> Lexical.of(made, backward=True).words
        {'home': 0, 'house': 1}
        """
        own, other = (dictionary.target, dictionary.source) if backward else (dictionary.source, dictionary.target)
        table = dictionary.backward if backward else dictionary.forward
        words = {word: row for row, word in enumerate(own.to_pylist())}
        return cls(words, other.to_pylist(), table.offsets, table.words, table.probabilities)

    def turned(self) -> Lexical:
        """Return the same probabilities by the words of the other language: p(f|e) of a word f, for its every e.

        >>> lexical = Lexical({"a": 0, "b": 1}, ["x"], np.array([0, 1, 2]), np.array([0, 0]), np.array([0.7, 0.3]))
        >>> turned = lexical.turned()
        >>> turned.words, turned.others, turned.targets.tolist(), turned.probabilities.tolist()
        ({'x': 0}, ['a', 'b'], [0, 1], [0.7, 0.3])
        """
        rows = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        order = np.argsort(self.targets, kind="stable")
        offsets = offsets_of(np.bincount(self.targets, minlength=len(self.others)))
        words = {word: row for row, word in enumerate(self.others)}
        return Lexical(words, list(self.words), offsets, rows[order], self.probabilities[order])


UNKNOWN, TRANSLATED, PASSED, SPLIT = range(4)  # which way it was found what stands for a word


def translation_table(words: list[str], lexical: Lexical, numbers: Mapping[str, int]) -> tuple[Table, NDArray[np.int8]]:
    """Return what stands for each word in the other vocabulary, and which way that was found.

    A word of the dictionary becomes its translations, as far as the other side has them. One that it does not know
    stays as it is where the other side has it (names, numbers, code), and else is split into two words that the
    dictionary or the other side knows, longest shorter part first.

    >>> lexical = Lexical({"haus": 0, "boot": 1}, ["house", "home", "boat"], np.array([0, 2, 3]), np.array([0, 1, 2]),
    ...                   np.array([0.8, 0.2, 1.0]))
    >>> table, kinds = translation_table(["haus", "hausboot", "x11", "?"], lexical, {"house": 0, "boat": 1, "x11": 2})
    >>> table.offsets.tolist(), table.columns.tolist(), table.values.tolist()
    ([0, 1, 3, 4, 4], [0, 0, 1, 2], [0.8, 0.8, 1.0, 1.0])
    """
    places = np.array([numbers.get(other, -1) for other in lexical.others] or [-1], np.int64)
    sizes = np.diff(lexical.offsets).tolist()
    rows = {word: row for word, row in lexical.words.items() if sizes[row]}  # others have some the other way alone
    found: dict[str, list[tuple[int, float]]] = {}

    def translated(word: str) -> list[tuple[int, float]]:
        if word not in found:
            row = rows.get(word)
            span = slice(0, 0) if row is None else slice(lexical.offsets[row], lexical.offsets[row + 1])
            columns = places[lexical.targets[span]]
            held = columns >= 0
            pairs = zip(columns[held].tolist(), lexical.probabilities[span][held].tolist(), strict=True)
            found[word] = list(pairs) or ([(numbers[word], 1.0)] if word in numbers else [])
        return found[word]

    entries: list[list[tuple[int, float]]] = []
    kinds = np.zeros(len(words), np.int8)
    for i, word in enumerate(words):
        own = translated(word)
        if word in rows:
            kinds[i] = TRANSLATED
        elif own:
            kinds[i] = PASSED
        elif parts := split_compound(word, rows, numbers):
            own = [pair for part in parts for pair in translated(part)]
            kinds[i] = SPLIT if own else UNKNOWN
        entries.append(own)
    return make_table(entries), kinds


def split_compound(word: str, *known: Mapping[str, int]) -> tuple[str, str] | None:
    """Return two known words that a word is made of, with letters that join them or without, or None.

    Of several ways that with the longest shorter part is taken.

    >>> split_compound("arbeitsplatz", {"arbeit": 0, "platz": 1})
    ('arbeit', 'platz')
    """
    best = None
    for cut in range(_LEAST, len(word) - _LEAST + 1):
        head, tail = word[:cut], word[cut:]
        if not any(tail in words for words in known):
            continue
        for link in LINKS:
            stem = head.removesuffix(link) if link else head
            if len(stem) < _LEAST or (link and stem == head) or not any(stem in words for words in known):
                continue
            if best is None or min(len(stem), len(tail)) > min(map(len, best)):
                best = (stem, tail)
    return best


def gram_table(words: list[str], letters: Iterable[str], grams: dict[str, int], width: int = 4) -> Table:
    """Return the runs of letters of each word, with its beginning and its end; new ones get the next numbers.

    `letters` are the words as they are to be compared across scripts. Words of fewer letters than a run, with both
    ends, have none.

    >>> numbers = {}
    >>> table = gram_table(["tree", "a"], ["tree", "a"], numbers)
    >>> list(numbers), table.offsets.tolist()
    (['^tre', 'tree', 'ree$'], [0, 3, 3])
    """
    entries = []
    for written in letters:
        marked = f"^{written}$" if len(written) >= width else ""
        runs = [marked[i : i + width] for i in range(len(marked) - width + 1)]
        entries.append([(grams.setdefault(run, len(grams)), 1.0) for run in runs])
    return make_table(entries)


def make_table(entries: list[list[tuple[int, float]]]) -> Table:
    """Return a table of what stands for each word, a list of columns and values for each."""
    flat = [pair for own in entries for pair in own]
    columns = np.fromiter((column for column, _ in flat), np.int32, len(flat))
    values = np.fromiter((value for _, value in flat), np.float64, len(flat))
    return Table(offsets_of([len(own) for own in entries]), columns, values)
