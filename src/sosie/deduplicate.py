"""The main job: read, collapse, match, verify, cluster, write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from sosie.clusters.anchors import anchored
from sosie.clusters.keep import Keep, keep_rank
from sosie.clusters.second_look import second_look
from sosie.clusters.transitive import transitive
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.collect import Collection, collect
from sosie.features.shingles import Shingles
from sosie.kernels.parallel import thread_count
from sosie.kernels.set_join import Sets
from sosie.matches.candidates import Exact, Method, candidates
from sosie.matches.groups import Groups
from sosie.matches.identical import collapse, expand
from sosie.matches.sets import rows_of, sets_of
from sosie.matches.similarity import as_fraction
from sosie.matches.verify import verify_rows
from sosie.report.check import checked
from sosie.report.deduplication import Deduplication
from sosie.report.page import write_page
from sosie.report.stages import Progress, Silent, Stages, physical_memory
from sosie.report.summary import counts, describe, warnings
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.output import OutputDirectory
from sosie.types import Clusters, VerifiedPairs

MethodName = Literal["auto", "exact", "minhash", "simhash"]

SIMHASH_BITS = 256
POSTING_BYTES = 32  # what the exact join keeps for each feature of a prefix


def dedup(
    documents: Any,
    threshold: float | str | Fraction = 0.8,
    *,
    method: MethodName | Method = "auto",
    keep: Keep = "first",
    clusters: Literal["anchored", "transitive"] = "anchored",
    output: str | os.PathLike[str] | None = None,
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
        keep_rank(self.keep, np.empty(0, np.int64))
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
        output: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Deduplication:
        """De-duplicate documents; with `output`, write everything to that directory, which appears whole or not."""
        source = documents if isinstance(documents, Source) else Source(documents)
        stages = Stages(progress or Silent())
        reading = source.batches(threads)
        with _workplace(output, overwrite, reading) as (scratch, target):
            with stages.run("read") as stage:
                collection = collect(reading, self.shingles, scratch, threads=threads, advance=_ahead(stage, reading))
            method = self.choose(len(collection.features.hashes), len(collection))
            with stages.run("collapse"):
                groups, sets = self._collapse(collection)
            with stages.run("match"):
                pairs, recall = candidates(method, collection.features, sets, groups, self.threshold, threads)
            with stages.run("verify"):
                verified = verify_rows(sets, pairs, self.threshold, threads)
                if pairs.counters.get("bounded_lists"):
                    first_look = anchored(len(groups), verified)
                    verified = second_look(sets, verified, first_look, self.threshold, threads)
            with stages.run("cluster"):
                clusters = self._cluster(sets, verified, threads)
                found = expand(verified, groups, sets.stops - sets.starts)
            result = self._result(reading, collection, method, recall, found, _spread(clusters, groups, collection))
            if target is not None:
                with stages.run("check"):
                    result = checked(result, collection, groups, self.threshold, threads)
                with stages.run("write", total=reading.documents) as stage:
                    result.write_tables(target)
                    result.write_documents(target, threads, stage.advance)
            result.report.update(stages=stages.finished, seconds=stages.seconds, threads=thread_count(threads))
            if target is not None:
                result.write_report(target)
                write_page(result, target, threads)
        return result

    def list_bytes(self, features: int, documents: int) -> int:
        """Return about how much memory the lists of the exact join take."""
        return round(POSTING_BYTES * ((1 - float(self.threshold)) * features + documents))

    def choose(self, features: int, documents: int) -> Method:
        """Resolve a method's name; "auto" is exact where its lists fit into half of the memory, else minhash."""
        if not isinstance(self.method, str):
            return self.method
        name = self.method
        if name == "auto":
            fits = self.list_bytes(features, documents) < physical_memory() / 2
            name = "exact" if fits else "minhash"
        if name == "exact":
            return Exact(shingles=self.shingles)
        if name == "minhash":
            return Minhash.for_threshold(float(self.threshold), shingles=self.shingles)
        return Simhash(bits=SIMHASH_BITS, weighting="binary", shingles=self.shingles)

    def _collapse(self, collection: Collection) -> tuple[Groups, Sets]:
        """Return the groups of identical feature sets, and the sets of their representatives, in keep order."""
        features = collection.features
        groups = collapse(sets_of(features)[0], keep_rank(self.keep, collection.lengths))
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


@contextmanager
def _workplace(
    output: str | os.PathLike[str] | None, overwrite: bool, reading: Reading
) -> Iterator[tuple[Path, Path | None]]:
    """Yield a folder for spills and, if there is an output, the folder that becomes it."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
            yield Path(scratch), None
        return
    files = [] if reading.table is not None else [place.path for place in reading.inputs]
    with OutputDirectory(output, overwrite, files) as directory:
        yield directory.scratch, directory.path
