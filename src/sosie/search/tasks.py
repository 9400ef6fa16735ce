"""What an index is for: the one table of tasks, and what each of them chooses where nothing else is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from sosie.errors import UsageError
from sosie.features.phrases import Phrases
from sosie.index.registry import AUTO
from sosie.search.windows import Windows
from sosie.signatures.registry import method_named

WORDS = "words"  # the method that keeps the words themselves instead of signatures


class Signed(NamedTuple):
    """What signatures are made of, where signatures are asked for: units in a shingle, bits, and how features weigh."""

    width: int
    bits: int
    weighting: str


@dataclass(frozen=True)
class Task:
    """What an index is built for: the method and the kind, and how documents are cut into windows, if they are.

    `signed` are the defaults of signatures for this task, whatever method makes them; None are the method's own.
    """

    meaning: str
    method: str
    kind: str
    signed: Signed | None = None
    windows: Windows | None = None


TASKS = {
    "search": Task("find documents by some of their words", WORDS, WORDS, Signed(1, 1024, "tf-idf")),
    "duplicates": Task("find near-duplicates of whole documents", "simhash", AUTO),
    "passages": Task("find where a part of a text is", WORDS, WORDS, Signed(1, 1024, "tf-idf"), Windows(100, 50)),
}


def task_named(name: str) -> Task:
    """Return a task.

    >>> task_named("search").kind
    'words'
    """
    if name not in TASKS:
        raise UsageError(f"an index is for {', '.join(TASKS)}, got {name!r}")
    return TASKS[name]


def reader_for(name: str) -> Any:
    """Return what makes rows of texts for a task if nothing else is said: phrases, or a signer.

    >>> reader_for("search").shingles.width, reader_for("duplicates").spec.bits
    (2, 64)
    """
    task = task_named(name)
    if task.method == WORDS:
        return Phrases()
    return method_named(task.method)().fit()
