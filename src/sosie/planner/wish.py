"""What is asked of a plan: a task, how large it is, and what the answer may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sosie.errors import UsageError

Task = Literal["dedup", "join", "search", "batch", "link"]
MEASURES = ("jaccard", "cosine", "containment")
WEIGHTINGS = ("binary", "tf", "tf-idf", "bm25")
MOST_ROWS = 10**13  # more is on no machine, and on no cluster that this planner knows
MOST_BITS = 10**6
# The numbers of a wish that are whole, with the least and the most that each may be.
_WHOLE = (
    *(("rows", 1, MOST_ROWS), ("others", 0, MOST_ROWS), ("bits", 1, MOST_BITS), ("radius", 0, MOST_BITS)),
    *(("k", 1, MOST_ROWS), ("memory", 1, 10**18), ("threads", 1, 10**6)),
)


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
        for name, among in (("task", get_args(Task)), ("measure", MEASURES), ("weighting", WEIGHTINGS)):
            if getattr(self, name) not in among:
                raise UsageError(f"{name} must be one of {', '.join(among)}, got {getattr(self, name)!r}")
        if self.weighting != "binary" and self.measure != "cosine":
            raise UsageError(f"weights are for the cosine; {self.measure} compares sets: leave the weighting out")
        for name, least, most in _WHOLE:
            _check_whole("queries" if name == "others" else name, getattr(self, name), least, most)
        _check_share("recall", self.recall, "0.95")
        if self.threshold is not None:
            _check_share("similarity", self.threshold, "0.8")
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds > 0):
            raise UsageError(f"a time is above 0 seconds, got {self.seconds!r}")
        if self.radius is not None and self.bits is not None and self.radius > self.bits:
            raise UsageError(f"a radius is between 0 and the number of bits, {self.bits:,}; got {self.radius:,}")

    @property
    def exact(self) -> bool:
        """Whether all is to be found."""
        return self.recall == 1.0

    @property
    def comparisons(self) -> int:
        """How many comparisons there are if nothing is clever: of all pairs, or of each row with each of the others."""
        return self.rows * self.others if self.others else self.rows * (self.rows - 1) // 2


def _check_whole(name: str, value: int | None, least: int, most: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name} must be a whole number, got {value!r}")
    if not least <= value <= most:
        raise UsageError(f"{name} must be between {least:,} and {most:,}, got {value:,}")


def _check_share(name: str, value: float, example: str) -> None:
    if not (_is_number(value) and 0 < value <= 1):
        meant = f"{value / 100:g}" if _is_number(value) and 2 <= value <= 100 else f"it as in {example}"
        raise UsageError(f"{name} must be above 0 and at most 1, got {value!r}: write {meant}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
