"""The main job: read, collapse, match, verify, cluster, write."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
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
from sosie.features.collect import Collection, collect
from sosie.features.shingles import Shingles
from sosie.features.stored import load_collection, save_collection
from sosie.kernels.parallel import thread_count
from sosie.kernels.set_join import Sets
from sosie.matches.candidates import Exact, Method, Room, candidates
from sosie.matches.groups import Groups
from sosie.matches.identical import collapse, expand
from sosie.matches.sets import rows_of, sets_of
from sosie.matches.similarity import as_fraction
from sosie.matches.stored import load_pairs, save_pairs
from sosie.matches.verify import verify_rows
from sosie.report.check import checked
from sosie.report.deduplication import Deduplication
from sosie.report.page import write_page
from sosie.report.stages import Progress, Silent, Stages
from sosie.report.summary import counts, describe, warnings
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.finished import FinishedFiles
from sosie.storage.output import Output
from sosie.storage.resident import physical_memory, within
from sosie.storage.size import show_size
from sosie.types import Clusters, VerifiedPairs

MethodName = Literal["auto", "exact", "minhash", "simhash"]

SIMHASH_BITS = 256
SPILL = 1 << 28  # bytes of features, and of keys, beyond which they are kept on disk
POSTING_BYTES = 32  # what the exact join keeps for each feature of a prefix
DOCUMENT_BYTES = 160  # what is kept for each document, whatever the method
FIXED_BYTES = 400_000_000  # the program itself, and what is under way on threads


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
    """

    threshold: Fraction = Fraction(4, 5)
    method: MethodName | Method = "auto"
    shingles: Shingles = Shingles()
    keep: Keep = "first"
    clusters: Literal["anchored", "transitive"] = "anchored"

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", as_fraction(self.threshold))
        parse_keep(self.keep)
        if self.clusters not in ("anchored", "transitive"):
            raise UsageError(f"clusters must be anchored or transitive, got {self.clusters!r}")
        if isinstance(self.method, str):
            if self.method not in get_args(MethodName):
                raise UsageError(f"method must be one of {', '.join(get_args(MethodName))}, got {self.method!r}")
        else:
            if isinstance(self.method, Simhash) and self.method.weighting != "binary":
                raise UsageError("de-duplication compares sets of shingles: pass Simhash(weighting='binary')")
            object.__setattr__(self, "shingles", self.method.shingles)

    def run(
        self,
        documents: Any,
        *,
        output: str | os.PathLike[str] | Output | None = None,
        overwrite: bool = False,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not.

        `Output(path, resume=True)` goes on with a run that was killed. `memory` is how many bytes the process may use:
        what does not fit is kept on disk meanwhile.
        """
        source = documents if isinstance(documents, Source) else Source(documents)
        stages = Stages(progress or Silent())
        rule = parse_keep(self.keep)
        reading = source.batches(threads, rule if isinstance(rule, Order) else None)
        with (
            workplace((__version__, self), source, reading, _as_output(output, overwrite)) as place,
            ExitStack() as stack,
        ):
            room = Room(place.scratch, SPILL if memory is None else min(SPILL, memory // 16), threads)
            with stages.run("read") as stage:
                collection = self._read(reading, place, room, _ahead(stage, reading))
            method = self.choose(len(collection.features.hashes), len(collection), memory)
            checkpoints = place.checkpoints.given(describe(method))
            stack.enter_context(within(memory, [collection.features.hashes]))
            with stages.run("collapse"):
                groups, sets = self._collapse(collection)
            if (similar := load_pairs(checkpoints)) is not None:
                verified, recall = similar
            else:
                with stages.run("match"):
                    pairs, recall = candidates(method, collection.features, sets, groups, self.threshold, room)
                with stages.run("verify"):
                    verified = verify_rows(sets, pairs, self.threshold, threads)
                    if pairs.counters.get("bounded_lists"):
                        first_look = anchored(len(groups), verified)
                        verified = second_look(sets, verified, first_look, self.threshold, threads)
                    save_pairs(checkpoints, verified, recall)
            with stages.run("cluster"):
                clusters = self._cluster(sets, verified, threads)
                found = expand(verified, groups, sets.stops - sets.starts)
            result = self._result(reading, collection, method, recall, found, _spread(clusters, groups, collection))
            if place.target is not None:
                with stages.run("check"):
                    result = checked(result, collection, groups, self.threshold, threads)
                with stages.run("write", total=reading.documents) as stage:
                    finished = FinishedFiles(place.target, checkpoints)
                    result.write_tables(place.target)
                    result.write_documents(place.target, threads, stage.advance, finished=finished)
            result.report.update(stages=stages.finished, seconds=stages.seconds, threads=thread_count(threads))
            if place.target is not None:
                result.write_report(place.target)
                write_page(result, place.target, threads)
        return result

    def list_bytes(self, features: int, documents: int) -> int:
        """Return about how much memory the lists of the exact join take."""
        return round(POSTING_BYTES * ((1 - float(self.threshold)) * features + documents))

    def choose(self, features: int, documents: int, memory: int | None = None) -> Method:
        """Resolve a method's name; "auto" is exact where its lists fit into half of the memory, else minhash.

        Raises where `memory` is given and too little for what every method holds, or for the lists of the exact join.
        """
        least = FIXED_BYTES + DOCUMENT_BYTES * documents
        if memory is not None and least > memory:
            needed = show_size(least)
            raise UsageError(f"{documents:,} documents need about {needed} of memory: allow more, or split them")
        if not isinstance(self.method, str):
            return self.method
        name = self.method
        lists = self.list_bytes(features, documents)
        if name == "auto":
            name = "exact" if lists < (memory or physical_memory()) / 2 else "minhash"
        elif name == "exact" and memory is not None and least + lists > memory:
            needed = show_size(least + lists)
            raise UsageError(f"the lists of the exact join need about {needed} of memory: allow more, or use minhash")
        if name == "exact":
            return Exact(shingles=self.shingles)
        if name == "minhash":
            return Minhash.for_threshold(float(self.threshold), shingles=self.shingles)
        return Simhash(bits=SIMHASH_BITS, weighting="binary", shingles=self.shingles)

    def _read(
        self, reading: Reading, place: Workplace, room: Room, advance: Callable[[int], None]
    ) -> Collection:
        """Read the documents, or take what an earlier try has read."""
        collection = load_collection(place.checkpoints, reading)
        if collection is None:
            keep = place.checkpoints.key is not None
            collection = collect(
                reading,
                self.shingles,
                room.scratch,
                memory=room.memory,
                threads=room.threads,
                advance=advance,
                keep=keep,
            )
            save_collection(place.checkpoints, reading, collection)
        return collection

    def _collapse(self, collection: Collection) -> tuple[Groups, Sets]:
        """Return the groups of identical feature sets, and the sets of their representatives, in keep order."""
        features = collection.features
        groups = collapse(sets_of(features)[0], keep_rank(self.keep, collection.lengths, collection.order))
        first = groups.representatives
        return groups, rows_of(features.hashes, features.offsets[first], features.offsets[first + 1])

    def _cluster(self, sets: Sets, verified: VerifiedPairs, threads: int | None) -> Clusters:
        if self.clusters == "transitive":
            return transitive(sets, verified, threads)
        return anchored(len(sets.starts), verified)

    def _result(
        self,
        reading: Reading,
        collection: Collection,
        method: Method,
        recall: float,
        found: VerifiedPairs,
        clusters: Clusters,
    ) -> Deduplication:
        documents = collection.documents
        grouped = Clusters(np.arange(reading.documents), np.ones(reading.documents))
        grouped.anchor[documents] = documents[clusters.anchor]
        grouped.similarity[documents] = clusters.similarity
        pairs = replace(found, a=documents[found.a], b=documents[found.b])
        featureless = int((collection.features.sizes == 0).sum())
        numbers = counts(reading.documents, len(collection.rejects), featureless, grouped, pairs)
        report = {
            "format": "sosie-report",
            "version": 1,
            "parameters": {
                "threshold": float(self.threshold),
                "similarity": "jaccard",
                "method": describe(method),
                "keep": self.keep,
                "clusters": self.clusters,
            },
            "inputs": [
                {"path": place.title or str(place.path), "documents": int(count)}
                for place, count in zip(reading.inputs, reading.counts, strict=True)
            ],
            "counts": numbers,
            "text_bytes": int(collection.lengths.sum()),
            "features": len(collection.features.hashes),
            "predicted_recall": None if pairs.counters.get("bounded_lists") else round(recall, 6),
            "counters": dict(pairs.counters),
            "warnings": warnings(numbers, dict(pairs.counters)),
        }
        return Deduplication(reading, pairs, grouped, collection.rejects, report)


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


def _spread(clusters: Clusters, groups: Groups, collection: Collection) -> Clusters:
    """Give every row the anchor of its group; rows without features stand for themselves."""
    spread = Clusters(np.arange(len(collection)), np.ones(len(collection)))
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    spread.anchor[groups.rows] = groups.representatives[clusters.anchor[group]]
    spread.similarity[groups.rows] = clusters.similarity[group]
    return spread
