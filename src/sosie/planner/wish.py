"""What is asked of a plan: a task, how large it is, and what the answer may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sosie.errors import UsageError

Task = Literal["dedup", "join", "search", "batch", "link"]
MOST_ROWS = 10**13  # more is on no machine, and on no cluster that this planner knows


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a plan has to reach: `recall` of all that is wanted, in `memory` bytes and `seconds`, None without a limit.

    `rows` are documents, or signatures of `bits`. `others` are what is held against them: the second collection of a
    join, the queries of a search, the rows of a batch; 0 where a collection is joined with itself. Documents are wanted
    above a `threshold`, signatures within a `radius` or as the `k` nearest. Queries come in one batch, or with `single`
    one after the other. Documents are compared by a `measure` of features that have a `weighting`; the results of
    a de-duplication are checked on a sample and written, or else only found (`written`).

    >>> Wish(task="join", rows=10**6, bits=64, radius=3).exact
    True
    """

    task: Task
    rows: int
    others: int = 0
    bits: int | None = None
    radius: int | None = None
    k: int | None = None
    threshold: float | None = None
    measure: str = "jaccard"
    weighting: str = "binary"
    written: bool = True
    recall: float = 1.0
    memory: int | None = None
    seconds: float | None = None
    single: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.task not in get_args(Task):
            raise UsageError(f"a plan is for {', '.join(get_args(Task))}, got {self.task!r}")
        _check_between("rows", self.rows, 1, MOST_ROWS)
        _check_between("others", self.others, 0, MOST_ROWS)
        if not 0 < self.recall <= 1:
            raise UsageError(f"recall is above 0 and at most 1, as in 0.95; got {self.recall!r}")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError(f"a threshold is above 0 and at most 1, as in 0.8; got {self.threshold!r}")
        if self.bits is not None and self.bits < 1:
            raise UsageError(f"signatures have at least 1 bit, got {self.bits}")
        if self.radius is not None and not 0 <= self.radius <= (self.bits or self.radius):
            raise UsageError(f"a radius is between 0 and the number of bits, {self.bits}; got {self.radius}")

    @property
    def exact(self) -> bool:
        """Whether all is to be found."""
        return self.recall == 1.0

    @property
    def comparisons(self) -> int:
        """How many comparisons there are if nothing is clever: of all pairs, or of each row with each of the others."""
        return self.rows * self.others if self.others else self.rows * (self.rows - 1) // 2


def _check_between(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{name} must be between {least:,} and {most:,}, got {value:,}")
