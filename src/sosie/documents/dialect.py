"""How other programs write text files: in which encoding, and what separates the fields of a record."""

from __future__ import annotations

import codecs

from sosie.errors import DataError, UsageError

UTF8 = ("utf-8", "utf-8-sig", "ascii")
# Their byte order is said by a mark, else it is that of most machines.
_MARKED = {
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}
# What the same characters may be written as in several ways, or is no encoding of texts.
_UNSUITABLE = ("iso2022", "hz", "utf-7", "idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined")
_ESCAPES = {"\\t": "\t", "tab": "\t"}
_SAMPLE = "".join(map(chr, range(32, 127))) + "\n"


def checked_encoding(name: str) -> str | None:
    """Return the usual name of an encoding, None for UTF-8; raise if there is none of that name.

    >>> checked_encoding("Latin1"), checked_encoding("UTF-8")
    ('iso8859-1', None)
    """
    try:
        found = codecs.lookup(name)
        known = found.name.replace("_", "-")
        usable = _SAMPLE.encode(name).decode(name) == _SAMPLE and not known.startswith(_UNSUITABLE)
    except (LookupError, TypeError, ValueError):
        usable = False
    if not usable:
        raise UsageError(
            f"the encoding {name!r} cannot be read. Name one as in utf-16, cp1252, latin-1, gb18030 or shift-jis."
        )
    return None if known in UTF8 else known


def checked_delimiter(text: str) -> str:
    r"""Return what separates fields: one character of ASCII; a tab may be written \t.

    >>> checked_delimiter("\\t"), checked_delimiter(";")
    ('\t', ';')
    """
    delimiter = _ESCAPES.get(text, text)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise UsageError(
            f"the delimiter must be one character of ASCII, and no quote or line end; got {text!r}. Write a tab as \\t."
        )
    return delimiter


class Transcoder:
    r"""Turns the bytes of one file into UTF-8, chunk by chunk, and back.

    Bytes that are not of the encoding become bytes that are not UTF-8, so that their record is told from the others.
    What could not be written back as it was is refused.

    >>> coder = Transcoder("cp1252", "a.csv")
    >>> coder.decode(b"caf\xe9"), coder.encode("café".encode())
    (b'caf\xc3\xa9', b'caf\xe9')
    """

    def __init__(self, encoding: str, path: str) -> None:
        self._encoding = encoding
        self._path = path
        self._decoder: codecs.IncrementalDecoder | None = None
        self._done = 0
        self.mark = b""

    def decode(self, chunk: bytes, final: bool = False) -> bytes:
        """Return the next bytes as UTF-8; a character that is not whole waits for the next chunk."""
        if self._decoder is None:
            self._begin(chunk)
        assert self._decoder is not None
        before = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(chunk, final)
            same = text.encode(self._encoding, "surrogateescape")
        except UnicodeError as error:
            raise DataError(
                f"{self._path}: is not {self._encoding} (after byte {self._done:,}: {error}). Name another --encoding."
            ) from error
        taken = before + chunk
        taken = taken[: len(taken) - len(self._decoder.getstate()[0])]
        if same != taken:
            raise DataError(
                f"{self._path}: has characters that {self._encoding} writes in several ways (after byte "
                f"{self._done:,}), so that they could not be copied as they are. Convert the file to UTF-8: iconv."
            )
        self._done += len(taken)
        return text.encode("utf-8", "surrogatepass")

    def encode(self, content: bytes) -> bytes:
        """Return UTF-8 in the encoding of the file; characters that it lacks, in columns that are added, as escapes."""
        return content.decode("utf-8").encode(self._encoding, "backslashreplace")

    def _begin(self, head: bytes) -> None:
        for mark, encoding in _MARKED.get(self._encoding, ()):
            if head.startswith(mark):
                self._encoding, self.mark = encoding, mark
        self._encoding = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(self._encoding, self._encoding)
        self._decoder = codecs.getincrementaldecoder(self._encoding)("surrogateescape")
