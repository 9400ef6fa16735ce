"""A look at the first documents: which columns a collection has, before anything is read for good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from sosie.documents.columns import Columns, check_names, check_schema, schema_columns
from sosie.documents.format import Naming, Probe, Sample
from sosie.documents.formats import format_of
from sosie.documents.input import Input
from sosie.documents.order import Order
from sosie.errors import UsageError

# So many documents without the column, and the name is wrong rather than the data.
PATIENCE = 100
# So many without the column that decides the order, likewise.
SPARSE = 10_000
_VALUE_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


@dataclass(frozen=True, eq=False)
class Probed:
    """An input and what it says of its columns; `naming` if its documents have names instead."""

    source: Input
    naming: Naming | None
    probe: Probe

    def samples(self) -> Iterator[Sample | None]:
        """Yield the first documents, where each has columns of its own."""
        return iter(()) if self.probe.samples is None else self.probe.samples()


def find_columns(inputs: list[Input], wanted: Columns, patient: bool) -> Columns:
    """Decide the columns of a collection from its first usable document, and check every schema.

    Without an id column, the column `id` is used if the first document has one, or the record ids of WARC files that
    stand beside nothing but text files. `patient` looks beyond documents that will be skipped; otherwise the reader
    raises at the first one.
    """
    forms = [(source, format_of(source)) for source in inputs if source.files is None or source.files.are_readable]
    probed = [Probed(source, form.naming, form.probe(source)) for source, form in forms]
    if wanted.order is not None:
        wanted = replace(wanted, order_type=_order_type(probed, wanted.order))
    columns = _from_first_documents(probed, wanted, patient)
    if columns.id is not None and columns.id_type is None:
        columns = replace(columns, id_type=pa.large_string())
    named = [(each.source, each.naming) for each in probed if each.naming is not None]
    if columns.id is None and not columns.numbered and len(named) == len(probed):
        stand_in = next((naming.column for _, naming in named if naming.column is not None), None)
        columns = columns if stand_in is None else replace(columns, id=stand_in, id_type=pa.large_string())
    if named and columns.id_type == pa.int64():
        _refuse_integers(*named[0], columns)
    for each in probed:
        if each.probe.schema is not None:
            check_schema(each.probe.schema, columns, each.source.path)
    return columns


def _refuse_integers(source: Input, naming: Naming, columns: Columns) -> None:
    path = source.path
    if source.files is not None and source.spool is None:
        path = next(entry.path for entry in source.files.entries if entry.problem is None)
    raise UsageError(
        f"{path}: the ids of {naming.files} are {naming.ids}, and those of the first input are integers "
        f"({columns.id!r}). Name a column of text with --id-column, or none to number the documents, or give the "
        f"{naming.files} alone."
    )


def _from_first_documents(probed: list[Probed], columns: Columns, patient: bool) -> Columns:
    seen, complete = 0, False
    found: set[str] = set()
    lacking: tuple[str, list[str], list[str]] | None = None
    for each in probed:
        if each.naming is not None:
            if columns.id is None and not seen:
                return columns
            continue
        if each.probe.schema is not None:
            return schema_columns(each.probe.schema, columns, each.source.path, may_find_id=not seen)
        for sample in each.samples():
            if sample is None:
                if not patient:
                    return columns
                continue
            seen += 1
            present = sample.names()
            if seen == 1 and columns.id is None and _may_find_id(columns) and "id" in present:
                columns = replace(columns, id="id")
            here = {name for name in (*columns.texts, columns.id) if name is not None and sample.find(name)}
            found |= here.intersection(columns.texts)
            missing = [name for name in columns.texts if name not in found]
            if not here.intersection(columns.texts) and not missing:
                missing = list(columns.texts)
            if columns.id is not None and columns.id not in here:
                missing.append(columns.id)
            if missing:
                lacking = lacking or (each.source.path, present, missing)
            else:
                complete = True
                outcome = sample.parse(columns)
                if not isinstance(outcome, str):
                    return replace(columns, id_type=_id_type(outcome[1]))
                if not patient:
                    return columns
            if seen == PATIENCE and not complete:
                break
        if seen >= PATIENCE and not complete:
            break
    if lacking and not complete:
        path, present, missing = lacking
        _refuse(path, present, missing)
    return columns


def _order_type(probed: list[Probed], order: Order) -> Any:
    """Return the type of the first value in samples; documents may lack it, but not all of the first ones."""
    for each in probed:
        if each.naming is not None:
            raise UsageError(
                f"{each.source.path}: has no column {order.column!r}, because it is not a table. "
                "Use --keep first or longest, or leave it out."
            )
    samples = (sample for each in probed for sample in each.samples() if sample is not None)
    first, found = None, False
    for sample in islice(samples, SPARSE):
        first = first or sample.names()
        values = sample.find(order.column)
        found = found or bool(values)
        if values and values[0] is not None:
            return _VALUE_TYPES.get(type(values[0]), pa.large_string())
    if first is not None and not found:
        _refuse(next(each.source.path for each in probed if each.probe.samples is not None), first, [order.column])
    return pa.int64()


def _refuse(path: str, present: list[str], names: list[str]) -> None:
    check_names(pa.schema([pa.field(name, pa.null()) for name in present]), names, path)


def _may_find_id(columns: Columns) -> bool:
    return not columns.numbered and "id" not in columns.texts


def _id_type(value: object) -> Any:
    return None if value is None else pa.int64() if isinstance(value, int) else pa.large_string()
