"""Pairs of texts as segments: those of several paragraphs, or longer than any segment may be, are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from sosie.crosslingual.paragraphs import MOST_RATIO, aligned_paragraphs, paragraphs
from sosie.crosslingual.parallel.segment import Segment
from sosie.text import words

UNALIGNED = "no paragraphs correspond"


class Cut:
    r"""Pairs of texts, and what becomes of them: `left_out` says why some become nothing, and how many.

    >>> cut = Cut([Segment("Ein Haus.\n\nEin Baum.", "A house.\n\nA tree.")])
    >>> [segment.target for segment in cut.segments()], cut.left_out
    (['A house.', 'A tree.'], {})
    """

    def __init__(
        self, pairs: Sequence[Segment], longest: int = 150, left_out: Mapping[str, int] | None = None
    ) -> None:
        self.left_out = dict(left_out or {})
        self._pairs, self._longest = pairs, longest
        source, target = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
        self._ratio = min(max(target / source, 1 / MOST_RATIO), MOST_RATIO) if source and target else 1.0

    def segments(self, advance: Callable[[int], None] = lambda count: None) -> Iterator[Segment]:
        """Yield the segments; `left_out` says afterwards of how many pairs there are none."""
        lost = Counter[str]()
        for pair in self._pairs:
            found = [pair] if all(map(self._is_one, pair)) else aligned_paragraphs(*pair, ratio=self._ratio)
            if not found:
                lost[UNALIGNED] += 1
            yield from found
            advance(1)
        self.left_out |= lost

    def _is_one(self, text: str) -> bool:
        if "\n" in text and len(paragraphs(text)) > 1:
            return False
        return len(text) <= self._longest or len(words(text)) <= self._longest  # a word has a character at least
