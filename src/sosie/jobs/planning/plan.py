"""Plan before a run: what is asked, as people write it, what is known of the data, and the choice that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from sosie.errors import DataError, UsageError
from sosie.parallel import thread_count
from sosie.planner.amounts import as_count, as_seconds
from sosie.planner.choose import choose
from sosie.planner.facts import Facts
from sosie.planner.machine import PROGRAM, load_machine
from sosie.planner.plan import Plan
from sosie.planner.wish import Task, Wish
from sosie.storage.resident import physical_memory
from sosie.storage.size import as_size, show_size

if TYPE_CHECKING:
    from sosie.features.shingles import Shingles

NEAREST = 10  # that are asked for where neither their number nor a radius is given
SIMILARITY = 0.8
_HELD = {"search": "queries", "batch": "rows in the batch", "link": "documents of the other language"}
_OF_SIGNATURES = ("join", "search", "batch")


def plan(
    documents: Any = None,
    *,
    task: Task | None = None,
    rows: int | str | None = None,
    bits: int | None = None,
    radius: int | None = None,
    k: int | None = None,
    similarity: float | None = None,
    measure: str = "jaccard",
    weighting: str = "binary",
    shingles: Shingles | None = None,
    queries: int | str | None = None,
    single: bool = False,
    recall: float = 1.0,
    memory: int | str | None = None,
    time: float | str | None = None,
    threads: int | None = None,
) -> Plan:
    """Say before a run which method it should take, with which parameters, what that finds, takes and holds.

    Documents, or `rows` of them, are de-duplicated at a `similarity` (0.8 if none is given); signatures of so many
    `bits` are joined within a `radius`, or searched by `queries`, in one batch or with `single` one after the other,
    within the radius or for the `k` nearest. Another `task` is said by name. `recall` is the least share of what is
    wanted that has to be found, `memory` and `time` are limits, as in "4GB" and "60s"; without one of memory it is what
    this machine has. What is given as documents, or as signatures, is read for what can be counted in it; else it is
    assumed.

    >>> found = plan(rows="1M", bits=64, radius=3, memory="4GB", threads=1)
    >>> found.chosen.method, found.chosen.exact
    ('blocks join', True)
    """
    asked = Planning(
        task=task,
        rows=rows,
        bits=bits,
        radius=radius,
        k=k,
        similarity=similarity,
        measure=measure,
        weighting=weighting,
        shingles=shingles,
        queries=queries,
        single=single,
        recall=recall,
        memory=memory,
        time=time,
    )
    return asked.run(documents, threads=threads)


@dataclass(frozen=True, kw_only=True)
class Planning:
    """What a plan is asked, as `sosie.plan` takes it; `run` makes the plan."""

    task: Task | None = None
    rows: int | str | None = None
    bits: int | None = None
    radius: int | None = None
    k: int | None = None
    similarity: float | None = None
    measure: str = "jaccard"
    weighting: str = "binary"
    shingles: Shingles | None = None
    queries: int | str | None = None
    single: bool = False
    recall: float = 1.0
    memory: int | str | None = None
    time: float | str | None = None

    def run(self, documents: Any = None, *, threads: int | None = None) -> Plan:
        """Return the plan; `documents` are what a `Source` is made of, signatures, or the path where some are saved."""
        memory = as_size(self.memory)
        if memory is not None and memory <= PROGRAM:
            least = show_size(PROGRAM)
            raise UsageError(f"memory: {show_size(memory)} are too little for the program: allow more than {least}")
        notes: tuple[str, ...] = ()
        if memory is None:
            memory = physical_memory()
            notes = (f"{show_size(memory)} is the memory of this machine; another limit is said as memory.",)
        if documents is None:
            rows = None if self.rows is None else as_count("rows", self.rows)
            wish, facts = self.wish(rows, self.bits, memory, threads), Facts()
        else:
            given = import_module("sosie.jobs.planning.given").take(documents)  # loads Numba
            of = self._of_signatures if hasattr(given, "words") else self._of_documents
            wish, facts = of(given, memory, threads)
        return replace(choose(wish, facts, load_machine()), notes=notes)

    def _of_documents(self, given: Any, memory: int, threads: int | None) -> tuple[Wish, Facts]:
        """Return what is asked of documents, and what a sample of them says."""
        self._refuse("documents", rows=self.rows, bits=self.bits)
        if self._task(None) in _OF_SIGNATURES:
            raise UsageError(f"a {self._task(None)} is of signatures: sign the documents first (sosie sign)")
        wish = self.wish(1, None, memory, threads)  # refuses what makes no sense before anything is read
        counted = import_module("sosie.jobs.planning.of_documents").facts_of_documents
        asked: dict[str, Any] = {} if self.shingles is None else {"shingles": self.shingles}
        asked |= {"threshold": SIMILARITY if self.similarity is None else self.similarity}
        facts: Facts = counted(given, similarity=self.measure, weighting=self.weighting, threads=threads, **asked)
        there = facts.corpus.documents if facts.corpus is not None else 0
        if not there:
            raise DataError("there are no documents, so there is nothing to plan: check the input")
        return replace(wish, rows=there), facts

    def _of_signatures(self, given: Any, memory: int, threads: int | None) -> tuple[Wish, Facts]:
        """Return what is asked of signatures, and what a sample of them says."""
        self._refuse("signatures", rows=self.rows, bits=self.bits)
        if not len(given):
            raise DataError("there are no signatures, so there is nothing to plan: check the input")
        wish = self.wish(len(given), given.bits, memory, threads)
        counted = import_module("sosie.jobs.planning.of_signatures").facts_of_signatures
        facts: Facts = counted(given, radius=wish.radius, k=wish.k, threads=threads)
        return wish, facts

    @staticmethod
    def _refuse(given: str, **said: Any) -> None:
        for name in (name for name, value in said.items() if value is not None):
            raise UsageError(f"{name}: the {given} say that themselves: leave it out")

    def wish(self, rows: int | None, bits: int | None, memory: int, threads: int | None) -> Wish:
        """Return what is asked of so many rows, of signatures or of documents; contradictions are refused."""
        if rows is None:
            raise UsageError("a plan needs documents or signatures, or how many there are: say so with rows, as in 10M")
        task = self._task(bits)
        self._check(task, bits)
        others = 0 if self.queries is None else as_count("queries", self.queries)
        wanted: dict[str, Any] = {"bits": bits, "radius": self.radius, "k": self.k}
        if task == "search" and self.radius is None and self.k is None:
            wanted["k"] = NEAREST
        if task == "dedup":
            wanted = {"threshold": SIMILARITY if self.similarity is None else self.similarity}
        if task == "link":
            nearest = NEAREST if self.k is None and self.similarity is None else self.k
            wanted = {"bits": bits, "k": nearest, "threshold": self.similarity}
        return Wish(
            task=task,
            rows=rows,
            others=others,
            measure=self.measure,
            weighting=self.weighting,
            recall=self.recall,
            memory=memory,
            seconds=as_seconds(self.time),
            single=self.single,
            threads=thread_count(threads),
            **wanted,
        )

    def _task(self, bits: int | None) -> Task:
        """Return what is to be done, from what is given where it is not said."""
        if self.task is not None:
            if self.task not in get_args(Task):
                raise UsageError(f"task must be one of {', '.join(get_args(Task))}, got {self.task!r}")
            return self.task
        if not self.single and bits is None and all(each is None for each in (self.radius, self.k, self.queries)):
            return "dedup"
        return "search" if self.single or self.queries is not None or self.k is not None else "join"

    def _check(self, task: Task, bits: int | None) -> None:
        """Refuse wishes that contradict each other."""
        if self.radius is not None and self.similarity is not None:
            raise UsageError("radius is for signatures, similarity for documents: give one of the two")
        if self.radius is not None and self.k is not None:
            raise UsageError("radius asks for all within it, k for the nearest: give one of the two")
        if task in _OF_SIGNATURES:
            self._check_signatures(task, bits)
        given = {"bits": bits, "radius": self.radius, "k": self.k, "queries": self.queries}
        foreign = {"dedup": ("bits", "radius", "k", "queries"), "link": ("radius",)}.get(task, ())
        for name in (name for name in foreign if given[name] is not None):
            raise UsageError(f"{name} is for signatures, and a {task} is of documents: leave it out")
        if task in _HELD and self.queries is None:
            raise UsageError(f"a {task} needs the number of {_HELD[task]}: say so with queries, as in 1000")
        if self.single and task != "search":
            raise UsageError(f"single is for queries of a search, one after the other; a {task} has none")

    def _check_signatures(self, task: Task, bits: int | None) -> None:
        if bits is None:
            raise UsageError(f"a {task} is of signatures: say how many bits they have, as in 64")
        if self.similarity is not None:
            raise UsageError(f"similarity is for documents, and a {task} is of signatures: give a radius")
        if task != "search" and self.radius is None:
            raise UsageError(f"a {task} needs a radius: the most bits that may differ, as in 3")
        if task != "search" and self.k is not None:
            raise UsageError(f"k is for a search; a {task} finds all within a radius")
