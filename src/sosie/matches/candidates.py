"""How a collection of feature sets is joined with itself: exactly, by minhash keys or by simhash signatures.

Each method gives candidates for verification and says what share of the similar pairs it expects to find.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sosie.features.shingles import Shingles
from sosie.kernels.set_join import Sets
from sosie.matches.dense import link_dense
from sosie.matches.groups import Groups
from sosie.matches.join import join_signatures
from sosie.matches.keys import DENSE, key_groups
from sosie.matches.order import ordered_pairs
from sosie.matches.sets import PAIRS, join_rows
from sosie.signatures.key_columns import key_columns
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.types import I64, Features, Pairs, Signatures


@dataclass(frozen=True, kw_only=True)
class Exact:
    """No signatures: the sets of shingles themselves are joined, and every similar pair is found."""

    shingles: Shingles = Shingles()


@dataclass(frozen=True)
class Room:
    """What a join may use: a folder for spills, the bytes of memory beyond which it spills, and threads."""

    scratch: str | os.PathLike[str]
    memory: int = 1 << 28
    threads: int | None = None


Method = Exact | Minhash | Simhash

SIMHASH_RECALL = 0.99


def candidates(
    method: Method, features: Features, sets: Sets, groups: Groups, threshold: Fraction, room: Room
) -> tuple[Pairs, float]:
    """Return candidate pairs of groups, and the recall that the method predicts for a pair at the threshold.

    `sets` holds the representatives of the groups, which are rows of `features`.
    """
    threads = room.threads
    if isinstance(method, Exact):
        return join_rows(sets, threshold, threads), 1.0
    if isinstance(method, Minhash):
        return _by_keys(method, features, sets, groups, threshold, room), method.recall(float(threshold))
    # The cosine of sets with Jaccard J is at least 2J / (1 + J), reached when they are of one size.
    radius = method.radius(float(2 * threshold / (1 + threshold)), SIMHASH_RECALL)
    signatures = method.fit().sign(features, threads=threads)
    signed = Signatures(signatures.words[_signed_rows(features, groups)], method.bits)
    pairs = join_signatures(signed, radius=radius, threads=threads)
    return Pairs(pairs.a, pairs.b, {**pairs.counters, "radius": radius}), SIMHASH_RECALL


def _by_keys(
    method: Minhash, features: Features, sets: Sets, groups: Groups, threshold: Fraction, room: Room
) -> Pairs:
    most = 4 * PAIRS * len(groups)  # a pair counts in every table where it shares a key
    first = groups.representatives
    with key_columns(method, features, first, room.scratch, room.memory, room.threads) as columns:
        found = key_groups(columns, DENSE, most=most, threads=room.threads)
    linked_a, linked_b, counted = link_dense(sets, threshold, found.offsets, found.members)
    counters = {
        "keys": method.bands,
        "comparisons": len(found.a) + counted["linked"],
        "bounded_lists": counted["bounded_lists"],
        "bounded_comparisons": counted["bounded_comparisons"],
    }
    a, b = np.concatenate([found.a, linked_a]), np.concatenate([found.b, linked_b])
    return ordered_pairs(a, b, counters, distinct=False)


def _signed_rows(features: Features, groups: Groups) -> I64:
    """Return where the representatives stand among the rows that have features, which alone are signed."""
    return (np.cumsum(features.sizes > 0) - 1)[groups.representatives]
