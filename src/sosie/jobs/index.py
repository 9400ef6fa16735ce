"""Indexes of documents as files: built, added to, taken from, checked; each change is whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Source
from sosie.errors import MismatchError
from sosie.index.registry import check_kind
from sosie.jobs.inputs import StrPath
from sosie.jobs.sign import fitted
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.search.entries import Entries, Form, sign_entries
from sosie.search.files import changing, load_text_index
from sosie.search.text_index import PASSAGES, SIGNER, TEXTS, TextIndex
from sosie.signatures.files import load_signatures, load_signer
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.types import Keys


@dataclass(frozen=True, kw_only=True)
class BuildReport(JobReport):
    """What an index was built of, and how."""

    documents: int
    rows: int
    without_features: int
    rejected: int
    kind: str
    digest: str
    spec: dict[str, Any]


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
    """Which kind of index, built with which parameters; None is the default for what it holds.

    `form` says what its rows are: signatures or keys, of documents or of passages, with their texts or without.
    """

    kind: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    form: Form = field(default_factory=Form)

    def from_documents(
        self,
        source: Source,
        signer: Spec | Signer,
        output: Output,
        *,
        reads: Iterable[StrPath] = (),
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> BuildReport:
        """Sign the documents of a source and build an index of them, which keeps the signer to sign queries by.

        `reads` is what else is read, and so must not lie in the output.
        """
        timing, kind = Timing(progress or Silent()), self._kind(keys=self.form.keys)
        reading = source.batches(threads)
        read = [*(place.path for place in reading.inputs), *reads]
        with OutputDirectory(output.path, output.overwrite, read) as directory:
            made = fitted(signer, source, timing, threads)
            entries = _signed(reading, made, self.form, directory, timing, threads)
            with timing.stage("index"):
                index = TextIndex.build(entries, made, kind, self.parameters)
            with timing.stage("write"):
                index.write(directory)
        return self._report(kind, entries, made, timing, reading.documents, reading.rejected)

    def from_signatures(self, path: StrPath, output: Output, *, progress: Progress | None = None) -> BuildReport:
        """Build an index of signatures or keys as they were saved."""
        timing, entries, signer = Timing(progress or Silent()), Entries(load_signatures(path)), load_signer(path)
        kind = self._kind(keys=isinstance(entries.signed, Keys))
        with OutputDirectory(output.path, output.overwrite, [path]) as directory:
            index = TextIndex.build(entries, signer, kind, self.parameters)
            with timing.stage("write"):
                index.write(directory)
        return self._report(kind, entries, signer, timing, len(entries), 0)

    def _kind(self, *, keys: bool) -> str:
        kind = self.kind or ("keys" if keys else "flat")
        check_kind(kind, keys=keys, options=self.parameters)
        return kind

    def _report(
        self, kind: str, entries: Entries, signer: Signer, timing: Timing, documents: int, rejected: int
    ) -> BuildReport:
        return BuildReport(
            documents=documents,
            rows=len(entries),
            without_features=entries.unsigned,
            rejected=rejected,
            kind=kind,
            digest=signer.digest,
            spec=signer.spec.to_dict(),
            stages=tuple(timing.finished),
        )


def add_to_index(
    directory: StrPath, documents: Source | StrPath, *, threads: int | None = None, progress: Progress | None = None
) -> AddReport:
    """Add documents, signed like those that are there, or the path of saved signatures; a known id changes nothing."""
    timing = Timing(progress or Silent())
    reading, entries, read = None, None, list[StrPath]()
    if isinstance(documents, Source):
        reading = documents.batches(threads)
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
    reading: Reading, signer: Signer, form: Form, directory: OutputDirectory, timing: Timing, threads: int | None
) -> Entries:
    room = Room(directory.scratch, threads=threads)
    with timing.stage("sign") as stage, RejectLog(directory.scratch) as log:
        return sign_entries(reading, signer, form, room, log=log, advance=stage.advance)
