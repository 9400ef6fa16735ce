r"""Catalogues of gettext as people edit them (.po): messages, their plural forms, and what is not finished.

An entry is a comment or none, perhaps `msgctxt`, then `msgid`, perhaps `msgid_plural`, and `msgstr` or `msgstr[0]` and
on; each is followed by strings in quotes, which belong together. Entries marked `#, fuzzy`, obsolete ones (`#~`) and
those without a translation are counted and left out. The entry of an empty `msgid` is the header, which names the
encoding.
"""

from __future__ import annotations

import re
from io import StringIO

from sosie.crosslingual.parallel.file import decode_line, raw_lines
from sosie.crosslingual.parallel.message import Message, charset_of
from sosie.crosslingual.parallel.segment import FUZZY, OBSOLETE, Gathered
from sosie.documents.input import Input
from sosie.errors import DataError

SUFFIXES = (".po", ".pot")
_LINE = re.compile(
    r'\s*+(msgctxt|msgid|msgid_plural|msgstr|msgstr\[(\d{1,3})\]|domain)?\s*+((?:"(?:[^"\\]++|\\.)*+"\s*+)++)'
)
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"')
# Bytes follow each other where they are one character; those of a long run are taken some at a time.
_OCTAL, _HEXADECIMAL = r"[0-3]?[0-7]{1,2}", r"x[0-9a-fA-F]{1,2}"
_ESCAPE = re.compile(
    rf"\\(?:({_OCTAL}(?:\\{_OCTAL}){{0,65535}}+)|({_HEXADECIMAL}(?:\\{_HEXADECIMAL}){{0,65535}}+)|(.))"
)
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_EMPTY = re.compile(rb'(?:msgid)?\s*""')
_OLD = re.compile(r"#~\s*msgid(?!_)")


def read_po(place: Input, gathered: Gathered) -> None:
    """Gather the messages of a catalogue that are translated."""
    encoding = _encoding(place)
    entry = _Entry(place)
    for number, raw in enumerate(raw_lines(place), 1):
        line = decode_line(raw, place, number, encoding).strip()
        if not line or line.startswith("#"):
            if entry.has_forms:
                entry = entry.finish(gathered)
            if line.startswith("#,") and "fuzzy" in map(str.strip, line[2:].split(",")):
                entry.fuzzy = True
            if _OLD.match(line):
                gathered.leave(OBSOLETE)
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise DataError(
                f"{place.path}, line {number:,}: is no line of a PO file (msgid or msgstr with a string in quotes, a "
                "comment after #, or a string). Mend it: msgfmt --check tells more."
            )
        keyword, form, strings = found.groups()
        if keyword == "msgctxt" or (keyword == "msgid" and "msgid" in entry.parts):
            entry = entry.finish(gathered)
        text = "".join(_unescaped(string, place, number, encoding) for string in _STRING.findall(strings))
        entry.take(keyword, form, text, number)
    entry.finish(gathered)


class _Entry:
    """An entry that is being read: the strings of each keyword, and the line that it begins on."""

    def __init__(self, place: Input) -> None:
        self.place = place
        self.parts: dict[str, list[str]] = {}
        self.forms: dict[int, str] = {}
        self.fuzzy = False
        self.line = 0
        self.last = ""

    @property
    def has_forms(self) -> bool:
        return bool(self.forms)

    def take(self, keyword: str | None, form: str | None, text: str, number: int) -> None:
        """Take the strings of a line: of a keyword, or more of the last one."""
        self.line = self.line or number
        if keyword is None:
            if not self.last:
                raise self._wrong(number, "a string that belongs to no msgid or msgstr")
            self.parts[self.last].append(text)
            return
        if keyword in self.parts:
            raise self._wrong(number, f"a second {keyword}")
        if keyword not in ("msgctxt", "msgid", "domain") and "msgid" not in self.parts:
            raise self._wrong(number, f"{keyword} without a msgid")
        self.parts[keyword] = [text]
        self.last = keyword
        if keyword.startswith("msgstr"):
            self.forms[int(form or 0)] = keyword

    def finish(self, gathered: Gathered) -> _Entry:
        """Gather what was read and return the next entry: this one, if nothing but its comments were read."""
        if self.parts.pop("domain", None):
            self.last = ""
        if not self.parts:
            return self
        if "msgid" not in self.parts or not self.forms:
            raise self._wrong(self.line, f"an entry without a {'msgstr' if 'msgid' in self.parts else 'msgid'}")
        self._gather(gathered)
        return _Entry(self.place)

    def _gather(self, gathered: Gathered) -> None:
        text = "".join(self.parts["msgid"])
        if not text and "msgctxt" not in self.parts:
            return  # the header
        if self.fuzzy:
            gathered.leave(FUZZY)
            return
        plural = "".join(self.parts["msgid_plural"]) if "msgid_plural" in self.parts else None
        forms = ["".join(self.parts[self.forms[number]]) for number in sorted(self.forms)]
        Message(text, plural, forms).gather(gathered)

    def _wrong(self, number: int, what: str) -> DataError:
        return DataError(f"{self.place.path}, line {number:,}: {what}. Mend it: msgfmt --check tells more.")


def _encoding(place: Input) -> str:
    """Return the encoding that the header names: the first entry, if its message is empty."""
    said: list[str] = []
    is_header = False
    for raw in raw_lines(place):
        line = raw.strip()
        if line.startswith(b"msgstr"):
            is_header = True
        elif is_header and not line.startswith(b'"'):
            break
        elif not is_header and line and not line.startswith((b"#", b"domain")) and not _EMPTY.fullmatch(line):
            break
        if is_header and b"charset=" in line:
            said.append(line[:10_000].decode("latin-1"))
    return charset_of("".join(said), place.path)


def _unescaped(string: str, place: Input, number: int, encoding: str) -> str:
    """Return a string as the program says it; escapes of bytes are characters of the catalogue's encoding."""
    if "\\" not in string:
        return string
    made, at = StringIO(), 0
    for found in _ESCAPE.finditer(string):
        made.write(string[at : found.start()])
        octal, hexadecimal, letter = found.groups()
        if letter is not None:
            made.write(_MEANING.get(letter, letter))
        else:
            digits = octal.split("\\") if octal is not None else hexadecimal.removeprefix("x").split("\\x")
            content = bytes(int(each, 8 if octal is not None else 16) for each in digits)
            made.write(decode_line(content, place, number, encoding))
        at = found.end()
    made.write(string[at:])
    return made.getvalue()
