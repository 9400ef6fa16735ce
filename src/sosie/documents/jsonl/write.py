"""JSON lines to their places: copied byte for byte, or with more members."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.columns import single
from sosie.documents.jsonl.blocks import BLANK, Lines, find_lines, read_blocks
from sosie.documents.jsonl.record import members_of
from sosie.documents.share import ANNOTATED, Share, free_names
from sosie.documents.splice import TEXT, concatenated, joined, json_literals, spans
from sosie.documents.write_blocks import Portion, RecordCut, cut_portions, split_blocks
from sosie.parallel import ordered_map
from sosie.types import I64

_OPEN = ord("{")
_STEPS = 4
_NUMBER = r"(?:(?:_|\\u005[fF])(?:[0-9]|\\u003[0-9])+)*"
_IS_BLANK = np.isin(np.arange(256), list(BLANK))


def split_lines(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the lines of one input to their places; return how many records it had.

    Where all documents are annotated, a member has one name in the whole file; else each line has the first free one.
    """
    blocks = _blocks(share)
    known = MemberNames(share.added.names)
    if share.copies is None:
        names = free_names(share.added.names, taken_names(cut_portions(share, _blocks(share)), known, threads))
        return split_blocks(share, blocks, partial(annotate_lines, names=names), (b"", b""), threads, advance)
    return split_blocks(share, blocks, partial(extend_lines, known=known), (b"", b""), threads, advance)


def annotate_lines(cut: RecordCut, added: Any, names: list[str]) -> bytes:
    r"""Put members into the objects of some lines, which stay byte for byte what they are around them.

    >>> line = b'{"text": "a rose" }\r\n'
    >>> annotate_lines(RecordCut(line, np.array([0]), np.array([20])), pa.table({"kept": [True]}), ["kept_1"])
    b'{"text": "a rose", "kept_1": true }\r\n'
    """
    return concatenated(joined(annotated_objects(cut, added, names), "\n"))


def annotated_objects(cut: RecordCut, added: Any, names: list[str]) -> Any:
    """Return some objects with members put into them, each as text."""
    at = _insertions(cut)
    tails = joined(_separators(cut, at), _members(added, names))
    return joined(spans(cut.block, cut.starts, at), tails, spans(cut.block, at, cut.ends))


def extend_lines(cut: RecordCut, added: Any, known: MemberNames) -> bytes:
    r"""Append members to the objects of some lines, each under the first name that is free in its line.

    >>> line = b'{"text": "a rose", "kept": 1 }\r\n'
    >>> extend_lines(RecordCut(line, np.array([0]), np.array([31])), pa.table({"kept": [True]}), MemberNames(["kept"]))
    b'{"text": "a rose", "kept": 1, "kept_1": true}\n'
    """
    return concatenated(joined(extended_objects(cut, added, known), "\n"))


def extended_objects(cut: RecordCut, added: Any, known: MemberNames) -> Any:
    """Return some objects with members appended, each under the first name that is free in it, as text."""
    at = _insertions(cut)
    bodies = spans(cut.block, cut.starts, at)
    members = _members(added, added.column_names)
    for names, lines in _clashes(bodies, added.column_names, known).items():
        chosen = np.isin(np.arange(len(bodies)), lines)
        own = _members(added.filter(pa.array(chosen)), names)
        members = pc.replace_with_mask(members, pa.array(chosen), own)
    return joined(bodies, _separators(cut, at), members, "}")


def _clashes(bodies: Any, wanted: list[str], known: MemberNames) -> dict[tuple[str, ...], list[int]]:
    """Return the lines in which a wanted name is taken, by the names that are free there."""
    found: dict[tuple[str, ...], list[int]] = {}
    lines = np.flatnonzero(known.suspects(bodies)).tolist()
    for line, body in zip(lines, bodies.take(pa.array(lines, pa.int64())).to_pylist(), strict=True):
        names = free_names(wanted, known.members(f"{body}}}".encode()))
        if names != wanted:
            found.setdefault(tuple(names), []).append(line)
    return found


