"""Segments: pairs of texts that are translations of each other, gathered with what was left out and why."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

ONE_EMPTY, BOTH_EMPTY = "one side is empty", "both sides are empty"
UNTRANSLATED, FUZZY, OBSOLETE = "untranslated", "fuzzy", "obsolete"
ONE_LANGUAGE = "not in both languages"
ONE_SIDE = "id on one side only"


class Segment(NamedTuple):
    """One pair of texts that are translations of each other."""

    source: str
    target: str


class Gathered:
    """Segments as the readers of files find them; whatever is found is a segment or has a reason why not.

    >>> gathered = Gathered()
    >>> gathered.add("Haus", "house")
    >>> gathered.add("Baum", " ")
    >>> gathered.leave(FUZZY)
    >>> gathered.segments, dict(gathered.left_out), gathered.read
    ([Segment(source='Haus', target='house')], {'one side is empty': 1, 'fuzzy': 1}, 3)
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.left_out: Counter[str] = Counter()

    @property
    def read(self) -> int:
        """How many pairs were found, those that were left out included."""
        return len(self.segments) + self.left_out.total()

    def add(self, source: str, target: str) -> None:
        """Take a pair, unless a side has nothing but white space."""
        empty = (not source or source.isspace()) + (not target or target.isspace())
        if empty:
            self.leave(ONE_EMPTY if empty == 1 else BOTH_EMPTY)
        else:
            self.segments.append(Segment(source, target))

    def leave(self, reason: str, times: int = 1) -> None:
        """Count what is left out."""
        if times:
            self.left_out[reason] += times
