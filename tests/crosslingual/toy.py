"""A toy language, whose words translate English ones one by one; and what may be wrong with a dictionary."""

from __future__ import annotations

from random import Random

ENGLISH = "house garden river stone bread water light winter summer morning evening forest bridge city road".split()
TOY = {word: f"{word[::-1]}o" for word in ENGLISH}


def toy_text(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return segments of the toy language and their English translations, in another order of words."""
    chance = Random(seed)
    segments = []
    for _ in range(count):
        words = chance.sample(ENGLISH, chance.randint(2, 6))
        segments.append((" ".join(TOY[word] for word in words), " ".join(["the", *words[1:], words[0]])))
    return segments
