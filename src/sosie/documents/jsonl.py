"""A block of JSON lines to columns: by Arrow as a whole where all is well, else line by line.

What is accepted is defined by `line.parse_line`. Arrow may refuse more (then the lines decide) but must never accept
more: its parser takes NaN, several objects on a line and objects over several lines, so these are looked for here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from sosie.documents.batch import Records
from sosie.documents.blocks import Lines, find_lines, is_utf8
from sosie.documents.columns import Columns, single
from sosie.documents.line import NestedTooDeepError, Parsed, parse_line

# Arrow's block size and the strings of its parser are counted in 32 bits.
_ARROW_BYTES = 2**31 - 2
_NOT_FINITE = re.compile(rb"(?:NaN|Inf(?:inity)?)(?:[,}\] \t\r]|$)")


def decode_block(block: bytes, columns: Columns) -> Records:
    r"""Decode the records of a block of whole lines.

    >>> decode_block(b'{"text": "a"}\n\n{"text": 1}\n', Columns("text")).problems
    {1: "'text' is a number, not text"}
    """
    lines = find_lines(block)
    return parse_whole(block, lines, columns) or parse_each(block, lines, columns)


def parse_whole(block: bytes, lines: Lines, columns: Columns) -> Records | None:
    """Parse a block by Arrow; None if it refuses or if a line might not be exactly one object."""
    if not lines.objects or len(block) > _ARROW_BYTES or not is_utf8(block):
        return None
    table = _arrow_table(block, columns) if len(lines) else columns.schema.empty_table()
    if table is None or len(table) != len(lines):
        return None
    texts, *rest = (single(column) for column in table.columns)
    ids = rest[0] if rest else None
    null = _nulls(texts) | (_nulls(ids) if ids is not None else False)
    problems = {}
    for position in sorted({*np.flatnonzero(null).tolist(), *_not_finite(block, lines)}):
        outcome = _parse_one(block, lines, position, columns)
        if isinstance(outcome, str):
            problems[position] = outcome
        elif null[position]:
            return None
    records = _records(block, lines, np.arange(len(lines)), texts, ids, {})
    return records.without(problems)


def parse_each(block: bytes, lines: Lines, columns: Columns) -> Records:
    """Parse a block line by line, to find exactly the lines that are not documents."""
    good: list[int] = []
    parsed: list[Parsed] = []
    problems: dict[int, str] = {}
    for position in range(len(lines)):
        outcome = _parse_one(block, lines, position, columns)
        if isinstance(outcome, str):
            problems[position] = outcome
        else:
            good.append(position)
            parsed.append(outcome)
    texts = pa.array([text for text, _ in parsed], pa.large_string())
    ids = None if columns.id is None else pa.array([identifier for _, identifier in parsed], columns.id_type)
    return _records(block, lines, np.array(good, np.int64), texts, ids, problems)


def _parse_one(block: bytes, lines: Lines, position: int, columns: Columns) -> Parsed | str:
    line = block[lines.starts[position] : lines.ends[position]]
    try:
        return parse_line(line, columns)
    except NestedTooDeepError:
        return _parse_nested(line, columns)


def _parse_nested(line: bytes, columns: Columns) -> Parsed | str:
    """Ask Arrow about a line that is nested too deeply for the standard library."""
    lines = find_lines(line)
    table = _arrow_table(line, columns) if lines.objects and len(line) <= _ARROW_BYTES and is_utf8(line) else None
    if table is None or len(table) != 1 or any(column.null_count for column in table.columns):
        return "broken JSON, or nested too deeply to say what is wrong"
    if _not_finite(line, lines):
        return "broken JSON (NaN or Infinity in a line that is nested too deeply to say where)"
    text, *rest = (column[0].as_py() for column in table.columns)
    return text, rest[0] if rest else None


def _arrow_table(block: bytes, columns: Columns) -> Any:
    read = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parse = pj.ParseOptions(explicit_schema=columns.schema, unexpected_field_behavior="ignore")
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


def _records(block: bytes, lines: Lines, accepted: Any, texts: Any, ids: Any, problems: dict[int, str]) -> Records:
    def raw(position: int) -> str:
        line = block[lines.starts[position] : lines.ends[position]]
        return line.rstrip(b"\r").decode("utf-8", "backslashreplace")

    return Records(len(lines), texts, ids, accepted, problems, lines.numbers, lines.total, raw)


def _nulls(array: Any) -> Any:
    if not array.null_count:
        return np.zeros(len(array), bool)
    return array.is_null().to_numpy(zero_copy_only=False)
