"""The first stage of shards: the features of the documents of some files, and the keys or signatures made of them."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie import __version__
from sosie.documents.input import Inputs
from sosie.documents.memory.listed import Paths
from sosie.documents.places.remote import is_url
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.documents.workplace import identity, why_unrepeatable
from sosie.errors import UsageError
from sosie.features.collect import Collection, collect
from sosie.jobs.auto import choose_method
from sosie.jobs.parameters import DedupParameters
from sosie.jobs.shards.folder import SIGNED, ShardFolder, ShardReport
from sosie.jobs.shards.part import Part
from sosie.jobs.warm import prepare
from sosie.matches.candidates import SIMHASH_RECALL, Identical, Method, simhash_radius
from sosie.matches.sets.similarity import Similarity
from sosie.report.report import describe
from sosie.report.timing import Progress, Silent, Timing
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.checkpoint import key_of
from sosie.storage.room import Room
from sosie.types import U64, Features

STATE, REJECTS = "state.", "rejects."


@dataclass(frozen=True, kw_only=True)
class ShardSigning(DedupParameters):
    """The parameters of a de-duplication in shards; `run` signs one shard, and later stages know all of it from there.

    Where no method is named, documents are matched exactly. Weights and chains need the features of all documents at
    once, and so one machine.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighted:
            raise UsageError(f"weights ({self.weighting}) are those of all documents: shards compare sets")
        if self.clusters != "anchored":
            raise UsageError("chains of similar documents are followed on one machine: shards have anchored clusters")
        if self.method == "auto":
            object.__setattr__(self, "method", "exact")

    def run(
        self,
        source: Source,
        folder: ShardFolder,
        part: Part,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> ShardReport:
        """Sign the documents of one shard: of so many files that follow each other, whatever machine it runs on."""
        timing, listed = Timing(progress or Silent()), list[Inputs]()

        def chosen(inputs: Inputs) -> Inputs:
            listed.append(inputs)
            return part.of_inputs(inputs)

        reading = source.batches(threads, self.order, choose=chosen)
        key = self._key(source, reading, listed[0], part)
        if folder.is_done(SIGNED, key, part):
            return self._report(part, folder.stage(SIGNED, part).meta["counts"], timing, done_before=True)
        read = [place.path for place in listed[0] if not is_url(place.path)]
        prepare(*self.needs, progress=timing.progress, threads=threads)
        with folder.writing(SIGNED, part, read) as directory:
            with timing.stage("sign") as stage:
                collection = collect(
                    reading, self.evidence, Room(directory.scratch), whole=self.whole, advance=stage.advance
                )
                method = choose_method(self, len(collection.features.hashes), len(collection))
                arrays = self._arrays(reading, collection, method, threads)
            counts = {
                "documents": reading.documents,
                "rows": len(collection),
                "without_features": int(collection.wordless.sum()),
                "stand_ins": collection.stand_ins,
                "rejected": reading.rejected,
                "text_bytes": int(collection.lengths.sum()),
                "inputs": len(reading.inputs),
            }
            meta = self._meta(source, reading, method) | {"shard": str(part), "counts": counts}
            folder.save(directory, SIGNED, key, arrays, meta)
        return self._report(part, counts, timing, done_before=False)

    def _key(self, source: Source, reading: Reading, inputs: Inputs, part: Part) -> str:
        """Return the digest of this job on all of these inputs, of which the shard is a part."""
        if any(why_unrepeatable(reading) for _ in inputs):
            raise UsageError("shards are read by many processes: write standard input to files first")
        options, columns, _, _ = identity(source, reading)
        files = [[place.name, place.format, place.size, place.mtime_ns] for place in inputs]
        return key_of(__version__, vars(self), options, columns, files, str(part))

    def _arrays(self, reading: Reading, collection: Collection, method: Method, threads: int | None) -> dict[str, Any]:
        features = collection.features
        arrays: dict[str, Any] = {
            "hashes": features.hashes,
            "offsets": features.offsets,
            "digests": digests_of(features),
            "documents": collection.documents,
            "lengths": collection.lengths,
            "wordless": collection.wordless,
            **{REJECTS + name: value for name, value in vars(collection.rejects).items()},
            **{STATE + name: value for name, value in reading.state().items()},
        }
        if collection.order is not None:
            arrays["order"] = collection.order.fill_null(0).to_numpy(zero_copy_only=False)
            arrays["order_null"] = collection.order.is_null().to_numpy(zero_copy_only=False)
        if isinstance(method, Minhash):
            arrays["keys"] = method.fit().keys(features, threads=threads).values
        elif isinstance(method, Simhash):
            arrays["words"] = method.fit().sign(features, threads=threads).words
        return arrays

    def _meta(self, source: Source, reading: Reading, method: Method) -> dict[str, Any]:
        """Return what later stages do by: how documents are compared, what was said, and how files are read again."""
        similarity = Similarity(self.similarity)
        recall, radius = 1.0, None
        if isinstance(method, Minhash):
            recall = method.recall(float(similarity.least_jaccard(self.threshold)))
        elif isinstance(method, Simhash):
            recall, radius = SIMHASH_RECALL, simhash_radius(method, similarity, self.threshold)
        name = "identical" if isinstance(method, Identical) else describe(method)["method"]
        said = self.described(method, reading.columns, None, source.described())
        return {
            "threshold": str(self.threshold),
            "similarity": self.similarity,
            "keep": self.keep,
            "by": {"method": name, "radius": radius, "recall": recall, "bits": getattr(method, "bits", None)},
            "parameters": vars(said),
            "source": described(source),
        }

    def _report(self, part: Part, counts: dict[str, int], timing: Timing, *, done_before: bool) -> ShardReport:
        stages = tuple(timing.finished)
        return ShardReport(stage="sign", shard=str(part), done_before=done_before, counts=counts, stages=stages)


def digests_of(features: Features) -> U64:
    """Return a 128-bit digest of the features of each row, as two numbers: rows of other shards may have the same.

    >>> digests_of(Features(np.array([1, 2, 1, 2], np.uint64), np.array([0, 2, 4]))).shape
    (2, 2)
    """
    found, ends = np.empty((len(features), 2), np.uint64), features.offsets.tolist()
    for row, (first, last) in enumerate(itertools.pairwise(ends)):
        digest = hashlib.blake2b(features.hashes[first:last].tobytes(), digest_size=16).digest()
        found[row] = np.frombuffer(digest, "<u8")
    return found


def described(source: Source) -> dict[str, Any]:
    """Return a source of files as plain data; paths are absolute, so that it is the same from any directory."""
    paths = [source.paths] if isinstance(source.paths, str | os.PathLike) else list(source.paths)
    said = {field.name: getattr(source, field.name) for field in dataclasses.fields(source) if field.init}
    return said | {"paths": [path if is_url(str(path)) else os.path.abspath(path) for path in paths]}


def source_from(data: dict[str, Any]) -> Source:
    """Return the source that was described.

    >>> source = source_from(described(Source(Paths(["a.jsonl"]), text_column=["title", "body"])))
    >>> source.text_column
    ('title', 'body')
    """
    return Source(Paths(data["paths"]), **{name: value for name, value in data.items() if name != "paths"})
