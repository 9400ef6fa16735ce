"""Indexes of documents as files: built, added to, taken from, checked; each change is whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Documents, Source, as_source
from sosie.errors import MismatchError, UsageError
from sosie.features.phrases import Phrases
from sosie.index.auto import Asking, Chosen, Coming, choose_index
from sosie.index.flips import FlipModel
from sosie.index.probes import ProbeIndex
from sosie.index.registry import AUTO, check_kind, kind_of
from sosie.jobs.inputs import StrPath
from sosie.jobs.sign import fitted, signing
from sosie.jobs.warm import prepare
from sosie.planner.outcome import Outcome
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.search.entries import Entries, Form, sign_entries
from sosie.search.estimates import Reader
from sosie.search.files import changing, load_text_index
from sosie.search.text_index import PASSAGES, SIGNER, TEXTS, TextIndex
from sosie.signatures.files import load_signatures, load_signer
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.types import Keys, Signatures


@dataclass(frozen=True, kw_only=True)
class BuildReport(JobReport):
    """What an index was built of, and how; where its kind was chosen, by which plan, and what came of it."""

    documents: int
    rows: int
    without_features: int
    rejected: int
    kind: str
    digest: str
    spec: dict[str, Any]
    plan: Chosen | None = None
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; without a plan where the kind was named."""
        said = super().to_dict()
        for name in ("plan", "outcome"):
            made = said.pop(name)
            if made is not None:
                said[name] = made.to_dict()
        return said


