"""Paragraphs of long texts that are translations of each other: which of one are which of the other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import starmap

from sosie.crosslingual.beads import UNLIKELY, align, deviation, in_one_measure
from sosie.crosslingual.parallel.segment import Segment
from sosie.errors import UsageError
from sosie.text.words import words

MOST_WORDS = 150  # of a side: what is longer tells nothing of which word is which
MOST_RATIO = 8.0  # between two languages, where it is taken from the texts
# Blank lines, and line ends before an item of a list or an indented line.
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=[ *-])")
# Line ends, and what ends a sentence, with a mark that closes a quote: 」 and 』, raised commas, brackets. Chinese and
# Japanese have no space behind it.
_CLOSING, _WIDE_CLOSING, _WIDE_END = r"[\"'\u201d\u2019»)]", r"[」』\u201d\u2019\uff09]", r"[。\uff01\uff1f]"
_SENTENCES = re.compile(
    rf"\n+|(?<=[.!?])\s+|(?<=[.!?]{_CLOSING})\s+|(?<={_WIDE_END})(?!{_WIDE_CLOSING})\s*|(?<={_WIDE_END}{_WIDE_CLOSING})\s*"
)


def aligned_paragraphs(
    source: str,
    target: str,
    score: Callable[[str, str], float] | None = None,
    ratio: float | None = 1.0,
) -> list[Segment]:
    r"""Return the parts of two texts that correspond, in their order, as far as each has at most 150 words.

    As many paragraphs on both sides, of likely lengths, correspond one by one. Others are aligned as Gale and Church
    (1993) did; paragraphs that are too long then are cut into sentences, which are aligned in the same way. What has no
    counterpart, is of unlikely length, or is still too long is left out.

    `ratio` is how many characters of the target language stand for one of the source: some 0.5 from English to Korean;
    None takes it from the two texts. `score` says of a part of each how certainly they are translations, from 0 to 1:
    0.5 tells nothing, and what is nearer to 0 or 1 counts up to as much as the most unlikely lengths do.

    >>> for segment in aligned_paragraphs("Ein Haus.\n\nEin Baum.\n\nAch!", "A house.\n\nA tree.\n\nOh!"):
    ...     print(*segment)
    Ein Haus. A house.
    Ein Baum. A tree.
    Ach! Oh!
    """
    ours, theirs = paragraphs(source), paragraphs(target)
    if ratio is None:
        ratio = _ratio(ours, theirs)
    if not (math.isfinite(ratio) and ratio > 0):
        raise UsageError(f"ratio is how many characters stand for one, and more than 0; got {ratio}")
    segments = []
    for segment in _corresponding(ours, theirs, score, ratio, "\n"):
        if _is_short(segment.source) and _is_short(segment.target):
            segments.append(segment)
        else:
            cut = _corresponding(sentences(segment.source), sentences(segment.target), score, ratio, " ")
            segments += [each for each in cut if _is_short(each.source) and _is_short(each.target)]
    return segments


def paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a text: what blank lines, items of a list and indented lines begin.

    >>> paragraphs("One,\ntwo.\n\n \nThree:\n* a\n* b\n")
    ['One,\ntwo.', 'Three:', '* a', '* b']
    """
    return _stripped(_PARAGRAPHS.split(text))


def sentences(text: str) -> list[str]:
    r"""Return the sentences of a text, as far as its punctuation tells; a line end is the end of one.

    >>> sentences("One. “Two!” Version 1.5?\nThree"), sentences("一。「二。」三")
    (['One.', '“Two!”', 'Version 1.5?', 'Three'], ['一。', '「二。」', '三'])
    """
    return _stripped(_SENTENCES.split(text))


def _stripped(parts: list[str]) -> list[str]:
    return [part for part in map(str.strip, parts) if part]


def _ratio(ours: Sequence[str], theirs: Sequence[str]) -> float:
    there, here = sum(map(len, theirs)), sum(map(len, ours))
    return min(max(there / here, 1 / MOST_RATIO), MOST_RATIO) if there and here else 1.0


def _corresponding(
    ours: list[str], theirs: list[str], score: Callable[[str, str], float] | None, ratio: float, between: str
) -> list[Segment]:
    """Return the parts that correspond; several of a side are joined."""
    if not ours or not theirs:
        return []
    if len(ours) == len(theirs) and all(starmap(_are_likely(ratio), zip(ours, theirs, strict=True))):
        return list(map(Segment, ours, theirs))

    def scored(some: Sequence[int], others: Sequence[int]) -> float:
        assert score is not None
        found = score(between.join(ours[i] for i in some), between.join(theirs[i] for i in others))
        if not 0 <= found <= 1:
            raise UsageError(f"a score is between 0 and 1, got {found}")
        return found

    beads = align(*in_one_measure(_sizes(ours), _sizes(theirs), ratio), None if score is None else scored)
    pairs = [
        Segment(between.join(ours[bead.first : bead.last]), between.join(theirs[bead.start : bead.end]))
        for bead in beads
        if bead.is_pair
    ]
    return [pair for pair in pairs if _are_likely(ratio)(*pair)]


def _sizes(parts: list[str]) -> list[int]:
    return list(map(len, parts))


def _are_likely(ratio: float) -> Callable[[str, str], bool]:
    """Return what tells whether two texts may be translations, by their lengths."""
    ours, theirs = (ratio, 1.0) if ratio >= 1 else (1.0, 1 / ratio)
    return lambda source, target: deviation(ours * len(source), theirs * len(target)) <= UNLIKELY


def _is_short(text: str) -> bool:
    """Whether a text has at most so many words; most can be told by their characters."""
    if len(text) <= MOST_WORDS or (text.isascii() and len(text) < 2 * MOST_WORDS):
        return True
    return len(words(text)) <= MOST_WORDS
