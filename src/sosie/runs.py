"""Runs: what grows in pieces that never change, and the one rule by which pieces are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R", bound=Sized)


def count_staying(lengths: Sequence[int], added: int, least: int = 0) -> int:
    """Return how many of the first runs stay as they are when `added` rows come; the others are merged with these.

    A run stays if it has at least `least` rows and at least twice as many as all that come after it. So n rows that
    come one by one lie in about log2(n) runs, and each of them is merged about log2(n) times.

    >>> count_staying([8, 4, 1], 1), count_staying([8, 4, 1], 4), count_staying([8, 2], 1, least=4)
    (2, 0, 1)
    """
    staying = len(lengths)
    while staying and lengths[staying - 1] < max(least, 2 * added):
        staying -= 1
        added += lengths[staying]
    return staying


@dataclass(frozen=True)
class Runs(Generic[R]):
    """Runs in the order of coming; adding one gives other runs, and whoever holds these goes on with them.

    >>> runs: Runs[list[int]] = Runs()
    >>> for number in range(6):
    ...     runs = runs.added([number], lambda a, b: a + b)
    >>> list(runs), runs.whole(lambda a, b: a + b)
    ([[0, 1, 2, 3], [4, 5]], [0, 1, 2, 3, 4, 5])
    """

    runs: tuple[R, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[R]:
        return iter(self.runs)

    def added(self, run: R, merge: Callable[[R, R], R], least: int = 0) -> Runs[R]:
        """Return these runs and one more; `merge` makes one of two neighbours that the rule does not leave apart."""
        earlier = list(self.runs)
        while earlier and not count_staying([len(earlier[-1])], len(run), least):
            run = merge(earlier.pop(), run)
        return Runs((*earlier, run))

    def whole(self, merge: Callable[[R, R], R]) -> R | None:
        """Return all runs as one, merged from the shortest up; None if there is none."""
        if not self.runs:
            return None
        *earlier, run = self.runs
        while earlier:
            run = merge(earlier.pop(), run)
        return run
