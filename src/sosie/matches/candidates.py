"""How a collection of feature sets is joined with itself: exactly, by minhash keys, by simhash signatures, or not.

Each method gives candidates for verification and says what share of the similar pairs it expects to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sosie.features.shingles import Shingles
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.groups import Groups
from sosie.matches.join import SignatureJoin, join_signatures
from sosie.matches.keys import key_groups
from sosie.matches.missed import Banded, Found, banded_share
from sosie.matches.sets.dense import DenseLists, dense_lists
from sosie.matches.sets.join import join_sparse
from sosie.matches.sets.partitions import listed_at_most
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.share import crowds_of, weighted_share
from sosie.planner.constants.documents import DENSE_KEY as DENSE
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.room import Room
from sosie.types import F64, I64, Features, Pairs, Signatures, VerifiedPairs


@dataclass(frozen=True, kw_only=True)
class Exact:
    """No signatures: the sets of shingles themselves are joined, and every similar pair is found."""

    shingles: Shingles = Shingles()


@dataclass(frozen=True)
class Identical:
    """No shingles: texts are compared byte for byte, without folding, and only what is identical is found."""


Method = Exact | Minhash | Simhash | Identical

SIMHASH_RECALL = 0.99  # of the pairs at the threshold


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs to be verified, and the lists of rows whose pairs are not among them, because there may be very many.

    The recall of the pairs is the chance that one exactly at the threshold is found, once the lists are looked through;
    `chance` is that of similar pairs as they are: of their Jaccard similarities and cosines. `keys` are those that the
    pairs share, where it is keys.
    """

    pairs: Pairs
    dense: DenseLists | None = None
    chance: Callable[[F64, F64], F64] | None = None
    keys: Banded | None = None

    def stated(
        self,
        found: VerifiedPairs,
        sizes: I64,
        groups: Groups,
        measure: Measure,
        reaching: Callable[[Pairs], VerifiedPairs],
    ) -> VerifiedPairs:
        """Return verified pairs of groups with the share of all pairs of rows that they are.

        It is estimated from the chance that each had; `sizes` are those of the groups' sets, and `reaching` verifies
        more pairs. Where there is nothing to estimate it from, the chance at the threshold stands.
        """
        if self.chance is None or found.recall is None:
            return found
        a, b = sizes[found.a].astype(np.float64), sizes[found.b].astype(np.float64)
        jaccard = found.shared / (a + b - found.shared)
        cosine = found.similarity if measure == "cosine" else found.shared / np.sqrt(a * b)
        rows = groups.sizes
        certain = int((rows * (rows - 1) // 2).sum())  # equal rows are collapsed before anything is signed
        if self.keys is not None:
            share = banded_share(Found(found.a, found.b, jaccard, rows), self.keys, reaching, certain)
        else:
            crowds = crowds_of(found.a, found.b, len(sizes))
            share = weighted_share(self.chance(jaccard, cosine), crowds, rows[found.a] * rows[found.b], certain)
        if share is None:
            return replace(found, at_threshold=found.recall)
        return replace(found, recall=share.recall, interval=share.interval, at_threshold=found.recall)


def by_sets(sets: Sets, similarity: Similarity, threshold: Fraction, threads: int | None) -> Candidates:
    """Return every pair of sets that reaches the threshold: exactly, so that all are found."""
    found = join_sparse(sets, similarity, threshold, threads)
    return Candidates(replace(found.pairs, recall=1.0), found.dense)


def by_identity() -> Candidates:
    """Return the pairs of groups of identical texts: none, as whatever is identical is in one group."""
    none = np.empty(0, np.int64)
    return Candidates(Pairs(none, none, {"comparisons": 0}, recall=1.0))


def by_keys(method: Minhash, features: Features, groups: Groups, threshold: Fraction, room: Room) -> Candidates:
    """Return the pairs of groups that share a minhash key; the threshold is a Jaccard similarity.

    The representatives of the groups are rows of `features`.
    """
    most = 4 * listed_at_most(len(groups))  # a pair counts in every table where it shares a key
    first = groups.representatives
    with method.fit().key_columns(features, first, room) as columns:
        found = key_groups(columns, DENSE, most=most, threads=room.threads)
    counters = {"keys": method.bands, "comparisons": len(found.a), "bounded_lists": 0, "unlisted_pairs": 0}
    pairs = Pairs(found.a, found.b, counters, method.recall(float(threshold)))
    sizes = features.sizes[first].astype(np.float64)
    dense = dense_lists(len(groups), found.members, found.offsets, sizes[found.members]) if len(found.members) else None
    return Candidates(pairs, dense, lambda jaccard, cosine: method.chances(jaccard), Banded(columns, method.rows))


def simhash_radius(method: Simhash, similarity: Similarity, threshold: Fraction) -> int:
    """Return within how many bits a pair at the threshold is found, but for one in a hundred."""
    return method.radius(float(similarity.least_cosine(threshold)), SIMHASH_RECALL)


def by_signatures(
    method: Simhash,
    features: Features,
    groups: Groups,
    similarity: Similarity,
    within: tuple[int, float],
    join: SignatureJoin,
    threads: int | None,
) -> Candidates:
    """Return the pairs of groups whose simhash signatures are `within` a radius, which is for a cosine at least.

    The representatives of the groups are rows of `features`; weights are aligned with its hashes.
    """
    radius, least = within
    signatures = _signed(method, features, similarity, threads)
    signed = Signatures(signatures.words[_signed_rows(features, groups)], method.bits)
    pairs = join_signatures(signed, radius=radius, method=join, threads=threads)
    usual = radius == method.radius(least, SIMHASH_RECALL)
    recall = SIMHASH_RECALL if usual else float(method.chances(np.array([least]), radius)[0])
    found = replace(pairs, counters={**pairs.counters, "radius": radius}, recall=recall)
    return Candidates(found, None, lambda jaccard, cosine: method.chances(cosine, radius))


def _signed(method: Simhash, features: Features, similarity: Similarity, threads: int | None) -> Signatures:
    """Sign features by the weights of the similarity, where it has any."""
    if similarity.weights is None:
        return method.fit().sign(features, threads=threads)
    signer = replace(method, weighting="binary").fit()  # no statistics: the weights are given
    return signer.sign_weighted(features, similarity.weights, threads=threads)


def _signed_rows(features: Features, groups: Groups) -> I64:
    """Return where the representatives stand among the rows that have features, which alone are signed."""
    return (np.cumsum(features.sizes > 0) - 1)[groups.representatives]
