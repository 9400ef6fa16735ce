"""A batch of new documents: matched with a store of signatures and with each other, and appended, in one step."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.source import Documents, Source, as_source
from sosie.errors import UsageError
from sosie.index.flips import FlipModel
from sosie.jobs.inputs import StrPath
from sosie.jobs.planning.batches import plan_of_batch
from sosie.jobs.planning.joins import described, taken
from sosie.jobs.sign import fitted, signing
from sosie.jobs.warm import prepare
from sosie.matches.store.planned import check_recall, search_by
from sosie.matches.store.store import SignatureStore
from sosie.planner.outcome import Outcome
from sosie.planner.plan import Plan
from sosie.report.report import JobReport
from sosie.report.timing import Progress, Silent, Timing
from sosie.signatures.files import load_signatures, load_signer
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.signatures.stream import stream
from sosie.types import Keys, Matches, Signatures


@dataclass(frozen=True, kw_only=True)
class BatchReport(JobReport):
    """What came, what was found of it, and how many rows the store has now. `matched` counts rows with a match.

    `plan` has what was expected, where nobody said how the batch is matched, beside what happened.
    """

    documents: int
    signed: int
    without_features: int
    rejected: int
    matches: int
    matched: int
    recall: float | None
    appended: bool
    rows: int
    counters: dict[str, int]
    plan: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchMatching:
    """How a batch is matched, by so many probes or by block tables, and whether it is appended.

    Where neither is given, the quicker way is planned that finds all, or the share `recall` of all matches.
    `signer` signs the documents of a new store; those of one that is there are signed by its own. With `flips`, a model
    of how likely bits flip is made of the batch, and orders the probes.
    """

    radius: int = 3
    first: bool = False
    probes: int | None = None
    blocks: int | None = None
    recall: float | None = None
    append: bool = True
    flips: bool = False
    signer: Spec | Signer | None = None

    def run(
        self,
        directory: StrPath,
        new: Documents | Source,
        write: Callable[[Any], None] = lambda table: None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Any, BatchReport]:
        """Return a table of matches, and a report. What is new are documents, or the path of saved signatures.

        `write` is called with the table before the batch is in the store: if it raises, nothing is appended.
        """
        timing = Timing(progress or Silent())
        if self.probes is not None and self.blocks is not None:
            raise UsageError("a batch is matched by probes or by block tables: give --probes or --blocks, not both")
        check_recall(self.recall, self.probes, self.blocks)
        if self.flips and self.probes is None:
            raise UsageError("--flips is for --probes: block tables flip no bits")
        with timing.stage("open"):
            held = SignatureStore(directory).signer
        tables = [] if self.probes is not None else ["batch tables"]
        probes = ["batch probes"] if self._less or self.probes is not None else []
        prepare(*tables, *probes, progress=timing.progress, threads=threads)
        batch, signer, read = self._batch(directory, held, new, timing, threads)
        store = SignatureStore(directory, signer=signer, flips=FlipModel.of(batch) if self.flips else None)
        if not self.append and not len(store):
            raise UsageError(f"{directory}: there is no store, or it is empty: nothing can be matched with it")
        plan = self._plan(store, batch, threads)
        how: dict[str, Any] = {"first": self.first, "threads": threads, **self._by(plan)}
        written: list[Any] = []

        def receive(matches: Matches) -> None:
            written.append(match_table(batch, matches, len(store)))
            write(written[0])

        with timing.stage("match"):
            if self.append:
                found = store.match_and_append(batch, self.radius, receive=receive, **how)
            else:
                found = store.match(batch, self.radius, **how)
                receive(found)
        documents, rejected = read
        report = BatchReport(
            documents=documents,
            signed=len(batch),
            without_features=len(batch.unsigned),
            rejected=rejected,
            matches=len(found.rows),
            matched=int(np.count_nonzero(np.diff(found.offsets))),
            recall=found.recall if found.recall is not None or plan is None else taken(plan).estimate.recall,
            appended=self.append,
            rows=len(store),
            counters=dict(found.counters),
            plan=None if plan is None else described(_came_of(plan, found, timing)),
            stages=tuple(timing.finished),
        )
        return written[0], report

    @property
    def _less(self) -> bool:
        """Whether less than all matches are asked for."""
        return self.recall is not None and self.recall < 1

    def _plan(self, store: SignatureStore, batch: Signatures, threads: int | None) -> Plan | None:
        """Plan how the batch is matched; None where that is said, or cannot be."""
        if self.probes is not None or self.blocks is not None or not 0 <= self.radius <= batch.bits:
            return None
        recall = 1.0 if self.recall is None else self.recall
        return plan_of_batch(store, batch, self.radius, recall, first=self.first, itself=self.append, threads=threads)

    def _by(self, plan: Plan | None) -> dict[str, Any]:
        """Return by how many probes the batch is matched, or into how many blocks bits are cut."""
        if plan is None:
            return {"probes": self.probes, "blocks": self.blocks}
        search, blocks = search_by(taken(plan))
        return {"recall": 1.0} if search is None and blocks is None else {"probes": search, "blocks": blocks}

    def _batch(
        self, directory: StrPath, held: Signer | None, new: Any, timing: Timing, threads: int | None
    ) -> tuple[Signatures, Signer | None, tuple[int, int]]:
        """Return the batch, its signer, and how many documents were read and rejected."""
        if isinstance(new, str | os.PathLike):
            saved = load_signatures(new)
            if isinstance(saved, Keys):
                raise UsageError(f"{new}: holds keys. A store holds signatures: sign with a method that makes them.")
            return saved, None if held else load_signer(new), (len(saved), 0)
        source = as_source(new)
        made = held or self.signer
        if made is None:
            raise UsageError(f"{directory}: holds signatures without their signer: give signatures, not documents.")
        spec = made if isinstance(made, Spec) else made.spec
        prepare(signing(made), progress=timing.progress, threads=threads)
        signer, reading = fitted(made, source, timing, threads), source.batches(threads)
        with timing.stage("sign") as stage:
            signed = stream(
                reading,
                signer,
                volatility=(self._less or self.probes is not None) and spec.volatile,
                threads=threads,
                after=lambda batch: stage.advance(len(batch) + len(batch.rejects)),
            )
        assert isinstance(signed, Signatures)
        return signed, None if held else signer, (reading.documents, reading.rejected)


def _came_of(plan: Plan, found: Matches, timing: Timing) -> Outcome:
    """Hold what was expected of the matching beside what happened."""
    stage, candidate = next(each for each in timing.finished if each.stage == "match"), taken(plan)
    return Outcome.of(
        candidate,
        plan.wish.recall,
        measured=found.recall,
        seconds=stage.seconds,
        bytes=stage.peak_memory_bytes,
        work={name: (float(value), found.counters.get(name)) for name, value in candidate.estimate.work.items()},
    )


def match_table(batch: Signatures, matches: Matches, before: int) -> Any:
    """Return matches as query, id, rank (from 1) and distance.

    Rows without ids are called by the numbers that they have in a store of `before` rows.

    >>> found = Matches(np.array([0, 0, 1]), np.array([3]), np.array([2], np.int32), pa.array([3]))
    >>> match_table(Signatures(np.zeros(2, np.uint64)), found, 5).to_pylist()
    [{'query': 6, 'id': 3, 'rank': 1, 'distance': 2}]
    """
    sizes = np.diff(matches.offsets)
    asked = np.repeat(np.arange(len(matches)), sizes)
    return pa.table(
        {
            "query": pa.array(asked + before) if batch.numbered else batch.ids.take(pa.array(asked)),
            "id": matches.ids,
            "rank": pa.array(np.arange(len(matches.rows)) - matches.offsets[asked] + 1, pa.int64()),
            "distance": pa.array(matches.distances, pa.int32()),
        }
    )
