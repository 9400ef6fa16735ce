"""A block of CSV or TSV to columns: by Arrow as a whole where all is well, else record by record.

What is accepted is defined by `record.parse_record`. Arrow may refuse more (then the records decide) but must never
accept more: it takes NUL bytes, a carriage return alone as a line end, and skips a byte order mark before any block,
so these are looked for here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from sosie.documents.batch import Records
from sosie.documents.blocks import BOM, is_utf8
from sosie.documents.columns import Columns, Parsed, parsed_columns, single
from sosie.documents.csv.blocks import CsvBlock
from sosie.documents.csv.record import parse_record, without_return
from sosie.documents.order import decode_order

# Arrow's block size is counted in 32 bits.
_ARROW_BYTES = 2**31 - 2
_KNOWN = 1024
_NEWLINE, _RETURN = b"\n\r"


def decode_records(block: CsvBlock, columns: Columns) -> Records:
    """Decode the records of a block; all values are text."""
    if block.problem is not None:
        return _records(block, np.empty(0, np.int64), parsed_columns([], columns), {0: block.problem}, kept=False)
    return records_whole(block, columns) or records_each(block, columns)


def records_whole(block: CsvBlock, columns: Columns) -> Records | None:
    """Parse a block by Arrow; None if it refuses or might read anything else than `parse_record`."""
    data = block.data
    if not len(block):
        return _records(block, np.empty(0, np.int64), parsed_columns([], columns), {})
    if not block.regular or len(data) > _ARROW_BYTES or b"\0" in data or data.startswith(BOM, block.starts[0]):
        return None
    if _lone_return(data) or not is_utf8(data):
        return None
    table = _arrow_table(block, columns)
    if table is None or len(table) != len(block):
        return None
    texts, ids, order = columns.split([single(column) for column in table.columns])
    unread: dict[int, str] = {}
    if columns.order is not None:
        order, unread = decode_order(order, columns.order)
    return _records(block, np.arange(len(block)), (texts, ids, order), {}).without(unread)


def records_each(block: CsvBlock, columns: Columns) -> Records:
    """Parse a block record by record, to find exactly those that are not documents."""
    good: list[int] = []
    parsed: list[Parsed] = []
    problems: dict[int, str] = {}
    known: dict[bytes, str] = {}  # the reasons of bad records: a flood of them repeats itself
    for position, (start, end) in enumerate(zip(block.starts.tolist(), block.ends.tolist(), strict=True)):
        record = block.data[start:end]
        outcome = known.get(record) or parse_record(without_return(record), block.header, columns)
        if isinstance(outcome, str):
            problems[position] = outcome
            if len(known) < _KNOWN:
                known[record] = outcome
        else:
            good.append(position)
            parsed.append(outcome)
    return _records(block, np.array(good, np.int64), parsed_columns(parsed, columns), problems)


def _arrow_table(block: CsvBlock, columns: Columns) -> Any:
    body = pa.py_buffer(block.data).slice(int(block.starts[0]))
    # Columns are named by their places: names that are not read may repeat.
    names = [str(place) for place in range(len(block.header.names))]
    wanted = [str(block.header.names.index(name)) for name in columns.names]
    read = pc.ReadOptions(use_threads=False, block_size=len(block.data) + 1, column_names=names)
    # Arrow looks for record ends of its own, and slowly where newlines may be in quotes; a final newline is one.
    whole = block.data.endswith(b"\n")
    parse = pc.ParseOptions(delimiter=block.header.delimiter.decode(), newlines_in_values=not whole)
    convert = pc.ConvertOptions(
        check_utf8=False,
        column_types=dict.fromkeys(wanted, pa.large_string()),
        include_columns=wanted,
        strings_can_be_null=False,
    )
    try:
        return pc.read_csv(pa.BufferReader(body), read, parse, convert)
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def _lone_return(data: bytes) -> bool:
    """Whether a carriage return is there that no newline follows, in quotes or not."""
    if b"\r" not in data:
        return False
    array = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero(array == _RETURN)
    return bool(returns[-1] == len(array) - 1 or np.any(array[returns + 1] != _NEWLINE))


def _records(
    block: CsvBlock, accepted: Any, columns: tuple[Any, Any, Any], problems: dict[int, str], kept: bool = True
) -> Records:
    starts, ends = block.starts.data, block.ends.data  # numbers come faster from these than from arrays

    def raw(position: int) -> str:
        record = without_return(block.data[starts[position] : ends[position]])
        return record.decode("utf-8", "backslashreplace")

    texts, ids, order = columns
    shown = raw if kept else None
    return Records(len(block), texts, ids, accepted, problems, block.numbers, block.total, shown, order)
