"""Sign documents: signatures or keys, saved with what made them and, on request, with their features."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from sosie.documents.batch import Batch
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Documents, Source, as_source
from sosie.jobs.inputs import StrPath
from sosie.jobs.shards.part import Part
from sosie.jobs.warm import prepare
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.signatures.files import save_signatures
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.signatures.stream import FeatureKeep, stream
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.types import Keys, Signatures


@dataclass(frozen=True, kw_only=True)
class SigningReport(JobReport):
    """How many documents were signed, and by what."""

    documents: int
    signed: int
    without_features: int
    rejected: int
    digest: str
    spec: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Signing:
    """What is made of documents, and by which signer, or spec that is fitted to them; `run` does it.

    `keys` are made instead of bits, `volatility` keeps the sums behind the bits, `features` the distinct features.
    """

    signer: Spec | Signer
    keys: bool = False
    volatility: bool = False
    features: bool = False

    def run(
        self,
        documents: Documents | Source,
        output: Output,
        *,
        reads: Iterable[StrPath] = (),
        part: Part | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> SigningReport:
        """Sign documents, or those of one part of the files; a signer is fitted to all of them.

        `reads` is what else is read, and so must not lie in the output.
        """
        timing, source = Timing(progress or Silent()), as_source(documents)
        reading = source.batches(threads, choose=None if part is None else part.of_inputs)
        read = [*(place.path for place in reading.inputs), *reads]
        with OutputDirectory(output.path, output.overwrite, read) as directory:
            prepare(signing(self.signer), progress=timing.progress, threads=threads)
            signer = fitted(self.signer, source, timing, threads)
            with timing.stage("sign") as stage, RejectLog(directory.path) as log:
                signed = self._sign(reading, signer, directory, log, threads, stage)
        return SigningReport(
            documents=reading.documents,
            signed=len(signed),
            without_features=len(signed.unsigned),
            rejected=reading.rejected,
            digest=signer.digest,
            spec=signer.spec.to_dict(),
            stages=tuple(timing.finished),
        )

    def _sign(
        self,
        reading: Reading,
        signer: Signer,
        directory: OutputDirectory,
        log: RejectLog,
        threads: int | None,
        stage: Progress,
    ) -> Signatures | Keys:
        def after(batch: Batch) -> None:
            log.add(batch.rejects)
            stage.advance(len(batch) + len(batch.rejects))

        form: dict[str, Any] = {"keys": self.keys, "volatility": self.volatility, "threads": threads, "after": after}
        with ExitStack() as stack:
            keep = None
            if self.features:
                keep = stack.enter_context(FeatureKeep(signer.spec.shingles, Room(directory.scratch)))
            signed = stream(reading, signer, keep=keep, **form)
            save_signatures(directory.path, signed, signer, keep.features() if keep else None)
            return signed


def signing(signer: Spec | Signer) -> str:
    """Return the job in `needs.json` whose kernels sign by a method."""
    spec = signer if isinstance(signer, Spec) else signer.spec
    return f"sign {spec.method}"


def fitted(signer: Spec | Signer, source: Source, timing: Timing, threads: int | None) -> Signer:
    """Return a signer; a spec that needs statistics reads the source for them first."""
    if not isinstance(signer, Spec):
        return signer
    if not signer.needs_texts:
        ready: Signer = signer.fit()
        return ready
    with timing.stage("fit"):
        made: Signer = signer.fit(source, threads=threads)
    return made
