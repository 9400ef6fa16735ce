"""Dictionaries as files: trained on parallel text, read from a table of word pairs, written as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sosie.crosslingual.align import train
from sosie.crosslingual.aligner import load_thot
from sosie.crosslingual.bitext import Bitext
from sosie.crosslingual.cut import Cut
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.fit import fitted_weights
from sosie.crosslingual.parallel.text import ParallelText, read_parallel
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.table import export_tsv, read_table
from sosie.errors import DataError
from sosie.jobs.inputs import StrPath
from sosie.jobs.warm import prepare
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.shown import counted
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.output_file import output_file
from sosie.storage.room import Room

FEW = 100  # segments, below which a dictionary knows little
RARE = 0.2  # share of words that occur again, below which next to nothing is learnt


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which parts of the files are the two sides, as `read_parallel` takes them."""

    source_column: str | None = None
    target_column: str | None = None
    id_column: str | None = None
    text_column: str = "text"
    languages: tuple[str, str] | None = None
    swap: bool = False


@dataclass(frozen=True, kw_only=True)
class TrainingReport(JobReport):
    """What a dictionary was trained on: pairs of texts that were read, segments of them that were used; and its size.

    `left_out` are pairs, `left_out_segments` segments; why, and how many.
    """

    files: tuple[str, ...]
    pairs: int
    left_out: dict[str, int]
    segments: int
    left_out_segments: dict[str, int]
    source_words: int
    target_words: int
    translations: int
    digest: str
    spec: dict[str, Any]
    weights: tuple[float, float, float] | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ImportReport(JobReport):
    """What a table of word pairs became."""

    pairs: int
    left_out: dict[str, int]
    source_words: int
    target_words: int
    translations: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class DictionaryTraining:
    """How a dictionary is trained, and which columns of the files are the two languages.

    With `fit`, the weights of the views by which documents are linked are fitted to the same texts and stored with it.
    """

    spec: TrainingSpec = TrainingSpec()
    columns: Columns = field(default_factory=Columns)
    fit: bool = True

    def run(
        self,
        paths: StrPath | Sequence[StrPath],
        output: Output,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> TrainingReport:
        """Read parallel text, cut long texts into paragraphs that correspond, align their words and write the result.

        The files are all that `read_parallel` reads.
        """
        timing = Timing(progress or Silent())
        load_thot()  # what is not installed is said before anything is read
        with timing.stage("read"):
            text = read_parallel(paths, **vars(self.columns))
        with OutputDirectory(output.path, output.overwrite, text.files) as directory:
            prepare("dictionary", progress=timing.progress, threads=threads)
            room = Room(directory.scratch, threads=threads)
            made, bitext, left_out = _trained(text, self.spec, self.fit, room, timing)
            with timing.stage("write"):
                made.write(directory.path)
        return TrainingReport(
            files=text.files,
            pairs=text.read,
            left_out=left_out,
            segments=made.segments,
            left_out_segments=bitext.left_out,
            **_sizes(made),
            spec=self.spec.to_dict(),
            weights=made.weights,
            warnings=tuple(_warnings(bitext)),
            stages=tuple(timing.finished),
        )


def trained(
    paths: StrPath | Sequence[StrPath], columns: Columns, spec: TrainingSpec, room: Room, timing: Timing
) -> tuple[Dictionary, list[str]]:
    """Return the dictionary of parallel text, its weights fitted, and what is to be said of it."""
    with timing.stage("read parallel text"):
        text = read_parallel(paths, **vars(columns))
    made, bitext, _ = _trained(text, spec, True, room, timing)
    return made, list(_warnings(bitext))


def _trained(
    text: ParallelText, spec: TrainingSpec, fit: bool, room: Room, timing: Timing
) -> tuple[Dictionary, Bitext, dict[str, int]]:
    """Return a dictionary, the segments that it was trained on, and which pairs of texts were left out."""
    with timing.stage("words", len(text.segments)) as stage:
        cut = Cut(text.segments, spec.longest, text.left_out)
        bitext = Bitext.of(cut.segments(stage.advance), spec.longest)
    if not len(bitext):
        files, why = ", ".join(text.files), _said(cut.left_out, bitext)
        raise DataError(f"{files}: no segment can be used ({why}). Give texts and their translations.")
    with timing.stage("align") as stage:
        told = _Told(stage)
        made = train(bitext, spec, threads=room.threads, progress=told.tell, scratch=room.scratch)
    if fit:
        with timing.stage("fit"):
            weights = fitted_weights(text.segments, spec, room)
        made = made.with_weights(weights)
    return made, bitext, cut.left_out


def import_dictionary(path: StrPath, output: Output, *, progress: Progress | None = None) -> ImportReport:
    """Write the dictionary of a table of word pairs: see `Dictionary.from_tsv`."""
    timing = Timing(progress or Silent())
    prepare("dictionary", progress=timing.progress)
    with OutputDirectory(output.path, output.overwrite, [path]) as directory:
        with timing.stage("read"):
            table = read_table(path)
            made = Dictionary.from_table(table)
        with timing.stage("write"):
            made.write(directory.path)
    return ImportReport(pairs=len(table), left_out=table.left_out, **_sizes(made), stages=tuple(timing.finished))


def export_dictionary(directory: StrPath, path: StrPath, overwrite: bool = False) -> int:
    """Write a dictionary as a table that can be read again; return the number of pairs in it."""
    lines = list(export_tsv(load_dictionary(directory)))
    with output_file(path, overwrite) as hidden:
        hidden.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return len(lines) - 1


def describe_dictionary(directory: StrPath) -> dict[str, Any]:
    """Return what a dictionary is, checked: words, translations, how it was made."""
    made = load_dictionary(directory)
    return {
        **_sizes(made),
        "backward_translations": len(made.backward.words),
        "segments": made.segments,
        "weights": None if made.weights is None else list(made.weights),
        "spec": made.spec.to_dict(),
    }


def _sizes(made: Dictionary) -> dict[str, Any]:
    return {
        "source_words": len(made.source),
        "target_words": len(made.target),
        "translations": len(made.forward.words),
        "digest": made.digest,
    }


class _Told:
    """Shows iterations as the progress of a stage."""

    def __init__(self, stage: Progress) -> None:
        self._stage, self._done, self._total = stage, 0, 0

    def tell(self, done: int, total: int) -> None:
        if total != self._total:
            self._stage.expect(total)
        self._stage.advance(done - self._done)
        self._done, self._total = done, total


def _warnings(bitext: Bitext) -> Iterable[str]:
    if len(bitext) < FEW:
        yield f"{counted(len(bitext), 'segment')}: a dictionary of fewer than {FEW} knows little; give more text"
    if bitext.repeated < RARE:
        yield (
            f"only {bitext.repeated:.0%} of the words occur more than once: next to nothing is learnt of the others."
            " Are both sides translations of each other?"
        )


def _said(left_out: dict[str, int], bitext: Bitext) -> str:
    reasons = Counter(left_out) + Counter(bitext.left_out)
    return ", ".join(f"{why}: {count:,}" for why, count in reasons.items())