def _insertions(cut: RecordCut) -> I64:
    """Return where each object ends, before its closing brace and the blanks around that."""
    return _before_blanks(cut, _before_blanks(cut, cut.ends) - 1)


def _before_blanks(cut: RecordCut, stops: I64) -> I64:
    """Move a stop in each line back over blanks: a few in all lines at once, a longer run in its own line."""
    data, stops, moving = np.frombuffer(cut.block, np.uint8), stops.copy(), np.arange(len(stops))
    for _ in range(_STEPS):
        moving = moving[_IS_BLANK[data[stops[moving] - 1]]]
        stops[moving] -= 1
    for line in moving.tolist():
        start = int(cut.starts[line])
        stops[line] = start + len(cut.block[start : stops[line]].rstrip(BLANK))
    return stops


def _separators(cut: RecordCut, at: I64) -> Any:
    """Return what stands before the first new member: a comma unless it is the only one."""
    empty = np.frombuffer(cut.block, np.uint8)[at - 1] == _OPEN
    return pc.if_else(pa.array(empty), pa.scalar("", TEXT), pa.scalar(", ", TEXT))


def _members(added: Any, names: Iterable[str]) -> Any:
    parts: list[Any] = []
    for name, column in zip(names, added.columns, strict=True):
        comma = ", " if parts else ""
        parts += [f"{comma}{json.dumps(name, ensure_ascii=False)}: ", json_literals(single(column))]
    return joined(*parts)


def taken_names(portions: Iterable[Portion], known: MemberNames, threads: int | None) -> set[str]:
    """Return the names that are in the way: members of documents of this input have them."""
    return set().union(*ordered_map(partial(_taken_in, known=known), portions, threads))


def _blocks(share: Share) -> Iterator[tuple[bytes, Lines]]:
    return ((block, find_lines(block)) for block in read_blocks(share.source))


def _taken_in(portion: Portion, known: MemberNames) -> set[str]:
    cut = portion.cut(ANNOTATED)
    lines = spans(cut.block, cut.starts, cut.ends)
    taken: set[str] = set()
    for line in lines.filter(known.suspects(lines)).to_pylist():
        raw = line.encode()
        if not known.spelt(raw) <= taken:
            taken |= known.spelt(raw) & known.members(raw)
    return taken


class MemberNames:
    r"""Some names, and those made of them by numbers (`kept_1`), in every spelling that JSON has for them.

    >>> import pyarrow as pa
    >>> names = MemberNames(["kept"])
    >>> names.suspects(pa.array(['{"text": "kept"}', '{"\\u006bept_1": 0}', '{"kept by": 0}'])).to_pylist()
    [False, True, False]
    >>> sorted(names.spelt(b'{"\\u006bept_1": {"kept": 0}}')), names.members(b'{"\\u006bept_1": {"kept": 0}}')
    (['kept', 'kept_1'], {'kept_1'})
    """

    def __init__(self, names: Iterable[str]) -> None:
        spelt = "|".join("".join(map(_spellings, name)) for name in names)
        self._pattern = f'("(?:{spelt}){_NUMBER}")[ \t\r\n]*:'
        self._in_line = re.compile(self._pattern.encode("utf-8"))

    def suspects(self, lines: Any) -> Any:
        """Return for each line whether a member, at any depth, may have one of the names."""
        return pc.match_substring_regex(lines, self._pattern)

    def spelt(self, line: bytes) -> set[str]:
        """Return those of the names that members have at any depth."""
        return {json.loads(match) for match in self._in_line.findall(line)}

    def members(self, line: bytes) -> set[str]:
        """Return the names of the members of the object in a line; those spelt, if it is nested too deeply to parse."""
        members = members_of(line)
        return self.spelt(line) if members is None else set(members.names())


def _spellings(character: str) -> str:
    r"""Return a pattern for one character of a JSON string: itself or its short escape, or escapes of UTF-16 units."""
    units = character.encode("utf-16-be").hex()
    ways = ["".join(rf"\\u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))]
    ways.append(re.escape(json.dumps(character, ensure_ascii=False)[1:-1]))
    if character == "/":
        ways.append(r"\\/")
    return f"(?:{'|'.join(ways)})"
