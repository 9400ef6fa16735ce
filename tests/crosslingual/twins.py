"""A small collection in two languages: documents and their twins, made word by word; names are the same in both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.cli.running import write_jsonl

import sosie

WORDS, NAMES, COMMON = 400, 240, 12  # of a language; of both; of its words that every document has


@dataclass(frozen=True)
class Twins:
    """Texts of both languages by their ids, which of them are twins, how words translate, and sentences besides."""

    source: dict[str, str]
    target: dict[int, str]
    truth: dict[str, int]
    words: dict[str, str]
    segments: list[tuple[str, str]]

    def dictionary(self) -> sosie.Dictionary:
        """Return the dictionary of all words but the names."""
        return sosie.Dictionary.from_pairs(list(self.words), list(self.words.values()), [1.0] * len(self.words))

    def sides(self) -> tuple[sosie.Source, sosie.Source]:
        """Return both collections, with their ids."""
        first, second = (sosie.Source.from_texts(list(side.values()), ids=list(side)) for side in self._both())
        return first, second

    def lists(self) -> tuple[list[str], list[str]]:
        """Return the texts alone."""
        first, second = (list(side.values()) for side in self._both())
        return first, second

    def right(self, table: Any) -> float:
        """Return the share of the sources whose first link is their twin."""
        first = {row["a"]: row["b"] for row in table.to_pylist() if row["rank"] == 1}
        return sum(first.get(a) == b for a, b in self.truth.items()) / len(self.truth)

    def translate(self, texts: list[str]) -> list[str]:
        """Translate word by word."""
        return [" ".join(self.words.get(word, word) for word in text.strip(".").split()) for text in texts]

    def write(self, folder: Path) -> None:
        """Write source.jsonl, target.jsonl, words.tsv, segments.tsv and truth.tsv."""
        write_jsonl(folder / "source.jsonl", self.source)
        write_jsonl(folder / "target.jsonl", self.target)
        tables = {
            "words": [(*pair, 1) for pair in self.words.items()],
            "segments": self.segments,
            "truth": list(self.truth.items()),
        }
        for name, rows in tables.items():
            lines = ["\t".join(map(str, row)) + "\n" for row in rows]
            (folder / f"{name}.tsv").write_text("".join(lines), "utf-8")

    def _both(self) -> tuple[dict[Any, str], dict[Any, str]]:
        return self.source, self.target


@cache
def twins(count: int = 120, seed: int = 0) -> Twins:
    """Return documents s0, s1, ... and, in another order, their twins 1000, 1001, ..."""
    chance = Random(seed)
    own, other = _distinct(chance, "bdgklm", "aei", WORDS), _distinct(chance, "fhprstvz", "ouy", WORDS)
    names = [name.capitalize() for name in _distinct(chance, "cjnqwx", "aeiou", NAMES)]
    translated = dict(zip(own, other, strict=True))

    def text(length: int) -> tuple[str, str]:
        about = chance.sample(own[COMMON:], length) + chance.choices(own[:COMMON], k=length // 2)
        about += chance.sample(names, length // 5)
        chance.shuffle(about)
        turned = [translated.get(word, word) for word in about]
        for i in range(0, len(turned) - 1, 3):  # the order of words is not the same
            turned[i], turned[i + 1] = turned[i + 1], turned[i]
        return f"{' '.join(about)}.", f"{' '.join(turned)}."

    documents = [text(chance.randint(20, 40)) for _ in range(count)]
    order = chance.sample(range(count), count)
    return Twins(
        {f"s{i}": document[0] for i, document in enumerate(documents)},
        {1000 + place: documents[i][1] for place, i in enumerate(order)},
        {f"s{i}": 1000 + place for place, i in enumerate(order)},
        translated,
        [text(8) for _ in range(200)],
    )


def _distinct(chance: Random, consonants: str, vowels: str, count: int) -> list[str]:
    """Return words of two to four syllables, each once."""

    def made() -> Iterator[str]:
        while True:
            yield "".join(chance.choice(consonants) + chance.choice(vowels) for _ in range(chance.randint(2, 4)))

    found: dict[str, None] = {}
    for word in made():
        found.setdefault(word)
        if len(found) == count:
            break
    return list(found)
