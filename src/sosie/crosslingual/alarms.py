"""What should make a person look twice: hubs, documents in another language, a dictionary that knows few words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.crosslingual.ranking import Ranked
from sosie.crosslingual.terms import Terms
from sosie.types import I64, Bools

HUB = 0.01  # share of all linked sources of which one target is the first, at least
_LEAST_HUB = 10  # sources
_COMMON = 200  # words that occur in most documents tell a language
_LEAST_WORDS = 20  # of a document whose language can be told
_FOREIGN = 0.2  # of the usual share of common words that a document of another language has at most
_ALIKE = 0.8  # of the usual share of common words that another collection in the same language has at least
STRANGE, FEW = 0.1, 0.3  # share of words that a dictionary knows: below, it is for another language; below, it is poor


class Hubs(NamedTuple):
    """Targets that are the first link of very many sources, most of them first, and of how many."""

    rows: I64
    counts: I64


def hubs(links: Ranked) -> Hubs:
    """Return the targets that are the best match of more than a hundredth of all sources, and of more than ten.

    >>> some, none = np.arange(12), np.zeros(12)
    >>> found = hubs(Ranked(some, np.array([7] * 11 + [3]), np.ones(12, np.int64), none, none))
    >>> found.rows.tolist(), found.counts.tolist()
    ([7], [11])
    """
    first = links.first
    rows, counts = np.unique(first.b, return_counts=True)
    many = counts > max(_LEAST_HUB, HUB * len(first))
    order = np.lexsort((rows[many], -counts[many]))
    return Hubs(rows[many][order], counts[many][order])


class Foreign(NamedTuple):
    """Which documents of a side hardly have the words that are common there; and which have those of the other side."""

    rows: I64
    other: Bools


def foreign(side: Terms, other: Terms) -> Foreign:
    """Return the documents that seem to be in another language than the rest of their side, or in that of the other.

    A document in the language of its side has some of its commonest words. One with hardly any, though it is long
    enough, is in another language, or is no prose. Words that are common on both sides (names, numbers) tell nothing.
    """
    common, others = _commonest(side), _commonest(other)
    own, theirs = side.shares(_are_among(side, common - others)), side.shares(_are_among(side, others - common))
    told = side.lengths >= _LEAST_WORDS
    if not told.any():
        return Foreign(np.empty(0, np.int64), np.empty(0, np.bool_))
    rows = np.flatnonzero(told & (own < _FOREIGN * np.median(own[told])))
    usual = other.shares(_are_among(other, others - common))[other.lengths >= _LEAST_WORDS]
    least = _FOREIGN * float(np.median(usual)) if len(usual) else 0.0
    return Foreign(rows, np.asarray(theirs[rows] > np.maximum(2 * own[rows], least)))


def are_alike(side: Terms, other: Terms) -> bool:
    """Whether two collections seem to be in one language: the commonest words of each are as common in the other."""
    own = _commonest(side), _commonest(other)
    shares = [[float(terms.shares(_are_among(terms, words)).mean()) for words in own] for terms in (side, other)]
    return shares[0][1] >= _ALIKE * shares[0][0] > 0 and shares[1][0] >= _ALIKE * shares[1][1] > 0


def _commonest(terms: Terms) -> set[str]:
    """Return the words that occur in most documents."""
    numbers = np.lexsort((np.arange(len(terms.words)), -terms.frequencies))[:_COMMON]
    return {terms.words[number] for number in numbers.tolist()}


def _are_among(terms: Terms, words: set[str]) -> Bools:
    return np.fromiter((word in words for word in terms.words), np.bool_, len(terms.words))
