"""How a collection of feature sets is joined with itself: exactly, by minhash keys or by simhash signatures.

Each method gives candidates for verification and says what share of the similar pairs it expects to find.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sosie.features.shingles import Shingles
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.groups import Groups
from sosie.matches.join import SignatureJoin, join_signatures
from sosie.matches.keys import DENSE, key_groups
from sosie.matches.order import ordered_pairs
from sosie.matches.sets.join import join_similar, link_dense
from sosie.matches.sets.partitions import FEW, PAIRS
from sosie.matches.sets.similarity import Similarity
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.room import Room
from sosie.types import I64, Features, Pairs, Signatures


@dataclass(frozen=True, kw_only=True)
class Exact:
    """No signatures: the sets of shingles themselves are joined, and every similar pair is found."""

    shingles: Shingles = Shingles()


Method = Exact | Minhash | Simhash

SIMHASH_RECALL = 0.99  # of the pairs at the threshold


def by_sets(sets: Sets, similarity: Similarity, threshold: Fraction, threads: int | None) -> Pairs:
    """Return every pair of sets that reaches the threshold: exactly, so that all are found."""
    return replace(join_similar(sets, similarity, threshold, threads), recall=1.0)


def by_keys(method: Minhash, features: Features, sets: Sets, groups: Groups, threshold: Fraction, room: Room) -> Pairs:
    """Return the pairs of groups that share a minhash key; the threshold is a Jaccard similarity.

    `sets` holds the representatives of the groups, which are rows of `features`.
    """
    most = max(4 * PAIRS * len(groups), FEW)  # a pair counts in every table where it shares a key
    first = groups.representatives
    with method.fit().key_columns(features, first, room) as columns:
        found = key_groups(columns, DENSE, most=most, threads=room.threads)
    linked_a, linked_b, counted = link_dense(sets, threshold, found.offsets, found.members)
    counters = {
        "keys": method.bands,
        "comparisons": len(found.a) + counted["linked"],
        "bounded_lists": counted["bounded_lists"],
        "bounded_comparisons": counted["bounded_comparisons"],
    }
    a, b = np.concatenate([found.a, linked_a]), np.concatenate([found.b, linked_b])
    return replace(ordered_pairs(a, b, counters, distinct=False), recall=method.recall(float(threshold)))


def simhash_radius(method: Simhash, similarity: Similarity, threshold: Fraction) -> int:
    """Return within how many bits a pair at the threshold is found, but for one in a hundred."""
    return method.radius(float(similarity.least_cosine(threshold)), SIMHASH_RECALL)


def by_signatures(
    method: Simhash,
    features: Features,
    groups: Groups,
    similarity: Similarity,
    radius: int,
    join: SignatureJoin,
    threads: int | None,
) -> Pairs:
    """Return the pairs of groups whose simhash signatures are within the radius.

    The representatives of the groups are rows of `features`; weights are aligned with its hashes.
    """
    signatures = _signed(method, features, similarity, threads)
    signed = Signatures(signatures.words[_signed_rows(features, groups)], method.bits)
    pairs = join_signatures(signed, radius=radius, method=join, threads=threads)
    return replace(pairs, counters={**pairs.counters, "radius": radius}, recall=SIMHASH_RECALL)


def _signed(method: Simhash, features: Features, similarity: Similarity, threads: int | None) -> Signatures:
    """Sign features by the weights of the similarity, where it has any."""
    if similarity.weights is None:
        return method.fit().sign(features, threads=threads)
    signer = replace(method, weighting="binary").fit()  # no statistics: the weights are given
    return signer.sign_weighted(features, similarity.weights, threads=threads)


def _signed_rows(features: Features, groups: Groups) -> I64:
    """Return where the representatives stand among the rows that have features, which alone are signed."""
    return (np.cumsum(features.sizes > 0) - 1)[groups.representatives]
