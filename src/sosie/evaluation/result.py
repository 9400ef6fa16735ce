"""What `sosie dedup` or `sosie join` wrote, opened again: its pairs, its clusters and its report."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sosie.documents.places.remote import is_url
from sosie.documents.reading import Reading
from sosie.documents.source import NUMBERED
from sosie.errors import MismatchError, StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.features.weighting import Weighting
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.storage.folder import Folder, read_folder
from sosie.storage.working import set_aside
from sosie.types import I64

FORMATS = ("sosie-report", "sosie-join")


@dataclass(frozen=True, eq=False)
class Result:
    """The pairs (a, b), the clusters (id, cluster, kept; None for a join) and the report of a finished run."""

    path: Path
    report: dict[str, Any] = field(repr=False)
    pairs: Any = field(repr=False)
    clusters: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse two collections: their ids may be the same, and a sample is of one."""
        if "against" in self.report:
            raise UsageError(
                f"{self.path}: its documents were held against a reference, and only one collection can be evaluated."
                " Its report has the recall measured on a sample; `sosie join NEW --with OLD` can be compared with a"
                " truth."
            )

    @property
    def id_type(self) -> Any:
        """The Arrow type of the ids: int64 or large_string."""
        return self.pairs["a"].type

    @property
    def across(self) -> bool:
        """Whether a and b are of two collections, in which the same ids are different documents."""
        return bool(self.report.get("across", False))

    @property
    def inputs(self) -> list[str]:
        """The files that the report names; empty if it names none, or if one is not there any more."""
        paths = [str(place["path"]) for place in self.report.get("inputs", [])]
        return paths if all(is_url(path) or os.path.isfile(path) for path in paths) else []

    @property
    def threshold(self) -> Fraction | None:
        """The least similarity of a pair, None if the report does not say."""
        parameters = self.report.get("parameters", {})
        return as_fraction(parameters["threshold"]) if "threshold" in parameters else None

    @property
    def shingles(self) -> Shingles | None:
        """What the documents were compared by, None if the report does not say."""
        parameters = self.report.get("parameters", {})
        said = parameters.get("method", parameters).get("shingles")
        try:
            return None if said is None else Shingles.from_dict(said)
        except (TypeError, KeyError):
            raise StorageError(f"{self.path}: was written by another version: unknown shingles {said}.") from None
        except StorageError as error:
            raise StorageError(f"{self.path}: {error}.") from error

    @property
    def identical(self) -> bool:
        """Whether the documents were compared byte for byte."""
        return bool(self.report.get("parameters", {}).get("similarity") == "identical")

    @property
    def whole(self) -> bool:
        """Whether documents without shingles were compared byte for byte."""
        return bool(self.report.get("parameters", {}).get("wordless") == "identical")

    @property
    def similarity(self) -> tuple[Measure, Weighting]:
        """The measure by which documents were compared, and how their features weighed."""
        parameters = self.report.get("parameters", {})
        measure: Measure = "jaccard" if self.identical else parameters.get("similarity", "jaccard")
        return measure, parameters.get("weighting", "binary")

    @property
    def reading(self) -> dict[str, Any]:
        """How the documents were read, as far as the report says, as parameters of `Source`.

        An id column that there was not is `none`: the documents were numbered.
        """
        parameters = self.report.get("parameters", {})
        known = ("text_column", "id_column", "html")
        said = {**{name: parameters[name] for name in known if name in parameters}, **parameters.get("files", {})}
        return said if said.get("id_column", "") is not None else {**said, "id_column": NUMBERED}

    def check_features(self, now: int) -> None:
        """Raise unless documents that were read again have as many features as the report says."""
        then = self.report.get("features", now)
        if now != then:
            raise MismatchError(
                f"{self.path}: the run compared {then:,} features, these documents have {now:,}."
                " Name the files as they were, and the same --text-column, --html and --html-content."
            )

    def check_documents(self, reading: Reading) -> None:
        """Raise unless a finished reading has as many documents and rejects as the report says."""
        counts = self.report.get("counts", self.report)
        for name, now in (("documents", reading.documents), ("rejected", reading.rejected)):
            then = counts.get(name, now)
            if now != then:
                raise MismatchError(
                    f"{self.path}: the run had {then:,} {name}, these inputs have {now:,}."
                    " Name the files that it read, and the same --text-column and --id-column."
                )


def load_result(path: str | os.PathLike[str]) -> Result:
    """Open a directory that `sosie dedup` or `sosie join` wrote."""
    directory = Path(path)
    if not directory.is_dir() and not any(set_aside(Path(os.path.realpath(directory)))):
        raise UsageError(f"{directory}: no such directory. Name one that `sosie dedup` or `sosie join` wrote.")
    return read_folder(directory, _load)


def _load(folder: Folder) -> Result:
    if not folder.holds("report.json"):
        raise StorageError(f"{folder}: has no report.json: neither `sosie dedup` nor `sosie join` wrote it.")
    report = read_report(folder, FORMATS, "`sosie dedup` or `sosie join`")
    if wrong := _wrong_member(report):
        raise damaged(folder, wrong)
    pairs = read_columns(folder, "pairs.parquet", ["a", "b"])
    clustered = report["format"] == "sosie-report"
    clusters = read_columns(folder, "clusters.parquet", ["id", "cluster", "kept"]) if clustered else None
    return Result(folder.path, report, pairs, clusters)


