"""A dictionary from nothing but the texts: confident pairs are linked, aligned and learnt from, again and again.

The first pairs are those whose letters agree; what is learnt from them finds more. Few are taken at first, the surest,
and more in every round, until they no longer change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from sosie.crosslingual.align import train
from sosie.crosslingual.compared import Compared, nearest
from sosie.crosslingual.confident import Confident, confident
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.paragraphs import aligned_paragraphs
from sosie.crosslingual.parallel.segment import Segment
from sosie.crosslingual.projection import Lexical
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import Languages, Views, Weights, letter_views, word_views
from sosie.errors import DataError
from sosie.shown import counted
from sosie.storage.room import Room
from sosie.text.words import words
from sosie.types import I64

ROUNDS = 5
SHARES = (0.5, 0.75, 1.0)  # of the confident pairs that the first rounds take; all later ones take all
MOST_PAIRS = 20_000  # that are learnt from: more text makes a dictionary little better
LEAST_PAIRS = 10  # less is no beginning
SETTLED = 0.98  # share of the pairs that stay the same when nothing changes any more
_SCORED = 4096  # texts whose words are kept while paragraphs are aligned
_COMPARED = 20  # targets that are compared with each source to find the confident pairs

Texts = Callable[[int, I64], dict[int, str]]  # the texts of some rows of a side: 0 the sources, 1 the targets


@dataclass(frozen=True)
class Round:
    """What a round learnt: how many confident pairs there were, how many it took, of how many segments and words.

    `same` is the share of the pairs that the round before had taken, too.
    """

    confident: int
    taken: int
    segments: int
    words: int
    same: float | None


@dataclass(frozen=True, eq=False)
class Learnt:
    """The dictionary of the last round, and what each round took."""

    dictionary: Dictionary
    rounds: tuple[Round, ...]
    pairs: Confident


def bootstrap(
    both: Languages,
    texts: Texts,
    room: Room,
    *,
    by: Signed | None = None,
    spec: TrainingSpec = TrainingSpec(),
    weights: Weights | None = None,
    rounds: int = ROUNDS,
    told: Callable[[int, Round], None] = lambda number, done: None,
) -> Learnt:
    """Link by letters, learn a dictionary from the confident pairs, link by it, and so on until these stay the same."""
    done: list[Round] = []
    taken: Confident | None = None
    segments = _Segments(texts)
    dictionary: Dictionary | None = None
    for number in range(rounds):
        compared = _linked(both, dictionary, room, by, weights or Weights())
        sure = confident(compared)
        share = SHARES[min(number, len(SHARES) - 1)]
        some = sure.first(min(max(int(share * len(sure.a)), LEAST_PAIRS), MOST_PAIRS))
        same = None if taken is None else some.same(taken)
        if same is not None and same >= SETTLED and share == 1:
            break
        if len(some.a) < LEAST_PAIRS:
            raise DataError(
                f"{_too_few(both, len(some.a))}. Give a dictionary (--dictionary) or parallel text (--parallel)."
            )
        taken = some
        aligned = segments.of(some, dictionary)
        dictionary = train(aligned, spec, threads=room.threads, scratch=room.scratch)
        done.append(Round(len(sure.a), len(some.a), len(aligned), len(dictionary), same))
        told(number + 1, done[-1])
    assert dictionary is not None and taken is not None
    return Learnt(dictionary, tuple(done), taken)


def _too_few(both: Languages, found: int) -> str:
    """Say why a bootstrap cannot begin."""
    sizes = [len(side) for side in (both.source, both.target)]
    if min(sizes) < LEAST_PAIRS:
        there = f"{sizes[0]:,} and {counted(sizes[1], 'document')}"
        return f"{there} are too few to learn from: {LEAST_PAIRS} on each side are the least"
    return (
        f"only {counted(found, 'pair')} of documents are alike enough by their letters to begin with:"
        " the languages share too few words"
    )


def _linked(
    both: Languages, dictionary: Dictionary | None, room: Room, by: Signed | None, weights: Weights
) -> Compared:
    views: Views
    if dictionary is None:
        views = letter_views(both, room)
    else:
        views = word_views(both, dictionary, room, weights)
    return nearest(views, _COMPARED, room, by)


class _Segments:
    """The corresponding paragraphs of pairs of documents; texts that were read once are kept."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._held: tuple[dict[int, str], dict[int, str]] = ({}, {})

    def of(self, pairs: Confident, dictionary: Dictionary | None) -> list[Segment]:
        """Return the segments of some pairs; a dictionary so far helps where paragraphs differ in number."""
        for side, rows in enumerate((pairs.a, pairs.b)):
            held = self._held[side]
            new = np.array(sorted(set(rows.tolist()) - held.keys()), np.int64)
            held.update(self._texts(side, new))
        both = [(self._held[0][a], self._held[1][b]) for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)]
        ratio = float(np.median([len(target) / max(len(source), 1) for source, target in both]))
        score = None if dictionary is None else shared_words(dictionary)
        return [segment for pair in both for segment in aligned_paragraphs(*pair, score, max(ratio, 0.05))]


def shared_words(dictionary: Dictionary) -> Callable[[str, str], float]:
    """Return what says of two texts which share of the source's words has a translation in the target, or is there.

    >>> score = shared_words(Dictionary.from_pairs(["haus", "rot"], ["house", "red"], [1.0, 1.0]))
    >>> score("Haus am See", "the house")
    0.3333333333333333
    """
    lexical = Lexical.of(dictionary)
    translations = cache(lambda word: frozenset([word, *_translated(lexical, word)]))

    # A paragraph is scored with many others, one after the other.
    @lru_cache(_SCORED)
    def wanted(source: str) -> list[frozenset[str]]:
        return [translations(word) for word in words(source)]

    @lru_cache(_SCORED)
    def there(target: str) -> frozenset[str]:
        return frozenset(words(target))

    def score(source: str, target: str) -> float:
        own, other = wanted(source), there(target)
        return sum(not other.isdisjoint(meant) for meant in own) / len(own) if own else 0.0

    return score


def _translated(lexical: Lexical, word: str) -> Iterator[str]:
    row = lexical.words.get(word)
    if row is not None:
        for place in lexical.targets[lexical.offsets[row] : lexical.offsets[row + 1]].tolist():
            yield lexical.others[place]
