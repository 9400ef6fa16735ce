"""Catalogues of gettext as programs read them (.mo): two tables of strings, of which nothing is trusted.

A file begins with seven numbers of 32 bits in the order of the machine that wrote it: a magic number, a revision, how
many strings there are, and where the tables of the messages and of their translations begin. An entry of a table is the
length of a string and where it begins. https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sosie.crosslingual.parallel.file import read_bytes
from sosie.crosslingual.parallel.message import Message, charset_of
from sosie.crosslingual.parallel.segment import Gathered
from sosie.documents.input import Input
from sosie.errors import DataError
from sosie.types import I64

SUFFIXES = (".mo", ".gmo")
_MAGIC = 0x950412DE
_HEADER = 20  # bytes of the five numbers that are read
# Strings may share bytes, but not so that a small file takes much memory: together they are at most so many times it.
_SHARED = 8
_CONTEXT, _END = b"\x04", b"\0"


def read_mo(place: Input, gathered: Gathered) -> None:
    """Gather the messages of a catalogue."""
    data = read_bytes(place)
    pairs = _pairs(data, place)
    encoding = "utf-8"
    for number, (key, value) in enumerate(pairs):
        if not key:
            if number == 0:  # strings are sorted: the header is the first, if there is one
                encoding = charset_of(value[:10_000].decode("latin-1"), place.path)
            continue
        _, context, rest = key.partition(_CONTEXT)
        text, plural, more = (rest if context else key).partition(_END)
        forms = value.split(_END) if plural else [value.partition(_END)[0]]
        try:
            message = Message(
                text.decode(encoding),
                more.partition(_END)[0].decode(encoding) if plural else None,
                [form.decode(encoding) for form in forms],
            )
        except UnicodeError as error:
            name = "UTF-8" if encoding == "utf-8" else encoding
            raise DataError(
                f"{place.path}: message {number:,} is not {name}. Make the file again: msgfmt, from the .po file."
            ) from error
        message.gather(gathered)


def _pairs(data: bytes, place: Input) -> Iterator[tuple[bytes, bytes]]:
    """Yield the strings of both tables; all places are checked before the first is read."""
    if len(data) < _HEADER:
        raise _damaged(place, f"it has {len(data)} bytes")
    order = next((kind for kind in ("<u4", ">u4") if np.frombuffer(data, kind, 1)[0] == _MAGIC), None)
    if order is None:
        raise _damaged(place, "it does not begin with the magic number")
    _, revision, count, *tables = np.frombuffer(data, order, 5).tolist()
    if revision >> 16 > 1:
        raise _damaged(place, f"its revision is {revision >> 16}, and 0 and 1 are known")
    ours, theirs = (_spans(data, order, count, table, place) for table in tables)
    if ours[:, 0].sum() + theirs[:, 0].sum() > _SHARED * len(data):
        raise _damaged(place, "its strings are many times as long as the file")
    for (size, start), (other_size, other) in zip(ours.tolist(), theirs.tolist(), strict=True):
        yield data[start : start + size], data[other : other + other_size]


def _spans(data: bytes, order: str, count: int, table: int, place: Input) -> I64:
    """Return the lengths and places of the strings of one table, which are inside the file."""
    if table + 8 * count > len(data):
        raise _damaged(place, f"a table of {count:,} strings at byte {table:,} is beyond its end")
    spans = np.frombuffer(data, order, 2 * count, table).reshape(count, 2).astype(np.int64)
    beyond = np.flatnonzero(spans.sum(axis=1) > len(data))
    if len(beyond):
        raise _damaged(place, f"string {int(beyond[0]):,} is beyond its end")
    return spans


def _damaged(place: Input, what: str) -> DataError:
    return DataError(f"{place.path}: is not a whole .mo file: {what}. Make it again: msgfmt, from the .po file.")
