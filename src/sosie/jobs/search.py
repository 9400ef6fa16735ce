"""Ask an index: what it holds that is like a text, and the passages that say so."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.features.phrases import Phrases
from sosie.index.hamming import HammingIndex
from sosie.index.probe_search import Calibration
from sosie.index.reaching import Reaching, effort_for
from sosie.index.registry import KINDS, effort_of, kind_of
from sosie.jobs.index import naming_index
from sosie.jobs.inputs import StrPath
from sosie.jobs.sign import signing
from sosie.jobs.warm import prepare
from sosie.planner.outcome import Outcome
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.search.entries import Entries
from sosie.search.files import load_text_index
from sosie.search.found import match_table, with_passages
from sosie.search.text_index import TextIndex
from sosie.search.windows import Windows
from sosie.signatures.files import load_signatures
from sosie.storage.room import Room
from sosie.types import Keys, Matches, Signatures

WORDS = 50  # of a passage that is shown


@dataclass(frozen=True, kw_only=True)
class SearchReport(JobReport):
    """How much was asked and found, and how much of what there is that should be.

    Where a recall was asked, the `outcome` has the effort that was chosen for it, and the recall that is predicted.
    """

    queries: int
    without_features: int
    matches: int
    recall: float | None
    counters: dict[str, int]
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; without an outcome where no recall was asked."""
        said = super().to_dict()
        made = said.pop("outcome")
        return said if made is None else {**said, "outcome": made.to_dict()}


@dataclass(frozen=True, kw_only=True)
class IndexSearch:
    """What to look for: the `k` nearest, or all within a radius, the first that is met if one is enough.

    `effort` says how far an approximate index searches, or `recall` that it is to be so far that this share of the
    answer is found. With `passages`, the passage of each match that is most like
    its query is shown: one of these `windows`, or as the index has them.
    """

    k: int = 10
    radius: int | None = None
    first: bool = False
    exclude_self: bool = False
    effort: Mapping[str, Any] = field(default_factory=dict)
    recall: float | None = None
    passages: bool = False
    windows: Windows | None = None

    def run(
        self,
        directory: StrPath,
        queries: Documents | Source,
        *,
        documents: Documents | Source | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Any, SearchReport]:
        """Return a table of matches, and a report. Queries are documents, or the path of saved signatures.

        `documents` are those of the index, for passages where it keeps no texts.
        """
        timing, source = Timing(progress or Silent()), None if documents is None else as_source(documents)
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch, naming_index(directory):
            with timing.stage("open"):
                index = load_text_index(directory, texts=self.passages and documents is None)
                effort = effort_of(index.index, self.effort)
                windows = self._windows(index) if self.passages else None
            how = "" if self.radius is None else " within"
            wanted = [f"search {kind_of(index.index)}{how}", *(["search passages"] if windows else [])]
            prepare(
                *wanted,
                *([signing(index.signer)] if index.has_signer and not isinstance(index.signer, Phrases) else []),
                progress=timing.progress,
                threads=threads,
            )
            with timing.stage("sign"):
                entries = signed_queries(index, queries, Room(scratch, threads=threads))
            with timing.stage("search"):
                reached = self._reaching(index, entries)
                matches = self._search(index, entries, effort if reached is None else reached.effort, threads)
                table = match_table(index, entries, matches)
            if windows is not None:
                with timing.stage("passages"):
                    table = with_passages(table, index, entries, matches, windows, source)
        report = SearchReport(
            queries=len(entries) + entries.unsigned,
            without_features=entries.unsigned,
            matches=len(table),
            recall=matches.recall if reached is None or matches.recall is not None else reached.recall,
            counters=dict(matches.counters),
            outcome=None if reached is None else self._outcome(index, reached, matches),
            stages=tuple(timing.finished),
        )
        return table, report

    def _reaching(self, index: TextIndex, queries: Entries) -> Reaching | None:
        """Return how far to search for the recall that is asked, if one is."""
        if self.recall is None:
            return None
        if any(value is not None for value in self.effort.values()):
            raise UsageError("a recall says how far to search: leave out --probes, --breadth and the like")
        if isinstance(queries.signed, Keys):
            raise UsageError("an index of keys finds all that share one, and how many that are of all is not known")
        if not isinstance(queries.signed, Signatures) or not isinstance(index.index, HammingIndex):
            return Reaching(None, 1.0)  # words are found exactly
        wanted: dict[str, Any] = {"k": self.k} if self.radius is None else {"radius": self.radius}
        return effort_for(index.index, queries.signed, self.recall, **wanted, exclude_self=self.exclude_self)

    def _outcome(self, index: TextIndex, reached: Reaching, matches: Matches) -> Outcome:
        kind = kind_of(index.index)
        effort = {} if reached.effort is None else {n: getattr(reached.effort, n) for n in _efforts(kind)}
        measured = reached.recall if isinstance(reached.effort, Calibration) else None
        return Outcome(
            method=kind,
            parameters=effort,
            asked=self.recall or 1.0,
            predicted=reached.recall if matches.recall != 1 else 1.0,
            measured=measured,
        )

    def _search(self, index: TextIndex, queries: Entries, effort: Any, threads: int | None) -> Matches:
        how = {"effort": effort, "exclude_self": self.exclude_self, "threads": threads}
        if self.radius is None:
            return index.search(queries, self.k, **how)
        return (index.any_within if self.first else index.within)(queries, self.radius, **how)

    def _windows(self, index: TextIndex) -> Windows:
        if index.places is None:
            return self.windows or Windows(WORDS, WORDS // 2)
        if self.windows is not None:
            raise UsageError(
                "the rows of this index are passages, which are shown as they are: leave out --words and --overlap"
            )
        return index.places.windows


def _efforts(kind: str) -> list[str]:
    return [option.name for option in KINDS[kind].effort]


def texts_to_find(texts: Sequence[str]) -> Source:
    """Return texts as queries, named text:1, text:2 and so on."""
    if not all(text.strip() for text in texts):
        raise UsageError("--text is empty: give some words to look for")
    ids = [f"text:{number}" for number in range(1, len(texts) + 1)]
    return Source(pa.table({"id": ids, "text": list(texts)}))


def signed_queries(index: TextIndex, queries: Documents | Source, room: Room) -> Entries:
    """Return queries signed like the rows of an index: documents, or those of the path of saved signatures."""
    if isinstance(queries, str | os.PathLike):
        return Entries(load_signatures(queries))
    return index.sign_source(as_source(queries), room)
