"""One file of parallel text: found and measured, its bytes, and its lines decoded; files are from anyone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from sosie.documents.blocks import BLOCK_BYTES, BOM, read_chunks
from sosie.documents.bounded import bounded_input
from sosie.documents.formats import COMPRESSIONS
from sosie.documents.input import Input
from sosie.documents.places.remote import is_url, local_path, size_and_stamp
from sosie.errors import DataError, UsageError
from sosie.storage.size import show_size


def suffix_of(path: str) -> str:
    """Return what a file is called after the last dot of its name, the suffix of a compression left aside.

    >>> suffix_of("news.TMX.gz"), suffix_of("news.de"), suffix_of("news")
    ('.tmx', '.de', '')
    """
    base, suffix = os.path.splitext(path.lower())
    return os.path.splitext(base)[1] if suffix in COMPRESSIONS else suffix


def find_file(path: str | os.PathLike[str]) -> Input:
    """Return a file as it is now: its size, its time and its compression; raise if there is none that can be read."""
    name = local_path(os.fspath(path))
    try:
        if not is_url(name):
            mode = os.stat(name).st_mode
            if stat.S_ISDIR(mode):
                raise UsageError(f"{name}: is a folder. Name the files of parallel text in it.")
            if not stat.S_ISREG(mode):
                raise UsageError(f"{name}: is not a regular file. Write it to a file first.")
            with open(name, "rb"):
                pass
        size, stamp = size_and_stamp(name)
    except FileNotFoundError:
        raise UsageError(f"{name}: no such file. Check the path.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        detail = getattr(error, "strerror", None) or error
        raise UsageError(f"{name}: cannot be opened ({detail}). Check the path and its permissions.") from error
    compression = COMPRESSIONS.get(os.path.splitext(name.lower())[1])
    return bounded_input(Input(name, os.path.basename(name), "text", compression, size, stamp), None)


def read_bytes(place: Input) -> bytes:
    """Return all bytes of a file, unless there is no memory for them."""
    parts, held = [], 0
    for chunk, _ in read_chunks(place, BLOCK_BYTES):
        held += len(chunk)
        if held > place.max_file:
            raise DataError(
                f"{place.path}: is longer than {show_size(place.max_file)}, all that there is memory for. Split it."
            )
        parts.append(chunk)
    return b"".join(parts)


def raw_lines(place: Input) -> Iterator[bytes]:
    """Yield the lines of a file without their ends, which are LF or CR LF, and without a byte order mark.

    What follows the last line end is a line if there is anything.
    """
    for number, line in enumerate(_cut(place)):
        yield (line if number else line.removeprefix(BOM)).removesuffix(b"\r")


def read_lines(place: Input, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the lines of a file as text, with their numbers from 1 on."""
    for number, line in enumerate(raw_lines(place), 1):
        yield number, decode_line(line, place, number, encoding)


def decode_line(line: bytes, place: Input, number: int, encoding: str = "utf-8") -> str:
    """Return one line as text; raise if it is none in this encoding."""
    if 0 in line:
        raise DataError(
            f"{place.path}, line {number:,}: has a NUL byte and is not text. Give a text file, or leave it out."
        )
    try:
        return line.decode(encoding)
    except UnicodeError as error:
        at = f" (byte {error.start + 1:,} of the line)" if isinstance(error, UnicodeDecodeError) else ""
        name = "UTF-8" if encoding == "utf-8" else encoding
        raise DataError(
            f"{place.path}, line {number:,}: is not {name}{at}. Convert the file: iconv -t UTF-8, or mend the line."
        ) from error


def _cut(place: Input) -> Iterator[bytes]:
    """Yield what is between line feeds; a line that comes in many chunks is put together once, at its end."""
    waiting: list[bytes] = []
    held = number = 0
    for chunk, _ in read_chunks(place, BLOCK_BYTES):
        first, *others = chunk.split(b"\n")
        waiting.append(first)
        held += len(first)
        if held > place.max_record:
            raise DataError(f"{place.path}, line {number + 1:,}: is {place.too_long}. Cut it into shorter lines.")
        if others:
            number += len(others)
            first, waiting, held = b"".join(waiting), [others[-1]], len(others[-1])
            yield first
            yield from others[:-1]
    if held:
        first, waiting = b"".join(waiting), []
        yield first
