"""Artificial languages with a few common words and many rare ones, and documents in them."""

from __future__ import annotations

from random import Random

NAMES = [f"n{number:03d}ame{number * 7 % 1000}" for number in range(150)]


def vocabulary(letters: str, size: int, seed: int) -> list[str]:
    """Return words of some letters: the first are short, as common ones are."""
    chance, found = Random(seed), dict[str, None]()
    while len(found) < size:
        found["".join(chance.choices(letters, k=chance.randint(3, 4) if len(found) < 100 else 7))] = None
    return list(found)


def prose(words: list[str], count: int, chance: Random) -> list[str]:
    """Return a text: of two words one is among the fifty commonest."""
    return [words[int(chance.random() * 50)] if chance.random() < 0.5 else chance.choice(words) for _ in range(count)]