def read_report(folder: Folder, formats: tuple[str, ...], writers: str) -> dict[str, Any]:
    """Return the report.json of a folder if it has one of these formats."""
    path = folder.path / "report.json"
    try:
        with folder.open("report.json") as file:
            report = json.loads(file.read().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(f"{path}: cannot be read ({error}). Run again.") from error
    if not isinstance(report, dict) or report.get("format") not in formats:
        raise StorageError(f"{path}: is no report of {writers}.")
    return report


def damaged(folder: Folder, member: str) -> StorageError:
    """Return the error for a report one member of which is of another type than Sosie writes."""
    path = folder.path / "report.json"
    return StorageError(f"{path}: is damaged: {member!r} is not what Sosie writes. Run again.")


def _wrong_member(report: dict[str, Any]) -> str | None:
    """Return the first member, of those that are used, whose value is of another type than Sosie writes."""
    parameters, counts = report.get("parameters", {}), report.get("counts", {})
    for name, part in (("parameters", parameters), ("counts", counts)):
        if not isinstance(part, dict):
            return name
    for part, kinds in ((report, _MEMBERS), (counts, _COUNTS), (parameters, _PARAMETERS)):
        for name, kind in kinds.items():
            if name in part and type(part[name]) not in kind:
                return name
    places = report.get("inputs", [])
    return None if all(isinstance(place, dict) and isinstance(place.get("path"), str) for place in places) else "inputs"


_MEMBERS = {"features": (int,), "across": (bool,), "inputs": (list,)}
_COUNTS = {"documents": (int,), "rejected": (int,)}
_PARAMETERS = {
    "threshold": (float, int),
    "similarity": (str,),
    "weighting": (str,),
    "method": (dict,),
    "files": (dict,),
    "wordless": (str,),
}


def read_columns(folder: Folder, name: str, columns: list[str]) -> Any:
    """Return columns of a Parquet file of a folder; ids (a, b, id) are int64 or large_string."""
    path = folder.path / name
    if not folder.holds(name):
        raise StorageError(f"{path}: is missing, so the result is not whole. Run again.")
    try:
        # read_table would take folders called name=value for columns
        with folder.open(name) as opened, pq.ParquetFile(opened) as file:
            table = file.read(columns)
        if table.column_names != columns:
            raise StorageError(f"{path}: has the columns {table.column_names}, expected {columns}.")
        for i, name in enumerate(columns):
            if name in ("a", "b", "id"):
                table = table.set_column(i, name, table[name].cast(id_type_of(table[name].type)))
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:  # a name that is no UTF-8 is a ValueError
        raise StorageError(f"{path}: cannot be read ({error}). Run again.") from error
    return table


def id_type_of(kind: Any) -> Any:
    """Return the type that ids of an Arrow type are compared as: int64 or large_string."""
    return pa.int64() if pa.types.is_integer(kind) else pa.large_string()


@dataclass(frozen=True, eq=False)
class Numbering:
    """The documents by number: `ids[i]` is the id of document i. `place` names them in messages.

    >>> numbering = Numbering(pa.array(["x", "y"], pa.large_string()), "docs.jsonl")
    >>> numbering.of(pa.array(["y", "x", "y"], pa.large_string()), "truth.tsv").tolist()
    [1, 0, 1]
    """

    ids: Any = field(repr=False)
    place: str

    def __len__(self) -> int:
        return len(self.ids)

    def of(self, ids: Any, owner: str) -> I64:
        """Return the numbers of these ids; raise if some are unknown."""
        ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        if ids.type != self.ids.type:
            if pa.types.is_integer(ids.type) != pa.types.is_integer(self.ids.type):
                raise MismatchError(f"the ids of {owner} are {ids.type}, those of {self.place} {self.ids.type}.")
            ids = ids.cast(self.ids.type)
        numbers = pc.index_in(ids, value_set=self.ids)
        if numbers.null_count:
            unknown = pc.unique(ids.filter(pc.is_null(numbers)))
            shown = ", ".join(repr(value) for value in unknown[:5].to_pylist())
            more = ", ..." if len(unknown) > 5 else ""
            raise MismatchError(f"{owner}: ids that are not in {self.place}: {shown}{more} ({len(unknown):,} in all).")
        return np.asarray(numbers.to_numpy(zero_copy_only=False).astype(np.int64))


def numbered_documents(reading: Reading) -> Numbering:
    """Number all documents of a finished reading."""
    ids = reading.ids.take(np.arange(reading.documents))
    return Numbering(ids, ", ".join(place.label for place in reading.inputs[:3]))


def numbered_ids(*columns: Any) -> Numbering:
    """Number whatever ids there are: for a result whose documents are not at hand.

    >>> numbered_ids(pa.array([5, 3]), pa.array([3, 9])).ids.to_pylist()
    [5, 3, 9]
    """
    chunks = [chunk for column in columns for chunk in getattr(column, "chunks", [column])]
    return Numbering(pc.unique(pa.chunked_array(chunks, columns[0].type)), "the result and the truth")
