"""What reading yields: documents with numbers, and the records that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sosie.types import I64


class Reject(NamedTuple):
    """A record that cannot be used: its document number, where it is, why, and the line or record itself."""

    row: int
    file: str
    line: int
    reason: str
    raw: str | None = None


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive documents: `texts[i]` (large_string, no nulls) is document number `rows[i]`.

    `ids` (int64 or large_string) is None where ids are made from file and line: `Reading.ids` knows them. Rejected
    records have a document number and no text, so documents = texts + rejects over all batches. `order` holds the
    values of the order column (int64 or float64, null where there is none), None if no order was asked for.
    """

    texts: Any
    ids: Any
    rows: I64
    rejects: list[Reject] = field(default_factory=list)
    order: Any = None

    def __len__(self) -> int:
        return len(self.texts)


class Batches(Protocol):
    """Documents in batches, whose ids can be taken by document number: a `Reading`, or what is made of one."""

    @property
    def ids(self) -> Any:
        """What knows the ids: `ids.take(rows)`."""

    def __iter__(self) -> Iterator[Batch]:
        """Read the documents, once."""


@dataclass(frozen=True, eq=False)
class Records:
    """One piece of an input, decoded and not yet numbered: positions count the records of the piece from 0.

    `lines[i]` is the line of record i within the piece; None means line i. `raw` gives a record as it was written.
    """

    count: int
    texts: Any
    ids: Any
    accepted: I64
    problems: dict[int, str] = field(default_factory=dict)
    lines: I64 | None = None
    line_count: int = 0
    raw: Callable[[int], str] | None = None
    order: Any = None

    def without(self, dropped: dict[int, str]) -> Records:
        """Return these records with more problems: `dropped` maps positions that were accepted to reasons."""
        if not dropped:
            return self
        stay = ~np.isin(self.accepted, np.fromiter(dropped, np.int64, len(dropped)))
        return replace(
            self,
            texts=self.texts.filter(stay),
            ids=None if self.ids is None else self.ids.filter(stay),
            order=None if self.order is None else self.order.filter(stay),
            accepted=self.accepted[stay],
            problems={**self.problems, **dropped},
        )
