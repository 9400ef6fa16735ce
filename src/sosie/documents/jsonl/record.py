"""One line of JSONL, read by the standard library: what is accepted, and the exact reason where it is not.

This defines what a document is; the fast path in `decode` must agree with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from sosie.documents.columns import Columns, Parsed
from sosie.documents.order import order_value

MAX_ID = 2**63 - 1
_NAMED = 10  # texts inside an object that a message names, and levels that it looks into


class Members(list[tuple[str, Any]]):
    """The members of a JSON object in their order, duplicates included."""

    def names(self) -> list[str]:
        """Return the distinct names in their order, lone surrogates as escapes."""
        return [_escaped(name) for name in dict(self)]

    def find(self, name: str) -> list[Any]:
        """Return the values of a name: of the very name, else of the member that a dotted name leads to.

        >>> Members([("meta", Members([("body", "a rose")]))]).find("meta.body")
        ['a rose']
        """
        found = [value for key, value in self if key == name]
        if "." not in name or (found and found != [None]):
            return found
        inside: list[Any] = [self]
        for step in name.split("."):
            inside = [value for at in inside if isinstance(at, Members) for key, value in at if key == step]
        return inside or found


class NestedTooDeepError(Exception):
    """The standard library cannot parse this line; the fast path can."""


class _NotFiniteError(ValueError):
    pass


class _Huge(str):
    """An integer too long for an id, kept as its digits."""


def parse_line(line: bytes, columns: Columns) -> Parsed | str:
    """Return text, id (None where ids are made) and order of a line, or the reason why it is not a document.

    Without `columns.id_type` the id may be of either type. A member that decides the order may be missing.

    >>> parse_line(b'{"text": "a rose", "id": 7}', Columns("text", "id"))
    ('a rose', 7, None)
    >>> parse_line(b'{"text": 5}', Columns("text"))
    "'text' is a number, not text"
    """
    members = _load(line)
    if isinstance(members, str):
        return members
    values = {}
    for name in columns.names:
        found = members.find(name)
        if len(found) > 1:
            return f"the column {name!r} occurs {len(found)} times"
        if not found and name in (columns.text, columns.id):
            return f"no column {name!r} (there are: {', '.join(members.names()) or 'none'})"
        values[name] = found[0] if found else None
    parts = []
    for name in columns.texts:
        part = values[name]
        if part is None and len(columns.texts) > 1:
            continue
        if not isinstance(part, str) or isinstance(part, _Huge):
            return f"{name!r} is {_kind(part)}, not text{_inside(part, name)}"
        if reason := _surrogate(part, name):
            return reason
        parts.append(part)
    if not parts:
        return f"{columns.label} is null or not there (there are: {', '.join(members.names()) or 'none'})"
    text = "\n".join(parts)
    identifier = None if columns.id is None else values[columns.id]
    if columns.id is not None and (reason := _wrong_id(identifier, columns)):
        return reason
    order = None if columns.order is None else order_value(values[columns.order.column], columns.order)
    return order if isinstance(order, str) else (text, identifier, order)


def members_of(line: bytes) -> Members | None:
    """Return the members of a line that is a JSON object, else None."""
    try:
        members = _load(line)
    except NestedTooDeepError:
        return None
    return members if isinstance(members, Members) else None


def _load(line: bytes) -> Members | str:
    try:
        text = line.decode("utf-8")
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected byte order mark", text, 0)
        value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 (byte {error.start + 1} of the line)"
    except json.JSONDecodeError as error:
        return f"broken JSON ({error.msg}, column {error.colno})"
    except _NotFiniteError as error:
        return f"broken JSON ({error} is not a JSON number; write null)"
    except RecursionError:
        raise NestedTooDeepError from None
    return value if isinstance(value, Members) else f"not an object but {_kind(value)}"


def _refuse(literal: str) -> None:
    raise _NotFiniteError(literal)


def _integer(digits: str) -> int | _Huge:
    return int(digits) if len(digits) <= 20 else _Huge(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_refuse, parse_int=_integer)


def _wrong_id(value: Any, columns: Columns) -> str | None:
    name = columns.id
    if isinstance(value, _Huge) or (isinstance(value, int) and not -MAX_ID - 1 <= value <= MAX_ID):
        return f"the id {name!r} is an integer beyond 64 bits; write it as text"
    if isinstance(value, bool) or not isinstance(value, str | int):
        return f"the id {name!r} is {_kind(value)}; ids are integers or text"
    if columns.id_type is not None and isinstance(value, int) != (columns.id_type == pa.int64()):
        wanted = "an integer" if columns.id_type == pa.int64() else "text"
        return f"the id {name!r} is {_kind(value)} here and {wanted} in the first document; use one type"
    return _surrogate(value, str(name)) if isinstance(value, str) else None


def _surrogate(text: str, name: str) -> str | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"{name!r} has the lone surrogate \\u{ord(text[error.start]):04x}, which is not a character"
    return None


def _inside(value: object, name: str) -> str:
    """Say which texts an object holds, by their dotted names."""
    texts = list(islice(_texts(value, name), _NAMED))
    return f"; the texts inside are: {', '.join(texts)}" if texts else ""


def _texts(value: object, name: str) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, _Huge):
        yield name
    elif isinstance(value, Members) and name.count(".") < _NAMED:
        for key, inside in value:
            yield from _texts(inside, f"{name}.{_escaped(key)}")


def _escaped(name: str) -> str:
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float | _Huge):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, Members) else "a list"
