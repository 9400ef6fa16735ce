"""Documents of two languages in one space: the one side projected into the other, the other back, and runs of letters.

A vector has three parts. Two compare words: in the language of the targets, into which the sources are projected, and
in that of the sources, into which the targets are (NFL 3.1). The third compares runs of letters, which names, numbers
and kindred words share, and needs no dictionary. Each part has a weight; the product of two vectors is the weighted sum
of the three cosines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.projection import UNKNOWN, Lexical, gram_table, translation_table
from sosie.crosslingual.terms import Terms
from sosie.crosslingual.vectors import Part, Vocabulary, counted_columns, make_vectors
from sosie.errors import UsageError
from sosie.kernels.vectors.dots import SparseRows
from sosie.kernels.vectors.project import Table
from sosie.storage.room import Room
from sosie.types import F64, Bools

Formula = Literal["later", "paper"]

LEAST_TERMS = 5  # that a document must have, before and after it is projected (NFL 6)
_SHARED = 2  # documents of both sides that must have a word for it to tell anything


class Weights(NamedTuple):
    """How much each part of a vector weighs; they sum to 1.

    The defaults are for where nothing is known better: the words of both directions alike, letters half as much.
    """

    forward: float = 0.4
    backward: float = 0.4
    grams: float = 0.2

    @classmethod
    def checked(cls, weights: Sequence[float]) -> Weights:
        """Return weights that sum to 1; refuse what is none.

        >>> Weights.checked((1, 1, 2))
        Weights(forward=0.25, backward=0.25, grams=0.5)
        """
        try:
            forward, backward, grams = map(float, weights)
        except (TypeError, ValueError):
            forward = backward = grams = math.nan
        total = forward + backward + grams
        if not 0 < total < math.inf or min(forward, backward, grams) < 0:
            raise UsageError(
                f"there are three weights (forward, backward, grams), none below 0 and not all 0, got {weights!r}"
            )
        return cls(forward / total, backward / total, grams / total)


USUAL = Weights()


@dataclass(frozen=True, eq=False)
class Languages:
    """Two collections, counted, and the runs of letters of their words: what is known before words are translated."""

    source: Terms
    target: Terms
    letters: tuple[Table, Table]
    runs: tuple[Vocabulary, Vocabulary]

    @classmethod
    def of(cls, source: Terms, target: Terms, threads: int | None = None) -> Languages:
        """Count the runs of four letters of both sides; letters of other scripts are written in Latin ones."""
        written = _latin()
        numbers: dict[str, int] = {}
        tables = [gram_table(side.words, map(written, side.words), numbers) for side in (target, source)]
        counted = [
            counted_columns(side, table, len(numbers), threads)
            for side, table in zip((target, source), tables, strict=True)
        ]
        (frequencies, length), (others, other_length) = counted
        vocabulary = _shared(Vocabulary.of(frequencies, len(target), length), frequencies + others)
        of_source = replace(vocabulary, mean_length=max(other_length, 1e-9))
        return cls(source, target, (tables[1], tables[0]), (of_source, vocabulary))


@dataclass(frozen=True, eq=False)
class Views:
    """The vectors of both sides over `width` columns; a document that has too few terms has an empty one.

    `known` says what share of its words each document of the two sides has that were translated, passed through or
    split; `few` which documents had too few terms, before or after that.
    """

    source: SparseRows
    target: SparseRows
    width: int
    known: tuple[F64, F64]
    few: tuple[Bools, Bools]


def letter_views(both: Languages, room: Room) -> Views:
    """Return vectors of runs of letters alone."""
    few = both.source.sizes < LEAST_TERMS, both.target.sizes < LEAST_TERMS
    source = make_vectors([Part(both.source, both.letters[0], both.runs[0])], room, few[0])
    target = make_vectors([Part(both.target, both.letters[1], both.runs[1])], room, few[1])
    known = np.ones(len(both.source)), np.ones(len(both.target))
    return Views(source, target, both.runs[0].width, known, few)


def word_views(
    both: Languages,
    dictionary: Dictionary,
    room: Room,
    weights: Weights = USUAL,
    formula: Formula = "later",
) -> Views:
    """Return vectors of translated words and of runs of letters.

    By the formula "later", tf*(e) is the sum of
    p(e|f) tf(f), and a column is as rare as it is in the collection of its own language: what the authors of NFL came
    to use. By "paper", both tf*(e) and df*(e) are sums over p(f|e), as Section 3.1 has them.
    """
    if formula not in get_args(Formula):
        raise UsageError(f"the formula is one of {', '.join(get_args(Formula))}, got {formula!r}")
    forward, backward = Lexical.of(dictionary), Lexical.of(dictionary, backward=True)
    if formula == "paper":
        forward, backward = backward.turned(), forward.turned()
    there = _projection(both.source, both.target, forward, formula, room)
    back = _projection(both.target, both.source, backward, formula, room)
    parts = (
        [
            Part(both.source, there.table, there.projected, weights.forward),
            Part(both.source, None, back.own, weights.backward),
            Part(both.source, both.letters[0], both.runs[0], weights.grams),
        ],
        [
            Part(both.target, None, there.own, weights.forward),
            Part(both.target, back.table, back.projected, weights.backward),
            Part(both.target, both.letters[1], both.runs[1], weights.grams),
        ],
    )
    known = (both.source.shares(there.kinds != UNKNOWN), both.target.shares(back.kinds != UNKNOWN))
    few = _are_few(both.source, there.table), _are_few(both.target, back.table)
    source, target = (make_vectors(own, room, without) for own, without in zip(parts, few, strict=True))
    width = sum(part.vocabulary.width for part in parts[0])
    return Views(source, target, width, known, few)


def translated_views(both: Languages, translated: Terms, room: Room, weights: Weights = USUAL) -> Views:
    """Return vectors of the words of translations, which are in the language of the targets, and of runs of letters."""
    nothing = Lexical({}, [], np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0))
    into = _projection(translated, both.target, nothing, "later", room)
    alone = Weights.checked((weights.forward + weights.backward, 0, weights.grams))
    source = [
        Part(translated, into.table, into.projected, alone.forward),
        Part(both.source, both.letters[0], both.runs[0], alone.grams),
    ]
    target = [
        Part(both.target, None, into.own, alone.forward),
        Part(both.target, both.letters[1], both.runs[1], alone.grams),
    ]
    known = translated.shares(into.kinds != UNKNOWN), np.ones(len(both.target))
    few = _are_few(translated, into.table), both.target.sizes < LEAST_TERMS
    made = [make_vectors(own, room, without) for own, without in zip((source, target), few, strict=True)]
    return Views(made[0], made[1], sum(part.vocabulary.width for part in source), known, few)


class _Projection(NamedTuple):
    """How words become those of the other side, and what columns weigh there: of its own texts, and of projected."""

    table: Table
    kinds: Any
    own: Vocabulary
    projected: Vocabulary


def _projection(side: Terms, other: Terms, lexical: Lexical, formula: Formula, room: Room) -> _Projection:
    table, kinds = translation_table(side.words, lexical, other.numbers)
    width = len(other.words)
    frequencies, length = counted_columns(side, table, width, room.threads)
    together = other.frequencies + frequencies
    mean = float(other.counts.sum(dtype=np.int64)) / max(len(other), 1)
    own = _shared(Vocabulary.of(other.frequencies, len(other), mean), together)
    if formula == "later":
        return _Projection(table, kinds, own, replace(own, mean_length=length))
    share = np.repeat(side.frequencies, np.diff(table.offsets)) * table.values
    expected = np.bincount(table.columns, share, minlength=width)
    return _Projection(table, kinds, own, _shared(Vocabulary.of(expected, len(side), length), together))


def _shared(vocabulary: Vocabulary, together: Any) -> Vocabulary:
    """Leave out what occurs once: in a single document of both sides together, so that it links nothing."""
    return replace(vocabulary, rarity=np.where(together >= _SHARED, vocabulary.rarity, 0.0))


def _are_few(side: Terms, table: Table) -> Bools:
    """Whether documents have too few words: of their own, or such that stand for any of the other side."""
    leads = np.diff(table.offsets) > 0
    reached = np.add.reduceat(np.append(leads[side.terms], False), side.offsets[:-1], dtype=np.int64)
    return np.asarray((side.sizes < LEAST_TERMS) | (reached < LEAST_TERMS))


def _latin() -> Callable[[str], str]:
    """Return what writes a word in Latin letters, without accents."""
    try:
        from anyascii import anyascii
    except ImportError:
        raise UsageError("linking needs the package anyascii: pip install 'sosie[crosslingual]'") from None

    def written(word: str) -> str:
        return word if word.isascii() else str(anyascii(word)).lower()

    return written
