"""Values as a person reads them: numbers with their nouns, texts without commands, or a small table in a notebook."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from html import escape
from typing import Any

# What a terminal may take for a command, or what lets a line read as another: the codes C0 and C1, separators of lines,
# the controls of bidirectional text (Unicode's Bidi_Control and the deprecated ones beside), annotations, invisible
# tags, and halves of characters, which cannot be written at all.
_COMMANDS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKS = re.compile(_COMMANDS.pattern.replace("\x00-", "\x00-\x09\x0b-", 1))
_log = logging.getLogger("sosie")
_YEAR = 365 * 86_400  # seconds
_UNITS = (  # of time: from which on it is used, what it is, and its name
    *((2 * _YEAR, _YEAR, "years"), (172_800, 86_400, "days"), (7_200, 3_600, "h"), (180, 60, "min"), (0.1, 1, "s")),
)
_CELL = 'style="text-align: left; padding: 0.1em 0.8em; vertical-align: top"'


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "cluster"), counted(2_000, "cluster")
    ('1 cluster', '2,000 clusters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str, lines: bool = False) -> str:
    r"""Return a text in which no character is a command to a terminal: those are written as escapes.

    With `lines`, line feeds stay as they are.

    >>> printable("a\x1b[2J\n\u202eb"), printable("a\n\x9bb", lines=True)
    ('a\\x1b[2J\\n\\u202eb', 'a\n\\x9bb')
    """
    commands = _BREAKS if lines else _COMMANDS
    return commands.sub(lambda found: ascii(found[0])[1:-1], text) if commands.search(text) else text


def as_json(value: Any, ensure_ascii: bool = False) -> str:
    r"""Return a value as one line of JSON that can be printed: letters as they are, what could be a command escaped.

    >>> print(as_json({"id": "é\x9b\u202e"}))
    {"id": "é\u009b\u202e"}
    """
    return _COMMANDS.sub(_as_json_escape, json.dumps(value, ensure_ascii=ensure_ascii))


def printable_json(lines: str) -> str:
    r"""Return lines of JSON that can be printed, as `as_json` writes them.

    >>> print(printable_json('{"id": "\x9b"}\n{"id": "b"}'))
    {"id": "\u009b"}
    {"id": "b"}
    """
    return _BREAKS.sub(_as_json_escape, lines)


def _as_json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] > "\x7f" else f"\\u{ord(found[0]):04x}"


def _without_commands(record: logging.LogRecord) -> bool:
    """Write what a record says so that it can be printed; names of files are in it."""
    said = record.getMessage()
    if (clean := printable(said)) != said:
        record.msg, record.args = clean, ()
    return True


_log.addFilter(_without_commands)


def as_text(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return names and values as lines under a title.

    >>> print(as_text("Deduplication", [("kept", "2")]))
    Deduplication
      kept       2
    """
    shown = (f"  {printable(name):<10} {printable(value)}".rstrip() for name, value in lines)
    return "\n".join([printable(title), *shown])


def as_html(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return names and values under a title as a table of HTML, in which nothing is markup that is not ours.

    >>> "<b>" in as_html("<b>", [("<b>", "<b>")])
    False
    """
    rows = "".join(f"<tr><th {_CELL}>{escape(name)}</th><td {_CELL}>{escape(value)}</td></tr>" for name, value in lines)
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table></div>"


def show_share(share: float) -> str:
    """Return a share to three digits; only what is whole reads 1.

    >>> show_share(1.0), show_share(0.95), show_share(0.9584), show_share(0.99999), show_share(0.0)
    ('1', '.95', '.958', '.999', '0')
    """
    if share in (0, 1):
        return f"{share:.0f}"
    return f"{min(max(share, 0.001), 0.999):.3f}".rstrip("0")[1:]


def show_seconds(seconds: float) -> str:
    """Return a time for people to read, to two digits.

    >>> [show_seconds(each) for each in (3e-6, 0.0042, 0.38, 4.16, 41.2, 100, 3000, 90_000, 10**6, 10**9, 10**12)]
    ['3 µs', '4.2 ms', '0.38 s', '4.2 s', '41 s', '100 s', '50 min', '25 h', '12 days', '32 years',
     '1,000 years and more']
    """
    if seconds >= 1000 * _YEAR:
        return "1,000 years and more"
    for least, unit, name in _UNITS:
        if seconds >= least:
            return f"{_two_digits(seconds / unit)} {name}"
    return f"{_two_digits(1e3 * seconds)} ms" if seconds >= 1e-4 else f"{_two_digits(1e6 * seconds)} µs"


def _two_digits(number: float) -> str:
    """Return a number to two digits, as a decimal."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
