"""Tiny writers of catalogues and translation memories, to be read again."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

MAGIC = 0x950412DE
HEADER = "Project-Id-Version: x\nContent-Type: text/plain; charset={}\n"


class Entry(NamedTuple):
    """One message of a catalogue, as a test wants it."""

    text: str
    forms: tuple[str, ...]
    plural: str | None = None
    context: str | None = None
    fuzzy: bool = False


def quoted(text: str) -> str:
    """Return a text as PO writes it: one string for each of its lines."""
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\0": "\\000"}
    return "\n".join('"' + "".join(escapes.get(letter, letter) for letter in line) + '"' for line in lines)


def po(entries: Sequence[Entry], charset: str = "UTF-8") -> bytes:
    """Return a catalogue as people edit it."""
    blocks = [f'msgid ""\nmsgstr {quoted(HEADER.format(charset))}\n']
    for entry in entries:
        lines = ["#: main.c:17", "# a comment"]
        lines += ["#, c-format, fuzzy", '#| msgid "before"'] if entry.fuzzy else []
        lines += [f"msgctxt {quoted(entry.context)}"] if entry.context is not None else []
        lines += [f"msgid {quoted(entry.text)}"]
        if entry.plural is None:
            lines += [f"msgstr {quoted(entry.forms[0])}"]
        else:
            lines += [f"msgid_plural {quoted(entry.plural)}"]
            lines += [f"msgstr[{number}] {quoted(form)}" for number, form in enumerate(entry.forms)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks).encode(charset)


def mo(entries: Sequence[Entry], charset: str = "UTF-8", order: str = "<", header: bool = True) -> bytes:
    """Return a catalogue as programs read it."""
    pairs = [(b"", HEADER.format(charset).encode())] if header else []
    for entry in entries:
        key = (entry.context + "\x04" if entry.context is not None else "") + entry.text
        key += "\0" + entry.plural if entry.plural is not None else ""
        pairs.append((key.encode(charset), "\0".join(entry.forms).encode(charset)))
    at = 28 + 16 * len(pairs)
    tables, strings = [], b""
    for side in (0, 1):
        for pair in pairs:
            tables += [len(pair[side]), at + len(strings)]
            strings += pair[side] + b"\0"
    head = (MAGIC, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 28 + 16 * len(pairs))
    return struct.pack(f"{order}{7 + len(tables)}I", *head, *tables) + strings


def tmx(units: Sequence[Sequence[tuple[str, str]]], srclang: str | None = "de", attribute: str = "xml:lang") -> str:
    """Return a translation memory."""
    said = "" if srclang is None else f' srclang="{srclang}"'
    body = "".join(
        "<tu>" + "".join(f'<tuv {attribute}="{tag}"><seg>{escape(text)}</seg></tuv>' for tag, text in unit) + "</tu>\n"
        for unit in units
    )
    return f'<?xml version="1.0"?>\n<tmx version="1.4"><header{said}/><body>\n{body}</body></tmx>\n'
