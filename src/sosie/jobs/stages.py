"""The stages of a de-duplication: functions of values that return values, so that a part of a collection can run them.

read -> Collection -> collapse -> Collapsed -> match -> Candidates -> verify -> VerifiedPairs -> cluster -> Clusters
-> list_pairs -> write
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sosie.clusters.grouping import anchored, of_rows, transitive
from sosie.clusters.keep import keep_rank
from sosie.documents.reading import Reading
from sosie.documents.workplace import Workplace
from sosie.features.collect import Collection, collect, load_collection, save_collection
from sosie.features.weighting import weigh as weigh_features
from sosie.jobs.auto import choose_join
from sosie.jobs.parameters import Clustering, DedupParameters
from sosie.jobs.work import Work
from sosie.kernels.sets.similarity import Sets
from sosie.matches.candidates import (
    Candidates,
    Exact,
    Identical,
    Method,
    by_identity,
    by_keys,
    by_sets,
    by_signatures,
    simhash_radius,
)
from sosie.matches.equal.groups import Groups
from sosie.matches.equal.sets import collapse as collapse_rows
from sosie.matches.equal.sets import expand, listable
from sosie.matches.reference import HeldReference, OpenReference
from sosie.matches.sets.crowded import complete
from sosie.matches.sets.rows import rows_of, sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.sides import Sides
from sosie.matches.verify import verify_rows
from sosie.report.deduplication import Deduplication, Outcome
from sosie.report.page import write_page
from sosie.report.timing import Progress
from sosie.signatures.minhash import Minhash
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.finished import FinishedFiles
from sosie.storage.room import Room
from sosie.types import Clusters, Features, Pairs, VerifiedPairs


@dataclass(frozen=True, eq=False)
class Collapsed:
    """The features of all rows; groups of identical ones; the set of each group's first row; how sets are compared.

    Groups are in keep order. `sides` tells those of a reference from the others. All later stages number groups.
    """

    features: Features
    groups: Groups
    sets: Sets
    similarity: Similarity
    sides: Sides


def hold(reference: OpenReference, job: DedupParameters, work: Work, stage: Progress) -> HeldReference:
    """Read the features of a reference."""
    advance = stage.advance if reference.reading is None else _counting(stage, reference.reading)
    return reference.hold(job.evidence, work.room, counts=job.weighted, whole=job.whole, key=work.key, advance=advance)


def read(reading: Reading, job: DedupParameters, held: HeldReference | None, work: Work, stage: Progress) -> Collection:
    """Read the documents and keep their features, or take what an earlier try has read; a reference's come first."""
    checkpoints = work.place.checkpoints
    collection = load_collection(checkpoints, reading, tags=len(work.key) > 0)
    if collection is None:
        collection = collect(
            reading,
            job.evidence,
            replace(work.room, keep=checkpoints.key is not None),
            counts=job.weighted,
            whole=job.whole,
            key=work.key,
            reference=None if held is None else (held.features, held.documents, held.wordless),
            advance=_counting(stage, reading),
        )
        save_collection(checkpoints, reading, collection)
    return collection


def weigh(collection: Collection, job: DedupParameters, room: Room) -> Similarity:
    """Return how documents are compared: by their words, with a weight for every feature where features weigh."""
    weights = weigh_features(collection.features, job.weighting, room, collection.stand_ins)
    return Similarity(job.similarity, weights, collection.features.tags)


def collapse(collection: Collection, similarity: Similarity, keep: str, only: bool) -> Collapsed:
    """Group identical rows, so that each is compared once; with `only`, nothing but pairs with the reference count."""
    features, before = collection.features, np.arange(len(collection.before))
    rank = keep_rank(keep, collection.lengths, collection.order) + len(before)
    groups = collapse_rows(sets_of(features)[0], np.concatenate([before, rank]), similarity.weights, similarity.tags)
    first = groups.representatives
    sets = rows_of(features.hashes, features.offsets[first], features.offsets[first + 1])
    return Collapsed(features, groups, sets, similarity, Sides.of(groups, len(before), only))


