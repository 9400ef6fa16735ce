"""Whether members of JSON objects have certain names, however these are spelt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pyarrow.compute as pc

from sosie.documents.line import members_of

_NUMBER = r"(?:(?:_|\\u005[fF])(?:[0-9]|\\u003[0-9])+)*"


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
        self._pattern = f'("(?:{spelt}){_NUMBER}")[ \t\r]*:'
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
