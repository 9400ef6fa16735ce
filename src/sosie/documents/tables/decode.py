"""An Arrow batch to checked columns: what is null, not UTF-8 or beyond 64 bits is a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.batch import Records
from sosie.documents.columns import Columns
from sosie.documents.order import decode_order
from sosie.types import Bools


def decode_columns(batch: Any, columns: Columns) -> Records:
    """Check the texts, the ids and the order of an Arrow batch.

    >>> decode_columns(pa.record_batch({"text": ["a", None]}), Columns("text")).problems
    {1: "'text' is null"}
    """
    count = batch.num_rows
    problems: dict[int, str] = {}
    texts, ids, order = columns.split(batch.columns)
    texts = _as_text(texts)
    good = _usable_text(texts, columns.label, problems)
    if columns.id is not None:
        if columns.id_type == pa.int64():
            ids, usable = _as_integer(ids, columns.id, problems)
        else:
            ids = _as_text(ids)
            usable = _usable_text(ids, f"the id {columns.id!r}", problems)
        good &= usable
    if columns.order is not None:
        order, unread = decode_order(order, columns.order)
        problems = {**unread, **problems}
        good[list(unread)] = False
    accepted = np.flatnonzero(good)
    records = Records(count, texts, ids, np.arange(count), {}, None, count, order=order)
    return records if len(accepted) == count else records.without(dict(sorted(problems.items())))


def _as_text(array: Any) -> Any:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if pa.types.is_large_string(array.type) else array.cast(pa.large_string())


def _usable_text(array: Any, name: str, problems: dict[int, str]) -> Bools:
    good = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    for row in np.flatnonzero(~good).tolist():
        problems.setdefault(row, f"{name} is null")
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.large_binary())
        for row in np.flatnonzero(good).tolist():
            try:
                raw[row].as_py().decode("utf-8")
            except UnicodeDecodeError as error:
                good[row] = False
                problems.setdefault(row, f"{name} has invalid UTF-8 (byte {error.start + 1})")
    return good


def _as_integer(array: Any, name: str, problems: dict[int, str]) -> tuple[Any, Bools]:
    if pa.types.is_uint64(array.type):
        huge = pc.fill_null(pc.greater(array, pa.scalar(2**63 - 1, pa.uint64())), False)
        for row in np.flatnonzero(huge.to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(row, f"the id {name!r} is an integer beyond 64 bits; write it as text")
        array = pc.if_else(huge, None, array)
    array = array.cast(pa.int64())
    good = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    for row in np.flatnonzero(~good).tolist():
        problems.setdefault(row, f"the id {name!r} is null")
    return array, good
