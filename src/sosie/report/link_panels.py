"""Links as HTML: two texts of two languages side by side, with the words marked that translate each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from sosie.report.panels import OPENED, four_digits, name, safe
from sosie.report.summary import counted
from sosie.text.places import placed_words, spans_of

CHARACTERS = 1_200  # shown of a text
LEGEND = (
    '<p class="note"><mark>Marked</mark>: words that a word of the other text translates, by the dictionary that the'
    " documents were linked with. Of the others the translation is not in the other text, or not known.</p>\n"
)


@dataclass(frozen=True)
class LinkExample:
    """A link that is shown: both ids and texts, its rank and similarity, and that of the second best of a, if any.

    `a_words` and `b_words` are the words of each text, as `sosie.text.words.words` gives them, that a word of the other
    text translates.
    """

    a: str
    b: str
    rank: int
    similarity: float
    rival: float | None
    a_text: str
    b_text: str
    a_words: frozenset[str]
    b_words: frozenset[str]


def link_panels(examples: list[LinkExample]) -> str:
    """Show links, the first ones open."""
    panels = "\n".join(_panel(example, index < OPENED) for index, example in enumerate(examples))
    return f"{LEGEND}{panels}\n" if examples else ""


def marked_text(text: str, words: frozenset[str], characters: int = CHARACTERS) -> str:
    """Return the beginning of a text as HTML, with some words marked; what is cut off is said.

    >>> marked_text("Die Katze & der Hund", frozenset({"katze"}))
    'Die <mark>Katze</mark> &amp; der Hund'
    >>> marked_text("Die Katze schläft", frozenset(), characters=11)
    'Die Katze<span class="gap"> [… 8 more characters]</span>'
    """
    shown = _beginning(text, characters)
    edges = [0, *(edge for span in spans_of(shown, words) for edge in span), len(shown)]
    parts = [safe(shown[start:stop]) for start, stop in pairwise(edges)]
    html = "".join(f"<mark>{part}</mark>" if place % 2 else part for place, part in enumerate(parts))
    left = len(text) - len(shown)
    return html + (f'<span class="gap"> [… {counted(left, "more character")}]</span>' if left else "")


def _beginning(text: str, characters: int) -> str:
    """Return so many characters of a text at most, up to the end of a word where there is one."""
    if len(text) <= characters:
        return text
    spans, _ = placed_words(text[: characters + 1])  # a word that goes on is longer here
    return text[: next((end for _, end in reversed(spans) if end <= characters), characters)]


def _panel(example: LinkExample, opened: bool) -> str:
    sides = (
        _side(example.a, example.a_text, example.a_words),
        _side(example.b, example.b_text, example.b_words),
    )
    return (
        f'<details class="pair"{" open" if opened else ""}><summary><b>{four_digits(example.similarity)}</b>'
        f'{name(example.a)} and {name(example.b)} <span class="soft">{_standing(example)}</span></summary>'
        f'<div class="sides">{"".join(sides)}</div></details>'
    )


def _standing(example: LinkExample) -> str:
    """Say how a link stands beside the second best of the same document."""
    rank = "" if example.rank == 1 else f"rank {example.rank:,}; "
    if example.rival is None or math.isnan(example.rival):
        return f"{rank}no other link"
    margin = example.similarity - example.rival
    return f"{rank}second best {four_digits(example.rival)}, margin {margin:+z.4f}"


def _side(identifier: str, text: str, words: frozenset[str]) -> str:
    body = marked_text(text, words) or '<span class="gap">(empty)</span>'
    return (
        f'<section class="side"><h4>{name(identifier)}, {counted(len(words), "word")} translated</h4>'
        f'<p class="text" dir="auto">{body}</p></section>'
    )
