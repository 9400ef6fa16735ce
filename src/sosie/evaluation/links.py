"""Links between two collections against known ones: the ranks of the true ones, and what signatures would keep.

The measures of NFL (Ture, Elsayed and Lin, SIGIR 2011): a link is a pair across languages with a cosine of at least a
threshold, and a signature of D bits finds it if at most T bits differ, which Equation 5 gives the chance of.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.errors import DataError, MismatchError, StorageError, UsageError
from sosie.evaluation.result import Numbering, damaged, id_type_of, numbered_ids, read_columns, read_report
from sosie.evaluation.truth import Agreement
from sosie.planner.models.window import Bits, agreement, chance_within
from sosie.storage.folder import Folder, read_folder
from sosie.storage.working import set_aside
from sosie.types import F64, I64

FORMAT = "sosie-link"
THRESHOLD = 0.3  # the cosine of NFL, where a report names none
WIDTHS = (1000, 2000, 3000)  # bits of the signatures of NFL Table 2
_COLUMNS = ["a", "b", "rank", "similarity"]
_ROUNDING = 1e-6  # by which a cosine may be beyond 1
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class LinkResult:
    """The links (a, b, rank, similarity) and the report of a finished run of `sosie link`."""

    path: Path
    report: dict[str, Any] = field(repr=False)
    links: Any = field(repr=False)

    @property
    def threshold(self) -> float | None:
        """The least cosine of a link, None if the report does not say."""
        said = self.report.get("parameters", {}).get("threshold")
        return None if said is None else float(said)


def load_links(path: str | os.PathLike[str]) -> LinkResult:
    """Open a directory that `sosie link` wrote."""
    directory = Path(path)
    if not directory.is_dir() and not any(set_aside(Path(os.path.realpath(directory)))):
        raise UsageError(f"{directory}: no such directory. Name one that `sosie link` wrote.")
    return read_folder(directory, _load)


def _load(folder: Folder) -> LinkResult:
    if not folder.holds("report.json"):
        raise StorageError(f"{folder}: has no report.json: `sosie link` did not write it.")
    report = read_report(folder, (FORMAT,), "`sosie link`")
    parameters = report.get("parameters", {})
    if type(parameters) is not dict:
        raise damaged(folder, "parameters")
    threshold = parameters.get("threshold")
    if threshold is not None and not (type(threshold) in (int, float) and 0 <= threshold <= 1):
        raise damaged(folder, "threshold")
    return LinkResult(folder.path, report, read_columns(folder, "links.parquet", _COLUMNS))


@dataclass(frozen=True)
class RecallBound:
    """The share of the true links that are to be expected within `radius` of so many bits; None if there are none."""

    bits: int
    radius: int
    recall: float | None


@dataclass(frozen=True)
class LinkAgreement:
    """How links agree with true ones, over the `asked` documents a that the truth names.

    `unlinked` of these have no link at all; of `first` and `among_ten` a true b is at rank 1, and at rank 10 or before;
    `reciprocal` is the mean of 1 / rank, 0 where no true b is linked. `ranks` is the last rank that any a has. `pairs`
    compares the true pairs with the links of these a whose similarity is at least the `threshold`. Of the truth,
    `repeated` pairs were given before. `checked` says whether its ids were looked up among the documents.
    """

    asked: int
    unlinked: int
    first: int
    among_ten: int
    reciprocal: float
    ranks: int
    threshold: float
    pairs: Agreement
    bounds: tuple[RecallBound, ...]
    repeated: int
    checked: bool

    @property
    def precision_at_1(self) -> float:
        """The share of the documents asked for whose first link is true."""
        return self.first / self.asked

    @property
    def precision_at_10(self) -> float:
        """The share of those that have a true link at rank 10 or before."""
        return self.among_ten / self.asked

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {
            "asked": self.asked,
            "unlinked": self.unlinked,
            "ranks": self.ranks,
            "precision_at_1": self.precision_at_1,
            "precision_at_10": self.precision_at_10,
            "mean_reciprocal_rank": self.reciprocal,
            "threshold": self.threshold,
            "true_pairs": self.pairs.true,
            "found_pairs": self.pairs.found,
            "right_pairs": self.pairs.right,
            "recall": self.pairs.recall,
            "precision": self.pairs.precision,
            "bounds": [dict(vars(bound)) for bound in self.bounds],
            "repeated_pairs": self.repeated,
            "ids_checked": self.checked,
        }


def measure_links(
    table: Any,
    truth: Any,
    threshold: float = THRESHOLD,
    documents: tuple[Numbering, Numbering] | None = None,
    owner: str = "the links",
) -> LinkAgreement:
    """Compare links, a table a, b, rank, similarity, with true pairs, a table a, b of ids of the two sides.

    An `a` may have several true b: any of them counts for its rank. Ranks count as they are written, and a pair that is
    listed twice at the better one. `documents` knows the ids of both sides: others in the truth are an error.

    >>> links = pa.table({"a": [1, 1, 2], "b": [7, 8, 9], "rank": [1, 2, 1], "similarity": [0.5, 0.4, 0.2]})
    >>> found = measure_links(links, pa.table({"a": [1, 2, 3], "b": [8, 9, 7]}))
    >>> found.first, found.among_ten, found.reciprocal, found.unlinked
    (1, 2, 0.5, 1)
    >>> found.pairs, found.bounds[0].radius
    (Agreement(true=3, found=2, right=1), 403)
    """
    if not 0 <= threshold <= 1:
        raise UsageError(f"a threshold is a cosine from 0 to 1, got {threshold}")
    if not len(truth):
        raise DataError("the truth holds no pairs. Give at least one pair of ids.")
    ranks, similarity = _ranks(table, owner), _similarities(table, owner)
    (a, true_a), (b, true_b) = (
        _numbers(table, truth, side, None if documents is None else documents[place], owner)
        for place, side in enumerate("ab")
    )
    order = np.lexsort((ranks, a << 32 | b))
    keys, first = np.unique((a << 32 | b)[order], return_index=True)
    places = order[first]  # of each pair where it is listed first
    ranks, similarity = ranks[places], similarity[places]
    true, asked = np.unique(true_a << 32 | true_b), np.unique(true_a)

    right = np.isin(keys, true, assume_unique=True)
    best = np.full(len(asked), _NEVER)
    np.minimum.at(best, np.searchsorted(asked, keys[right] >> 32), ranks[right])
    similar = similarity >= threshold
    return LinkAgreement(
        asked=len(asked),
        unlinked=len(asked) - int(np.isin(asked, a).sum()),
        first=int((best == 1).sum()),
        among_ten=int((best <= 10).sum()),
        reciprocal=float(np.where(best < _NEVER, 1 / best, 0.0).mean()),
        ranks=int(ranks.max(initial=0)),
        threshold=float(threshold),
        pairs=Agreement(len(true), int((similar & np.isin(keys >> 32, asked)).sum()), int((similar & right).sum())),
        bounds=recall_bounds(similarity[similar & right], threshold),
        repeated=len(true_a) - len(true),
        checked=documents is not None,
    )


def recall_bounds(similarity: F64, threshold: float, widths: tuple[int, ...] = WIDTHS) -> tuple[RecallBound, ...]:
    """Return what share of true links of these cosines signatures find, compared one by one (NFL Table 2, Equation 5).

    The radius is the largest distance that stands for a cosine of at least the threshold.

    >>> [(bound.radius, round(bound.recall, 3)) for bound in recall_bounds(np.array([0.3, 0.4]), 0.3)]
    [(403, 0.751), (806, 0.754), (1209, 0.754)]
    """
    flip = 1 - float(agreement(threshold))
    radii = [Bits(width, math.floor(width * flip + 1e-9)) for width in widths]
    chances = [chance_within(np.clip(similarity, -1, 1), bits) for bits in radii]
    return tuple(
        RecallBound(*bits, float(chance.mean()) if len(chance) else None)
        for bits, chance in zip(radii, chances, strict=True)
    )


def _ranks(table: Any, owner: str) -> I64:
    column = _column(table, "rank", owner)
    if not pa.types.is_integer(column.type):
        raise DataError(f"{owner}: ranks are integers, not {column.type}.")
    ranks = np.asarray(column.to_numpy(zero_copy_only=False).astype(np.int64))
    if len(ranks) and ranks.min() < 1:
        raise DataError(
            f"{owner}: row {int((ranks < 1).argmax())} has the rank {ranks[ranks < 1][0]}: ranks are from 1."
        )
    return ranks


def _similarities(table: Any, owner: str) -> F64:
    column = _column(table, "similarity", owner)
    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        raise DataError(f"{owner}: similarities are numbers, not {column.type}.")
    values = np.asarray(column.to_numpy(zero_copy_only=False).astype(np.float64))
    wrong = ~(np.abs(values) <= 1 + _ROUNDING)  # NaN, too
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{owner}: row {row} has the similarity {values[row]} ({wrong.sum():,} such rows in all): it is a cosine,"
            " from -1 to 1."
        )
    return values


def _numbers(table: Any, truth: Any, side: str, known: Numbering | None, owner: str) -> tuple[I64, I64]:
    """Return the numbers of the documents of one side, in the links and in the truth."""
    linked, true = _ids(table, side, owner), _ids(truth, side, "the truth")
    linked = linked.cast(true.type) if not len(linked) else linked  # an empty column may have any type
    if linked.type != true.type:
        raise MismatchError(f"the ids {side} of the truth are {true.type}, those of {owner} {linked.type}.")
    known = known or numbered_ids(linked, true)
    return known.of(linked, owner), known.of(true, "the truth")


def _ids(table: Any, side: str, owner: str) -> Any:
    column = _column(table, side, owner)
    if pa.types.is_null(column.type):
        return column.cast(pa.int64())
    if pa.types.is_floating(column.type):
        raise DataError(f"{owner}: ids are integers or text, not {column.type}.")
    return column.cast(id_type_of(column.type))


def _column(table: Any, name: str, owner: str) -> Any:
    """Return a column that has a value in every row."""
    if name not in table.column_names:
        raise DataError(f"{owner}: no column {name!r}, only {', '.join(table.column_names) or 'none at all'}.")
    column = table[name].combine_chunks()
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise DataError(f"{owner}: row {row} lacks {name!r} ({column.null_count:,} in all).")
    return column
