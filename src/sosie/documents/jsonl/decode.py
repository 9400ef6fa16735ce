"""A block of JSON lines to columns: by Arrow as a whole where all is well, else line by line.

What is accepted is defined by `record.parse_line`. Arrow may refuse more (then the lines decide) but must never accept
more: its parser takes NaN, several objects on a line and objects over several lines, so these are looked for here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from sosie.documents.batch import Records
from sosie.documents.blocks import is_utf8
from sosie.documents.columns import Columns, Parsed, parsed_columns, single
from sosie.documents.jsonl.blocks import Lines, LongLine, find_lines
from sosie.documents.jsonl.record import NestedTooDeepError, parse_line
from sosie.documents.nested import nested_schema, pick_either
from sosie.documents.order import decode_order, order_value

# Arrow's block size and the strings of its parser are counted in 32 bits.
_ARROW_BYTES = 2**31 - 2
_KNOWN = 1024
_NOT_FINITE = re.compile(rb"(?:NaN|Inf(?:inity)?)(?:[,}\] \t\r]|$)")


def decode_block(block: bytes, columns: Columns) -> Records:
    r"""Decode the records of a block of whole lines.

    >>> decode_block(b'{"text": "a"}\n\n{"text": 1}\n', Columns("text")).problems
    {1: "'text' is a number, not text"}
    """
    if isinstance(block, LongLine):
        return bad_record(block.reason, columns)
    lines = find_lines(block)
    return parse_whole(block, lines, columns) or parse_each(block, lines, columns)


def bad_record(reason: str, columns: Columns) -> Records:
    """Return one record, on one line, that cannot be used and was not kept."""
    texts, ids, order = parsed_columns([], columns)
    return Records(1, texts, ids, np.empty(0, np.int64), {0: reason}, None, 1, None, order)


def parse_whole(block: bytes, lines: Lines, columns: Columns) -> Records | None:
    """Parse a block by Arrow; None if it refuses or if a line might not be exactly one object."""
    if not lines.objects or len(block) > _ARROW_BYTES or not is_utf8(block):
        return None
    arrays = _arrow_columns(block, columns) if len(lines) else parsed_columns([], columns)
    if arrays is None or len(arrays[0]) != len(lines):
        return None
    texts, ids, order = arrays
    null = _nulls(texts) | (_nulls(ids) if ids is not None else False)
    unread: dict[int, str] = {}
    if columns.order is not None:
        order, unread = decode_order(order, columns.order)
    problems = {}
    for position in sorted({*np.flatnonzero(null).tolist(), *_not_finite(block, lines), *unread}):
        outcome = _parse_one(block[lines.starts[position] : lines.ends[position]], columns)
        if isinstance(outcome, str):
            problems[position] = outcome
        elif null[position] or position in unread:
            return None
    return _records(block, lines, np.arange(len(lines)), (texts, ids, order), {}).without(problems)


def parse_each(block: bytes, lines: Lines, columns: Columns) -> Records:
    """Parse a block line by line, to find exactly the lines that are not documents."""
    good: list[int] = []
    parsed: list[Parsed] = []
    problems: dict[int, str] = {}
    known: dict[bytes, str] = {}  # the reasons of bad lines: a flood of them repeats itself
    for position, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        line = block[start:end]
        outcome = known.get(line) or _parse_one(line, columns)
        if isinstance(outcome, str):
            problems[position] = outcome
            if len(known) < _KNOWN:
                known[line] = outcome
        else:
            good.append(position)
            parsed.append(outcome)
    return _records(block, lines, np.array(good, np.int64), parsed_columns(parsed, columns), problems)


def _parse_one(line: bytes, columns: Columns) -> Parsed | str:
    try:
        return parse_line(line, columns)
    except NestedTooDeepError:
        return _parse_nested(line, columns)


def _parse_nested(line: bytes, columns: Columns) -> Parsed | str:
    """Ask Arrow about a line that is nested too deeply for the standard library."""
    lines = find_lines(line)
    usable = lines.objects and len(line) <= _ARROW_BYTES and is_utf8(line)
    arrays = _arrow_columns(line, columns) if usable else None
    if arrays is None or len(arrays[0]) != 1 or any(array.null_count for array in arrays[:2] if array is not None):
        return "broken JSON, or nested too deeply to say what is wrong"
    if _not_finite(line, lines):
        return "broken JSON (NaN or Infinity in a line that is nested too deeply to say where)"
    values: list[Any] = [None if array is None else array[0].as_py() for array in arrays]
    order = None if columns.order is None else order_value(values[2], columns.order)
    return order if isinstance(order, str) else (values[0], values[1], order)


def _arrow_columns(block: bytes, columns: Columns) -> tuple[Any, Any, Any] | None:
    """Return the texts, the ids and the values of the order as Arrow reads them, None if it refuses."""
    for kind in _ATTEMPTS.get(columns.order_type, [columns.order_type]):
        schema = nested_schema(_types(columns, kind))
        table = None if schema is None else _arrow_table(block, schema)
        if table is None:
            continue
        texts, ids, order = columns.split([single(pick_either(table, name)) for name in columns.names])
        if order is not None and kind == pa.float64() and not _exact(order):
            return None
        return texts, ids, order
    return None


# Where the first value of the order column is an integer, others may have a fraction.
_ATTEMPTS = {pa.int64(): [pa.int64(), pa.float64()]}


def _types(columns: Columns, order_type: Any) -> dict[str, Any]:
    types = {} if columns.order is None else {columns.order.column: order_type}
    if columns.id is not None:
        types[columns.id] = columns.id_type
    return {**types, **dict.fromkeys(columns.texts, pa.large_string())}


def _exact(numbers: Any) -> bool:
    """Whether no float64 may stand for another integer than the one that was written."""
    return not len(numbers) or not np.any(np.abs(numbers.fill_null(0).to_numpy(zero_copy_only=False)) >= 2.0**53)


def _arrow_table(block: bytes, schema: Any) -> Any:
    read = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parse = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        return pj.read_json(pa.BufferReader(block), read_options=read, parse_options=parse)
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def _not_finite(block: bytes, lines: Lines) -> list[int]:
    """Return the lines that may hold NaN or Infinity as a value, which Arrow accepts though JSON does not."""
    data = np.frombuffer(block, np.uint8)
    capitals = np.flatnonzero((data == ord("N")) | (data == ord("I")))
    capitals = capitals[(capitals > 0) & (capitals < len(data) - 2)]
    literal = np.isin(data[capitals + 2], list(b"Nf")) & np.isin(data[capitals - 1], list(b":,[- \t\r"))
    found = [at for at in capitals[literal].tolist() if _NOT_FINITE.match(block, at) and _before(block, at) in b":,[-"]
    return np.unique(np.searchsorted(lines.starts, found, side="right") - 1).tolist() if found else []


def _before(block: bytes, at: int) -> bytes:
    """Return the last byte before a position that is not white space."""
    while at > 0 and block[at - 1] in b" \t\r":
        at -= 1
    return block[at - 1 : at]


def _records(
    block: bytes, lines: Lines, accepted: Any, columns: tuple[Any, Any, Any], problems: dict[int, str]
) -> Records:
    starts, ends = lines.starts.data, lines.ends.data  # numbers come faster from these than from arrays

    def raw(position: int) -> str:
        return block[starts[position] : ends[position]].rstrip(b"\r").decode("utf-8", "backslashreplace")

    texts, ids, order = columns
    return Records(len(lines), texts, ids, accepted, problems, lines.numbers, lines.total, raw, order)


def _nulls(array: Any) -> Any:
    if not array.null_count:
        return np.zeros(len(array), bool)
    return array.is_null().to_numpy(zero_copy_only=False)
