"""Values as a person reads them: numbers with their nouns, a few lines of text, or a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_CELL = 'style="text-align: left; padding: 0.1em 0.8em; vertical-align: top"'


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "cluster"), counted(2_000, "cluster")
    ('1 cluster', '2,000 clusters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_text(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return names and values as lines under a title.

    >>> print(as_text("Deduplication", [("kept", "2")]))
    Deduplication
      kept       2
    """
    return "\n".join([title, *(f"  {name:<10} {value}".rstrip() for name, value in lines)])


def as_html(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return names and values under a title as a table of HTML, in which nothing is markup that is not ours.

    >>> "<b>" in as_html("<b>", [("<b>", "<b>")])
    False
    """
    rows = "".join(f"<tr><th {_CELL}>{escape(name)}</th><td {_CELL}>{escape(value)}</td></tr>" for name, value in lines)
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table></div>"
