"""The exact join of feature sets on a cluster: by the rarest features of each document (Vernica, Carey and Li 2010).

Two similar documents share one of their rarest features, so only these travel, each to its own bucket, with the number
of the document, the place of the feature in it, and how many features it has. In the bucket, documents that have one
feature become pairs, as far as their sizes and what is left of them allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import read_only
from sosie.kernels.sets.rarity import rarest_prefixes
from sosie.matches.equal.groups import spread
from sosie.matches.sets.partitions import listed_at_most
from sosie.matches.sets.similarity import Measure
from sosie.planner.constants.documents import CROWDED_KEY as CROWDED
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.spark.blocks import Blocks, Told, among, bucket_of, features_in, mixed, rows_of
from sosie.spark.candidates import COUNTED, LISTS, PER_BUCKET, Candidates, Entries, PairPacker, find_candidates
from sosie.spark.exchange import Packer, Sent, batched, buckets_of
from sosie.spark.packed import unpack_all
from sosie.spark.rarity import Rarity, sample_rarity
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, Bools, offsets_of

POSTINGS = 1 << 21  # in one bucket, about
_PIECE = 1 << 22  # pairs that are looked at together
_TYPES = [np.uint32, np.int64, np.int64]


class Sizes(NamedTuple):
    """How many features similar sets share at least, for a threshold by some measure."""

    measure: Measure
    threshold: Fraction

    def prefix(self, sizes: I64) -> I64:
        """Return how many of the rarest features of sets are enough to meet any similar set."""
        p, q = self.threshold.numerator, self.threshold.denominator
        if self.measure == "cosine":
            return _prefix(sizes, p * p, q * q)
        return _prefix(sizes, p, q)

    def short(self, sizes: I64) -> I64:
        """Return how many are enough to meet any similar set that is as large or larger."""
        p, q = self.threshold.numerator, self.threshold.denominator
        return _prefix(sizes, p, q) if self.measure == "cosine" else _prefix(sizes, 2 * p, p + q)

    def may_reach(self, smaller: I64, larger: I64, most: I64) -> Bools:
        """Whether sets that share at most so many features may be similar; never wrong where they are."""
        t = float(self.threshold) * (1 - 1e-9)
        if self.measure == "cosine":
            return np.asarray(np.minimum(most, smaller) >= t * np.sqrt(smaller.astype(np.float64) * larger))
        return np.asarray(np.minimum(most, smaller) >= t / (1 + t) * (smaller + larger))


def prefix_candidates(
    work: Work, blocks: Blocks, left_out: I64, sizes: Sizes, groups: int, split: int = 0
) -> Candidates:
    """Return the pairs of the `groups` rows that are not left out that may be similar, and crowded lists.

    Lists of more than `DENSE` rows are crowded, or of more than `CROWDED` where there would be too many pairs. With a
    `split`, rows from there on are a second collection.
    """
    rarity = sample_rarity(work, blocks)
    per_row = float(sizes.prefix(np.array([max(blocks.features // max(blocks.rows, 1), 1)]))[0])
    buckets, pair_buckets = work.buckets(round(per_row * groups), POSTINGS), work.buckets(groups, PER_BUCKET)
    columns = ["part", "first", "count", "sizes", "hashes"]
    sent = [
        Sent(frame.select(*columns), send_postings, (blocks.firsts, told, rarity, sizes, buckets))
        for frame, told in blocks.telling(left_out)
    ]
    most = 4 * listed_at_most(groups)
    for limit in (DENSE, CROWDED):
        allowed = most if limit == DENSE else None
        found = find_candidates(work, sent, buckets, take_postings, pair_buckets, sizes, limit, allowed, split)
        if found.counters["expected"] <= most:
            break
    counters = {"comparisons": found.pairs, "bounded_lists": 0, "unlisted_pairs": 0}
    return replace(found, counters=counters)


def send_postings(
    batches: Batches, firsts: I64, left_out: Told, rarity: Rarity, lengths: Sizes, buckets: int
) -> Batches:
    """Send the rarest features of each document to their buckets: a part of the hash, the place, and the size."""
    packer, copies = Packer(), left_out.rows()[0]
    table, shift = rarity.table()
    for batch in batches:
        rows = rows_of(batch, firsts)
        features = features_in(batch, rows.sizes)
        size = rows.sizes.astype(np.int64)
        prefix = np.where(among(rows.numbers, copies), 0, lengths.prefix(size))
        offsets = offsets_of(prefix)
        tokens = np.empty(offsets[-1], np.uint64)
        starts, stops = features.offsets[:-1], features.offsets[1:]
        rarest_prefixes(features.hashes, read_only(starts), read_only(stops), shift, table, offsets, tokens)
        places = spread(np.zeros(len(prefix), np.int64), prefix)
        names = mixed(tokens)
        columns: list[NDArray[Any]] = [(names >> np.uint64(32)).astype(np.uint32), places, np.repeat(size, prefix)]
        packer.add((names % np.uint64(buckets)).astype(np.int32), np.repeat(rows.numbers, prefix), columns)
        yield from packer.ready()
    yield from packer.finish()


def take_postings(
    batches: Batches, pair_buckets: int, sizes: Sizes, limit: int, allowed: int | None, split: int
) -> Batches:
    """Pair the documents of each bucket that share a feature there, and may be similar.

    Beyond `allowed` pairs they are counted only.
    """
    pairs, lists, expected = PairPacker(pair_buckets), Packer(LISTS), 0
    for bucket, blobs in buckets_of(batches):
        postings = _sorted(*unpack_all(blobs[0], _TYPES))
        edges = np.flatnonzero(np.diff(postings.tokens.astype(np.int64), prepend=-1, append=-1))
        counts = np.diff(edges)
        for piece in _pieces(edges[:-1], counts, limit):
            found = _pairs(postings, *piece, sizes, split)
            expected += len(found.a)
            if allowed is None or expected <= allowed:
                pairs.add(found)
                yield from pairs.ready()
        crowded = spread(edges[:-1][counts > limit], counts[counts > limit])
        names = mixed(postings.tokens[crowded] ^ mixed(np.array([bucket]))[0])
        probes = postings.places[crowded] < sizes.short(postings.sizes[crowded])
        rests = postings.sizes[crowded] - postings.places[crowded]
        lists.add(bucket_of(names, pair_buckets), postings.rows[crowded], [names, rests, probes.astype(np.int64)])
        yield from lists.ready()
    yield from pairs.finish()
    yield from lists.finish()
    yield from batched(iter([(0, COUNTED, 1, np.array([expected], np.int64).tobytes())]))


class _Postings(NamedTuple):
    """Postings ordered by token, size and row."""

    tokens: NDArray[np.uint32]
    rows: I64
    places: I64
    sizes: I64


def _sorted(rows: I64, columns: list[NDArray[Any]]) -> _Postings:
    tokens, places, sizes = columns
    order = np.lexsort((places, rows, sizes, tokens))
    tokens, rows, places, sizes = tokens[order], rows[order], places[order], sizes[order]
    # Two features of one document may share a token: then the first stands for both.
    new = np.ones(len(rows), np.bool_)
    new[1:] = (tokens[1:] != tokens[:-1]) | (rows[1:] != rows[:-1])
    return _Postings(tokens[new], rows[new], places[new], sizes[new])


def _pieces(starts: I64, counts: I64, limit: int) -> Iterator[tuple[I64, I64]]:
    """Yield lists that are not crowded, as many at a time as hold few pairs."""
    some = (counts > 1) & (counts <= limit)
    starts, counts = starts[some], counts[some]
    before = offsets_of(counts * (counts - 1) // 2)
    first = 0
    while first < len(starts):
        last = max(int(np.searchsorted(before, before[first] + _PIECE, "right")) - 1, first + 1)
        yield starts[first:last], counts[first:last]
        first = last


def _pairs(postings: _Postings, starts: I64, counts: I64, sizes: Sizes, split: int) -> Entries:
    """Return the pairs inside lists that may be similar; they meet at the first row of their list."""
    places = spread(starts, counts)
    inside = places - np.repeat(starts, counts)
    later = np.repeat(places, inside)
    earlier = spread(np.repeat(starts, counts), inside)
    which = np.repeat(np.repeat(np.arange(len(starts)), counts), inside)
    small, large = postings.sizes[earlier], postings.sizes[later]
    left = np.minimum(small - postings.places[earlier], large - postings.places[later])
    some = (postings.places[earlier] < sizes.short(small)) & sizes.may_reach(small, large, left)
    if split:
        some &= (postings.rows[earlier] < split) != (postings.rows[later] < split)
    a, b = postings.rows[earlier[some]], postings.rows[later[some]]
    least = np.minimum.reduceat(postings.rows[places], offsets_of(counts)[:-1]) if len(starts) else starts
    return Entries(np.minimum(a, b), np.maximum(a, b), least[which[some]])


def _prefix(sizes: I64, numerator: int, denominator: int) -> I64:
    """Return how many features are left of sets, and one more, if at least this share of each is shared."""
    return np.where(sizes > 0, sizes - -(-numerator * sizes // denominator) + 1, 0)