@dataclass(frozen=True, kw_only=True)
class AddReport(JobReport):
    """What came to an index, and how many rows it has now."""

    documents: int
    added: int
    without_features: int
    rejected: int
    rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class IndexBuilder:
    """Which kind of index, built with which parameters; "auto" is the one that suits what it holds, and the queries.

    `queries` come "single" or in a "batch"; without, the kind is to be good for both. `form` says what its rows are:
    signatures or keys, of documents or of passages, with their texts or without.
    """

    kind: str = AUTO
    parameters: Mapping[str, Any] = field(default_factory=dict)
    queries: Coming | None = None
    form: Form = field(default_factory=Form)

    def from_documents(
        self,
        documents: Documents | Source,
        signer: Spec | Signer | Phrases,
        output: Output,
        *,
        reads: Iterable[StrPath] = (),
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> BuildReport:
        """Sign documents and build an index of them, which keeps the signer to sign queries by.

        `reads` is what else is read, and so must not lie in the output.
        """
        held = "words" if isinstance(signer, Phrases) else "keys" if self.form.keys else "signatures"
        timing, kind = Timing(progress or Silent()), self._kind(held)
        first = "flat" if kind == AUTO else kind  # a choice begins with that
        source = as_source(documents)
        reading = source.batches(threads)
        read = [*(place.path for place in reading.inputs), *reads]
        with OutputDirectory(output.path, output.overwrite, read) as directory:
            jobs = [f"index {first}"] if isinstance(signer, Phrases) else [signing(signer), f"index {first}"]
            prepare(*jobs, progress=timing.progress, threads=threads)
            made = signer if isinstance(signer, Phrases) else fitted(signer, source, timing, threads)
            entries = _signed(reading, made, self.form, directory, timing, threads)
            index = self._built(kind, entries, made, timing, threads)
            with timing.stage("write"):
                index.write(directory)
        return self._report(index, entries, made, timing, (reading.documents, reading.rejected))

    def from_signatures(self, path: StrPath, output: Output, *, progress: Progress | None = None) -> BuildReport:
        """Build an index of signatures or keys as they were saved."""
        timing, entries, signer = Timing(progress or Silent()), Entries(load_signatures(path)), load_signer(path)
        kind = self._kind("keys" if isinstance(entries.signed, Keys) else "signatures")
        with OutputDirectory(output.path, output.overwrite, [path]) as directory:
            index = self._built(kind, entries, signer, timing, None)
            with timing.stage("write"):
                index.write(directory)
        return self._report(index, entries, signer, timing, (len(entries), 0))

    def _kind(self, held: str) -> str:
        check_kind(self.kind, holds=held, options=self.parameters)
        if self.queries is not None and (self.kind != AUTO or held != "signatures"):
            raise UsageError(f"--queries is for --kind auto, which chooses among kinds of signatures, not of {held}")
        return held if self.kind == AUTO and held != "signatures" else self.kind

    def _built(
        self, kind: str, entries: Entries, signer: Reader | None, timing: Timing, threads: int | None
    ) -> TextIndex:
        if kind != AUTO or not isinstance(entries.signed, Signatures):
            with timing.stage("index"):
                return TextIndex.build(entries, signer, kind, self.parameters)
        asking = Asking(radius=self.parameters.get("radius"), queries=self.queries)
        prepare("search flat", "search flat within", progress=timing.progress, threads=threads)
        with timing.stage("choose"):
            chosen = choose_index(entries.signed, asking)
        prepare(f"index {chosen.kind}", progress=timing.progress, threads=threads)
        with timing.stage("index"):
            return TextIndex.build(entries, signer, chosen)

    def _report(
        self, index: TextIndex, entries: Entries, signer: Reader, timing: Timing, read: tuple[int, int]
    ) -> BuildReport:
        chosen = index.chosen
        return BuildReport(
            documents=read[0],
            rows=len(entries),
            without_features=entries.unsigned,
            rejected=read[1],
            kind=kind_of(index.index),
            digest=signer.digest,
            spec=(signer if isinstance(signer, Phrases) else signer.spec).to_dict(),
            plan=chosen,
            outcome=None if chosen is None else _outcome(chosen, timing),
            stages=tuple(timing.finished),
        )


def _outcome(chosen: Chosen, timing: Timing) -> Outcome:
    """Return how long it was expected to take to build an index, and how long it took."""
    taken = sum(stage.seconds for stage in timing.finished if stage.stage == "index")
    return Outcome(
        method=chosen.kind,
        parameters=chosen.parameters,
        predicted=1.0,
        predicted_seconds=next((each.estimate.build for each in chosen.candidates.values()), None),
        seconds=chosen.flat_seconds if chosen.reused else taken,
    )


def add_to_index(
    directory: StrPath,
    documents: Documents | Source,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> AddReport:
    """Add documents, signed like those that are there, or the path of saved signatures; a known id changes nothing."""
    timing = Timing(progress or Silent())
    reading, entries, read = None, None, list[StrPath]()
    if not isinstance(documents, str | os.PathLike):
        reading = as_source(documents).batches(threads)
        read += [place.path for place in reading.inputs]
    else:
        entries = Entries(load_signatures(documents))
        read.append(documents)
    with changing(directory, read) as (index, output):
        if reading is not None:
            entries = _signed(reading, index.signer, index.form, output, timing, threads)
        assert entries is not None
        with timing.stage("index"), naming_index(directory):
            index.add(entries)
    return AddReport(
        documents=len(entries) if reading is None else reading.documents,
        added=len(entries),
        without_features=entries.unsigned,
        rejected=0 if reading is None else reading.rejected,
        rows=len(index),
        stages=tuple(timing.finished),
    )


@dataclass(frozen=True, kw_only=True)
class CalibrationReport(JobReport):
    """How many probes reach a recall, and the recall that was measured with them."""

    queries: int
    radius: int
    first: bool
    wanted: float
    probes: int
    recall: float
    measured: int
    flips: bool


@dataclass(frozen=True, kw_only=True)
class IndexCalibration:
    """How far searches of a probe index have to go: to the share `recall` of all matches within a radius.

    With `first`, something is to be found for that share of the queries that have a match. With `flips`, a model of how
    likely bits flip is made of the sample first, and kept. With `exclude_self`, a query is no match of its own.
    """

    radius: int
    recall: float = 0.95
    first: bool = False
    flips: bool = False
    exclude_self: bool = False

    def run(
        self,
        directory: StrPath,
        sample: Source | StrPath,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> CalibrationReport:
        """Measure on a sample of queries, documents or saved signatures, and let the index search so from now on."""
        timing = Timing(progress or Silent())
        reading = [] if isinstance(sample, Source) else [sample]
        with changing(directory, reading) as (index, output), naming_index(directory):
            probed = index.index
            if not isinstance(probed, ProbeIndex):
                raise UsageError(
                    f"{directory}: is of the kind {kind_of(probed)}, which needs none: only --kind probes is calibrated"
                )
            with timing.stage("sign"):
                room = Room(output.scratch, threads=threads)
                made = (
                    index.sign_source(sample, room) if isinstance(sample, Source) else Entries(load_signatures(sample))
                )
            asked = made.signed
            if not isinstance(asked, Signatures):
                raise MismatchError("the index holds signatures, and these are keys: sign both the same way")
            with timing.stage("calibrate"):
                if self.flips:
                    probed = probed.tuned(flips=FlipModel.of(asked))
                how: dict[str, Any] = {"first": self.first, "exclude_self": self.exclude_self, "threads": threads}
                effort = probed.calibrate(asked, self.radius, self.recall, **how)
                index.index = probed.tuned(effort)
        return CalibrationReport(
            queries=len(asked),
            radius=self.radius,
            first=self.first,
            wanted=self.recall,
            probes=effort.probes,
            recall=effort.recall,
            measured=effort.measured,
            flips=self.flips,
            stages=tuple(timing.finished),
        )


def remove_from_index(directory: StrPath, ids: Sequence[Any]) -> dict[str, int]:
    """Remove documents by their ids, and say how many rows went and are left; an unknown id changes nothing."""
    with changing(directory) as (index, _), naming_index(directory):
        removed = index.remove(list(ids))
    return {"removed": removed, "rows": len(index)}


def verify_index(directory: StrPath) -> dict[str, Any]:
    """Check every file of an index, and whether all fits together; say how many rows it has and which parts."""
    index = load_text_index(directory)
    parts = {SIGNER: index.has_signer, TEXTS: index.texts is not None, PASSAGES: index.places is not None}
    checked = ["index", *(name for name, there in parts.items() if there)]
    return {"rows": len(index), "removed": len(index.index.row_ids) - len(index), "checked": checked}


@contextmanager
def naming_index(directory: StrPath) -> Iterator[None]:
    """Let what does not fit an index say which index that is."""
    try:
        yield
    except MismatchError as error:
        raise MismatchError(f"{directory}: {error}") from error


def _signed(
    reading: Reading, signer: Reader, form: Form, directory: OutputDirectory, timing: Timing, threads: int | None
) -> Entries:
    room = Room(directory.scratch, threads=threads)
    with timing.stage("sign") as stage, RejectLog(directory.scratch) as log:
        return sign_entries(reading, signer, form, room, log=log, advance=stage.advance)
