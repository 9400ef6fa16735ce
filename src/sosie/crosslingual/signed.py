"""Vectors of documents as random projections: who may be similar is told by bits, before it is computed (NFL 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import bdtr

from sosie.arrays import read_only
from sosie.crosslingual.views import Views
from sosie.errors import UsageError
from sosie.features.weighting import FIXED_POINT
from sosie.index.flat import FlatIndex
from sosie.kernels.sign.projection import FIELDS, project
from sosie.kernels.vectors.dots import SparseRows
from sosie.matches.chunks import Window
from sosie.matches.join import join_signatures
from sosie.matches.share import weighted_share
from sosie.parallel import ordered_map, spans
from sosie.planner.constants.links import LET_THROUGH
from sosie.planner.methods.link_signatures import radius_for
from sosie.signatures.projection import MAXIMUM_BITS
from sosie.signatures.rows import trimmed
from sosie.storage.room import Room
from sosie.types import F64, I64, U64, Pairs, Signatures

_SPAN = 1 << 18  # columns that one task signs


@dataclass(frozen=True)
class Signed:
    """How candidates are found: by random projections of so many bits, and all pairs of them or a sliding window.

    Among the nearest, all are compared over bit planes, which wins up to some millions of documents on each side. From
    a threshold on, the radius lets the share `recall` of the pairs exactly at it through.
    """

    bits: int = 1000
    seed: int = 0
    window: Window | None = field(default=None, kw_only=True)
    recall: float = field(default=LET_THROUGH, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 1 <= self.bits <= MAXIMUM_BITS:
            raise UsageError(f"signatures have 1 to {MAXIMUM_BITS} bits, got {self.bits!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise UsageError(f"seed must be from 0 to 2^32 - 1, got {self.seed!r}")
        if not 0 < self.recall < 1:
            raise UsageError(f"signatures let a share above 0 and below 1 through, got {self.recall!r}: compare all")

    def radius(self, least: float) -> int:
        """Return how many bits may differ so that nearly all pairs of this similarity are let through (Equation 5).

        >>> Signed(1000).radius(0.3)
        435
        """
        return radius_for(self.bits, least, self.recall)

    def nearest(self, views: Views, ahead: int, back: int, room: Room) -> I64:
        """Return pairs of each source with its nearest targets and of each target with its nearest sources.

        A pair is a number: the source in the upper half, the target in the lower.
        """
        sides = [self.sign(rows, room) for rows in (views.source, views.target)]
        (source, numbers), (target, others) = sides
        if not len(source) or not len(target):
            return np.empty(0, np.int64)
        found = []
        for asking, asked, own, other, count in (
            (source, target, numbers, others, ahead),
            (target, source, others, numbers, back),
        ):
            matches = FlatIndex(asked).search(asking, k=min(count, len(asked)), threads=room.threads)
            rows = np.repeat(own, np.diff(matches.offsets))
            found.append((rows, other[matches.rows]))
        packed = [found[0][0] << 32 | found[0][1], found[1][1] << 32 | found[1][0]]
        return np.unique(np.concatenate(packed))

    def above(self, views: Views, least: float, room: Room, max_pairs: int) -> Pairs:
        """Return the pairs whose signatures are as near as nearly all of this similarity are."""
        (source, numbers), (target, others) = (self.sign(rows, room) for rows in (views.source, views.target))
        if not len(source) or not len(target):
            return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), recall=1.0)
        by: Window | Literal["brute"] = self.window or "brute"
        pairs = join_signatures(
            source, target, radius=self.radius(least), method=by, max_pairs=max_pairs, threads=room.threads, room=room
        )
        return Pairs(numbers[pairs.a], others[pairs.b], pairs.counters, pairs.recall, pairs.interval)

    def share(self, found: F64, least: float, pairs: Pairs) -> tuple[float | None, tuple[float, float] | None]:
        """Return what share of all similar pairs was found, and its interval, told by the pairs that were.

        A pair of similarity s was let through with the chance of Equation 5; of those a window found the share that it
        states.
        """
        if not len(found):
            return None, None
        apart = np.arccos(np.clip(found, -1, 1)) / np.pi
        chances = bdtr(float(self.radius(least)), self.bits, apart)
        alone = np.arange(len(found))
        share = weighted_share(np.asarray(chances), alone, np.ones(len(found), np.int64))
        if share is None or pairs.recall is None:
            return None, None
        low, high = pairs.interval or (pairs.recall, pairs.recall)
        return share.recall * pairs.recall, (share.interval[0] * low, share.interval[1] * high)

    def sign(self, rows: SparseRows, room: Room) -> tuple[Signatures, I64]:
        """Return the signatures of the rows that have any column, and their numbers."""
        words = np.empty((len(rows.offsets) - 1, -(-self.bits // 64)), np.uint64)
        lane = self.seed * (MAXIMUM_BITS // FIELDS)

        def project_span(span: tuple[int, int]) -> None:
            start, stop = span
            offsets = rows.offsets[start : stop + 1]
            inside = slice(offsets[0], offsets[-1])
            weights = np.rint(rows.weights[inside].astype(np.float64) * FIXED_POINT).astype(np.int64)
            features, begins = _features(rows.columns[inside]), offsets - offsets[0]
            project(read_only(features), read_only(begins), weights, False, lane, words[start:stop])

        for _ in ordered_map(project_span, spans(rows.offsets, _SPAN), room.threads):
            pass
        numbers = np.flatnonzero(np.diff(rows.offsets))
        return Signatures(trimmed(words, self.bits)[numbers], self.bits), numbers


def _features(columns: object) -> U64:
    """Return numbers of columns spread over all 64 bits, as hashes of words are: each seeds a random vector."""
    mixed = np.asarray(columns).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