def match(
    collapsed: Collapsed, method: Method, threshold: Fraction, room: Room, radius: int | None = None
) -> Candidates:
    """Return candidate pairs of groups, with the recall that the method predicts for a pair at the threshold.

    They are found by hashes alone, and so are all that share enough words. The `radius` is that of simhash, where it is
    not the one that nearly all pairs at the threshold are within.
    """
    similarity, features, groups = replace(collapsed.similarity, tags=None), collapsed.features, collapsed.groups
    if isinstance(method, Exact):
        found = by_sets(collapsed.sets, similarity, threshold, room.threads)
    elif isinstance(method, Identical):
        found = by_identity()
    elif isinstance(method, Minhash):
        found = by_keys(method, features, groups, similarity.least_jaccard(threshold), room)
    else:
        radius = simhash_radius(method, similarity, threshold) if radius is None else radius
        join = choose_join(len(groups), method.bits, radius)
        least = float(similarity.least_cosine(threshold))
        found = by_signatures(method, features, groups, similarity, (radius, least), join, room.threads)
    return replace(found, pairs=collapsed.sides.of_interest(found.pairs))


def verify(
    collapsed: Collapsed, candidates: Candidates, threshold: Fraction, how: Clustering, threads: int | None
) -> VerifiedPairs:
    """Return the pairs that reach the threshold; of lists that very many groups share, at least those that decide."""
    sets, similarity, sides = collapsed.sets, collapsed.similarity, collapsed.sides
    verified = verify_rows(sets, candidates.pairs, threshold, threads, similarity=similarity)
    sizes = sets.stops - sets.starts

    def reaching(pairs: Pairs) -> VerifiedPairs:
        return verify_rows(sets, sides.of_interest(pairs), threshold, threads, similarity=similarity)

    if candidates.dense is None:
        return candidates.stated(verified, sizes, collapsed.groups, similarity.measure, reaching)
    connected = how == "transitive"
    found = complete(
        sets, similarity, threshold, verified, candidates.dense, sides, connected=connected, threads=threads
    )
    return candidates.stated(sides.of_interest(found), sizes, collapsed.groups, similarity.measure, reaching)


def cluster(collapsed: Collapsed, verified: VerifiedPairs, how: Clustering, threads: int | None) -> Clusters:
    """Return who stays and who goes, of all rows: each has the anchor of its group, one without features itself."""
    sets, sides, groups = collapsed.sets, collapsed.sides, collapsed.groups
    deciding = sides.deciding(verified)
    if how == "transitive":
        clusters = transitive(sets, deciding, threads, collapsed.similarity)
    else:
        clusters = anchored(len(sets.starts), deciding)
    return sides.settled(of_rows(clusters, groups, len(collapsed.features)))


def list_pairs(collapsed: Collapsed, verified: VerifiedPairs) -> tuple[VerifiedPairs, Groups]:
    """Return the pairs of rows that pairs of groups stand for, and the groups as they are written: some as stars."""
    groups, sets = listable(verified, collapsed.groups), collapsed.sets
    listed = collapsed.sides.listed(expand(verified, groups, sets.stops - sets.starts))
    said = {name: getattr(verified, name) for name in ("recall", "interval", "at_threshold")}
    return replace(listed, **said), groups


def write(outcome: Outcome, place: Workplace, checkpoints: Checkpoints, threads: int | None, stage: Progress) -> None:
    """Write the tables and the documents; files that an earlier try has finished are left as they are."""
    assert place.target is not None
    if place.is_finished:
        return
    finished = FinishedFiles(place.target, checkpoints)
    outcome.write_tables(place.target)
    outcome.write_documents(place.target, threads, stage.advance, place.annotate, finished)


def write_report(result: Deduplication, place: Workplace, threads: int | None) -> None:
    """Write report.json and report.html, unless an earlier try has."""
    assert place.target is not None
    if place.is_finished:
        return
    result.report.write_json(place.target)
    write_page(result, place.target, threads)


def _counting(stage: Progress, reading: Reading) -> Callable[[int], None]:
    """Return what counts documents as read and says how many are expected."""

    def advance(count: int) -> None:
        stage.expect(reading.expected)
        stage.advance(count)

    return advance
