"""What came of a plan: what was expected beside what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sosie.planner.estimate import Candidate
from sosie.planner.machine import PROGRAM
from sosie.shown import show_seconds, show_share
from sosie.storage.size import show_size


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A method as it was chosen: the recall that was asked, predicted and measured; seconds and bytes of memory.

    What is None was not predicted, or nobody looked. The bytes are those of the whole process at its peak.

    >>> print(Outcome(method="window", asked=0.95, predicted=0.958, measured=0.953, predicted_seconds=41, seconds=37))
    asked .95, predicted .958, measured .953; predicted 41 s, took 37 s
    """

    method: str
    parameters: Mapping[str, Any] | None = None
    asked: float = 1.0
    predicted: float | None = None
    measured: float | None = None
    predicted_seconds: float | None = None
    seconds: float | None = None
    predicted_bytes: int | None = None
    bytes: int | None = None

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        asked: float,
        *,
        measured: float | None = None,
        seconds: float | None = None,
        bytes: int | None = None,
    ) -> Outcome:
        """Return what was expected of a candidate beside what happened."""
        expected = candidate.estimate
        return cls(
            method=candidate.method,
            parameters=dict(candidate.parameters),
            asked=asked,
            predicted=expected.recall,
            measured=measured,
            predicted_seconds=expected.seconds,
            seconds=seconds,
            predicted_bytes=PROGRAM + expected.bytes.heap,
            bytes=bytes,
        )

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """Return it in words: recall, time, and memory, each as far as it is known."""
        recall = [("asked", self.asked), ("predicted", self.predicted), ("measured", self.measured)]
        taken = [("predicted", self.predicted_seconds), ("took", self.seconds)]
        held = [("predicted", self.predicted_bytes), ("held", self.bytes)]
        parts = (_said(recall, show_share), _said(taken, show_seconds), _said(held, show_size))
        return "; ".join(filter(None, parts))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def _said(values: Sequence[tuple[str, float | None]], show: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {show(value)}" for name, value in values if value is not None)
