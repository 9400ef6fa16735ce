"""The main job: read, collapse, match, verify, cluster, write."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from sosie import __version__
from sosie.clusters.anchors import anchored
from sosie.clusters.keep import Keep, keep_rank, parse_keep
from sosie.clusters.second_look import second_look
from sosie.clusters.transitive import transitive
from sosie.documents.order import Order
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.documents.workplace import Workplace, workplace
from sosie.errors import UsageError
from sosie.features.collect import Collection, collect, load_collection, save_collection
from sosie.features.shingles import Shingles
from sosie.features.weighting import FITTED, WEIGHTINGS, Weighting, weigh
from sosie.kernels.sets.set_join import Sets
from sosie.matches.candidates import Exact, Method, candidates
from sosie.matches.groups import Groups
from sosie.matches.identical import collapse, expand, listable
from sosie.matches.reference import HeldReference, OpenReference, as_reference
from sosie.matches.sets import rows_of, sets_of
from sosie.matches.sides import Sides
from sosie.matches.similarity import Measure, Similarity, as_fraction
from sosie.matches.stored import load_pairs, save_pairs
from sosie.matches.verify import verify_rows
from sosie.parallel import thread_count
from sosie.report.assemble import assemble
from sosie.report.check import checked
from sosie.report.deduplication import Deduplication
from sosie.report.page import write_page
from sosie.report.stages import Progress, Silent, Stages
from sosie.report.summary import describe
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.finished import FinishedFiles
from sosie.storage.output import Output
from sosie.storage.resident import physical_memory, within
from sosie.storage.room import IN_MEMORY, Room
from sosie.storage.size import show_size
from sosie.types import Clusters, VerifiedPairs

MethodName = Literal["auto", "exact", "minhash", "simhash"]

SIMHASH_BITS = 256
LOOKS = 4  # at pairs that a bounded join left out, at most
SPILL = IN_MEMORY  # bytes of features, and of keys, beyond which they are kept on disk
POSTING_BYTES = 32  # what the exact join keeps for each feature of a prefix
DOCUMENT_BYTES = 160  # what is kept for each document, whatever the method
FREQUENCY_BYTES = 32  # what counting document frequencies takes for each feature, at most
FIXED_BYTES = 600_000_000  # the program itself, and what is under way on threads


def dedup(
    documents: Any,
    threshold: float | str | Fraction = 0.8,
    *,
    method: MethodName | Method = "auto",
    keep: Keep = "first",
    clusters: Literal["anchored", "transitive"] = "anchored",
    output: str | os.PathLike[str] | Output | None = None,
    threads: int | None = None,
) -> Deduplication:
    """Find the near-duplicates of a collection: a `Source`, paths, globs, or anything with the Arrow C stream.

    >>> import pyarrow as pa
    >>> texts = ["the quick brown fox jumps over the lazy dog"] * 2 + ["something else entirely, not a fox"]
    >>> result = dedup(pa.table({"id": ["a", "b", "c"], "text": texts}))
    >>> result.kept.to_pylist(), result.dropped.to_pylist()
    (['a', 'c'], [{'id': 'b', 'duplicate_of': 'a', 'similarity': 1.0}])
    """
    job = Deduplicator(threshold=as_fraction(threshold), method=method, keep=keep, clusters=clusters)
    return job.run(documents, output=output, threads=threads)


@dataclass(frozen=True, kw_only=True)
class Deduplicator:
    """The parameters of a de-duplication, as data; `run` does it.

    `shingles` are the evidence that a method given by name works with; a method given as a spec has its own.
    `weighting` says how features weigh for the cosine.
    """

    threshold: Fraction = Fraction(4, 5)
    method: MethodName | Method = "auto"
    shingles: Shingles = Shingles()
    keep: Keep = "first"
    clusters: Literal["anchored", "transitive"] = "anchored"
    similarity: Measure = "jaccard"
    weighting: Weighting = "binary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", as_fraction(self.threshold))
        parse_keep(self.keep)
        Similarity(self.similarity)
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.weighting != "binary" and self.similarity != "cosine":
            raise UsageError(f"weights are for the cosine; {self.similarity} compares sets: leave the weighting out")
        if self.clusters not in ("anchored", "transitive"):
            raise UsageError(f"clusters must be anchored or transitive, got {self.clusters!r}")
        if isinstance(self.method, str):
            if self.method not in get_args(MethodName):
                raise UsageError(f"method must be one of {', '.join(get_args(MethodName))}, got {self.method!r}")
        else:
            if isinstance(self.method, Simhash) and self.method.weighting != self.weighting:
                raise UsageError(f"features weigh {self.weighting!r} here: pass Simhash(weighting={self.weighting!r})")
            object.__setattr__(self, "shingles", self.method.shingles)
        name = self.method if isinstance(self.method, str) else describe(self.method)["method"]
        if name in ("minhash", "simhash"):
            Similarity(self.similarity).check_signatures(name, weighted=self.weighting != "binary")

    def run(
        self,
        documents: Any,
        *,
        against: Any = None,
        output: str | os.PathLike[str] | Output | None = None,
        overwrite: bool = False,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not.

        What is similar to a document of `against`, a `Reference` or what one is made of, goes, too. `Output` says what
        else the output is to be: annotated, or that of a run that was killed and goes on. `memory` is how many bytes
        the process may use: what does not fit is kept on disk meanwhile.
        """
        if memory is not None and memory < FIXED_BYTES:
            raise UsageError(f"{show_size(memory)} of memory are too little: allow {show_size(FIXED_BYTES)} or more")
        source = documents if isinstance(documents, Source) else Source(documents)
        stages = Stages(progress or Silent())
        rule = parse_keep(self.keep)
        reading = source.batches(threads, rule if isinstance(rule, Order) else None)
        reference = None if against is None else as_reference(against).open(threads)
        with (
            self._workplace(source, reading, reference, _as_output(output, overwrite)) as place,
            ExitStack() as stack,
        ):
            room = Room(place.scratch, in_memory(memory), threads)
            held = None if reference is None else self._hold(reference, room, stages)
            stack.enter_context(within(memory, [] if held is None else vars(held.features).values()))
            with stages.run("read") as stage:
                collection = self._read(reading, held, place, room, _ahead(stage, reading))
            features = collection.features
            method = self.choose(len(features.hashes), len(collection), memory)
            checkpoints = place.checkpoints.given(describe(method))
            stack.enter_context(within(memory, vars(features).values()))
            with stages.run("collapse"):
                similarity = Similarity(self.similarity, weigh(features, self.weighting, room))
                stack.enter_context(within(memory, [similarity.weights]))
                groups, sets = self._collapse(collection, similarity)
                sides = Sides.of(groups, len(collection.before), held is not None and held.only)
            verified = load_pairs(checkpoints)
            if verified is None:
                with stages.run("match"):
                    pairs = candidates(method, features, sets, groups, self.threshold, room, similarity)
                    pairs = sides.of_interest(pairs)
                with stages.run("verify"):
                    verified = verify_rows(sets, pairs, self.threshold, threads, similarity=similarity)
                    if pairs.counters.get("bounded_lists"):
                        verified = self._look_again(sets, verified, sides, similarity, threads)
                    save_pairs(checkpoints, verified)
            with stages.run("cluster"):
                clusters = self._cluster(sets, sides.deciding(verified), similarity, threads)
                clusters = sides.settled(_spread(clusters, groups, len(collection)))
                groups = listable(verified, groups)
                found = sides.listed(expand(verified, groups, sets.stops - sets.starts))
            result = assemble(
                collection, found, clusters, reading, held, self._described(method, verified.recall, found)
            )
            if place.target is not None:
                if not sides.only:
                    with stages.run("check"):
                        result = checked(result, collection, groups, self.threshold, threads, similarity=similarity)
                result.report["parameters"]["annotate"] = place.annotate
                with stages.run("write", total=reading.documents) as stage:
                    finished = FinishedFiles(place.target, checkpoints)
                    result.write_tables(place.target)
                    result.write_documents(place.target, threads, stage.advance, place.annotate, finished)
            result.report.update(stages=stages.finished, seconds=stages.seconds, threads=thread_count(threads))
            if place.target is not None:
                result.write_report(place.target)
                write_page(result, place.target, threads)
        return result

    def list_bytes(self, features: int, documents: int) -> int:
        """Return about how much memory the lists of the exact join take."""
        threshold = float(self.threshold)
        indexed = {"jaccard": 1 - threshold, "cosine": 1 - threshold**2, "containment": 1.0}[self.similarity]
        return round(POSTING_BYTES * (indexed * features + documents))

    def choose(self, features: int, documents: int, memory: int | None = None) -> Method:
        """Resolve a method's name; "auto" is exact where its lists fit into half of the memory, else by signatures.

        Signatures are minhash for sets and simhash for weights; containment has none. Raises where `memory` is given
        and too little for what every method holds, for statistics, or for the lists of the exact join.
        """
        least = FIXED_BYTES + DOCUMENT_BYTES * documents
        if memory is not None:
            self._check_memory(least, features, documents, memory)
        if not isinstance(self.method, str):
            return self.method
        name = self.method
        lists = self.list_bytes(features, documents)
        if name == "auto":
            free = physical_memory() / 2 if memory is None else min(memory / 2, memory - least)
            fits = lists < free or self.similarity == "containment"
            name = "exact" if fits else "minhash" if self.weighting == "binary" else "simhash"
        if name == "exact":
            if memory is not None and least + lists > memory:
                needed, other = show_size(least + lists), "" if self.similarity == "containment" else ", or use minhash"
                raise UsageError(f"the lists of the exact join need about {needed} of memory: allow more{other}")
            return Exact(shingles=self.shingles)
        if name == "minhash":
            jaccard = Similarity(self.similarity).least_jaccard(self.threshold)
            return Minhash.for_threshold(float(jaccard), shingles=self.shingles)
        return Simhash(bits=SIMHASH_BITS, weighting=self.weighting, shingles=self.shingles)

    def _check_memory(self, least: int, features: int, documents: int, memory: int) -> None:
        """Raise if memory is too little for what every method holds, or for the statistics that weights need."""
        if least > memory:
            needed = show_size(least)
            raise UsageError(f"{documents:,} documents need about {needed} of memory: allow more, or split them")
        counted = least + FREQUENCY_BYTES * features
        if self.weighting in FITTED and counted > memory:
            needed = f"{self.weighting} may need {show_size(counted)} of memory to count {features:,} features"
            raise UsageError(f"{needed}: allow more, or weigh by tf")

    def _workplace(
        self, source: Source, reading: Reading, reference: OpenReference | None, output: Output | None
    ) -> AbstractContextManager[Workplace]:
        sources = [(source, reading)]
        job: list[Any] = [__version__, self, output is not None and output.annotate]
        if reference is not None:
            job += [reference.only, reference.described()]
            if reference.source is not None and reference.reading is not None:
                sources.append((reference.source, reference.reading))
        return workplace(job, sources, output, [] if reference is None else reference.paths)

    def _hold(self, reference: OpenReference, room: Room, stages: Stages) -> HeldReference:
        with stages.run("reference") as stage:
            advance = stage.advance if reference.reading is None else _ahead(stage, reference.reading)
            return reference.hold(self.shingles, room, counts=self.weighting != "binary", advance=advance)

    def _read(
        self,
        reading: Reading,
        held: HeldReference | None,
        place: Workplace,
        room: Room,
        advance: Callable[[int], None],
    ) -> Collection:
        """Read the documents, or take what an earlier try has read."""
        collection = load_collection(place.checkpoints, reading)
        if collection is None:
            collection = collect(
                reading,
                self.shingles,
                replace(room, keep=place.checkpoints.key is not None),
                counts=self.weighting != "binary",
                reference=None if held is None else (held.features, held.documents),
                advance=advance,
            )
            save_collection(place.checkpoints, reading, collection)
        return collection

    def _collapse(self, collection: Collection, similarity: Similarity) -> tuple[Groups, Sets]:
        """Return the groups of identical rows, and the sets of their representatives, in keep order."""
        features, before = collection.features, np.arange(len(collection.before))
        rank = keep_rank(self.keep, collection.lengths, collection.order) + len(before)
        groups = collapse(sets_of(features)[0], np.concatenate([before, rank]), similarity.weights)
        first = groups.representatives
        return groups, rows_of(features.hashes, features.offsets[first], features.offsets[first + 1])

    def _look_again(
        self, sets: Sets, verified: VerifiedPairs, sides: Sides, similarity: Similarity, threads: int | None
    ) -> VerifiedPairs:
        """Take second looks, as long as they find something: whom one of them drops may have stood for others."""
        for _ in range(LOOKS):
            known = len(verified)
            clusters = anchored(len(sets.starts), sides.deciding(verified))
            verified = second_look(sets, verified, clusters, self.threshold, threads, similarity)
            verified = sides.of_interest(verified)
            if len(verified) == known:
                break
        return verified

    def _cluster(self, sets: Sets, verified: VerifiedPairs, similarity: Similarity, threads: int | None) -> Clusters:
        if self.clusters == "transitive":
            return transitive(sets, verified, threads, similarity)
        return anchored(len(sets.starts), verified)

    def _described(self, method: Method, recall: float | None, pairs: VerifiedPairs) -> dict[str, Any]:
        """Return what the report says of how it was done."""
        weighting = {"weighting": self.weighting} if self.similarity == "cosine" else {}
        return {
            "parameters": {
                "threshold": float(self.threshold),
                "similarity": self.similarity,
                **weighting,
                "method": describe(method),
                "keep": self.keep,
                "clusters": self.clusters,
            },
            "predicted_recall": None if recall is None or pairs.counters.get("bounded_lists") else round(recall, 6),
            "counters": dict(pairs.counters),
        }


def in_memory(limit: int | None) -> int:
    """Return how many bytes of one array stay in memory, given a limit for the whole process."""
    return SPILL if limit is None else min(SPILL, limit // 16)


def _as_output(output: str | os.PathLike[str] | Output | None, overwrite: bool) -> Output | None:
    if isinstance(output, Output):
        return replace(output, overwrite=output.overwrite or overwrite)
    return None if output is None else Output(output, overwrite)


def _ahead(stage: Progress, reading: Reading) -> Callable[[int], None]:
    """Return what counts documents as read and says how many are expected."""

    def advance(count: int) -> None:
        stage.expect(reading.expected)
        stage.advance(count)

    return advance


def _spread(clusters: Clusters, groups: Groups, rows: int) -> Clusters:
    """Give every row the anchor of its group; rows without features stand for themselves."""
    spread = Clusters(np.arange(rows), np.ones(rows))
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    spread.anchor[groups.rows] = groups.representatives[clusters.anchor[group]]
    spread.similarity[groups.rows] = clusters.similarity[group]
    return spread
