"""Records of WARC as they lie in a file: plain, as members of gzip or as frames of zstd, unpacked one by one."""

from __future__ import annotations

import io
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import IO, ClassVar

from sosie.documents.warc.headers import BrokenRecordError, open_zstd
from sosie.documents.warc.zstd_frames import FRAME, frame_end, is_skippable, read_dictionary

MAGIC = b"WARC/"
_CHUNK = 64 << 10
_NEXT = 64
_NEWLINES = b"\r\n"
_SEPARATOR = b"\r\n\r\n"


class Member(ABC):
    """One record, read from where it begins; others may begin `LEAD` bytes after a `MARKER`.

    At most `most` bytes of it are held while they are packed. If there is a `tally`, it is told how many bytes come of
    unpacking.
    """

    MARKER: ClassVar[bytes]
    LEAD: ClassVar[int] = 0
    tally: Callable[[int], None] | None = None

    @abstractmethod
    def __init__(self, file: IO[bytes], start: int, most: int) -> None: ...

    @abstractmethod
    def peek(self, size: int) -> bytes:
        """Return the first bytes, unpacked, which will be read again; fewer than `size` only if there are no more."""

    @abstractmethod
    def read(self, size: int) -> bytes:
        """Return the next bytes, unpacked."""

    @abstractmethod
    def skip(self, size: int) -> int:
        """Pass over bytes; return how many there were."""

    @abstractmethod
    def finish(self) -> int:
        """Check that only newlines are left, and return where the next record begins in the file."""


class PlainMember(Member):
    """A record that is not packed: it ends where its header says, and newlines follow."""

    MARKER = _SEPARATOR + MAGIC
    LEAD = len(_SEPARATOR)

    def __init__(self, file: IO[bytes], start: int, most: int) -> None:
        self._file = file
        self._start = file.seek(start)

    def peek(self, size: int) -> bytes:
        """Read and go back."""
        first = self._file.read(size)
        self._file.seek(self._start)
        return first

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        return self._file.read(size)

    def skip(self, size: int) -> int:
        """Pass over bytes without reading them."""
        here = self._file.tell()
        there = min(here + size, self._file.seek(0, io.SEEK_END))
        return self._file.seek(there) - here

    def finish(self) -> int:
        """Check the newlines: two, or any number before another record or at the end of the file."""
        end = self._file.tell()
        rest = self._file.read(_NEXT)
        after = rest.lstrip(_NEWLINES)
        is_sound = rest.startswith(_SEPARATOR) or not after or (after.startswith(MAGIC) and len(after) < len(rest))
        if not is_sound:
            raise BrokenRecordError("Content-Length does not lead to the end of the record")
        return end + len(rest) - len(after)


class PackedMember(Member):
    """A record that is packed on its own."""

    _ahead = b""

    @abstractmethod
    def _unpack(self, size: int) -> bytes:
        """Return the next bytes, at least one unless there are no more."""

    def peek(self, size: int) -> bytes:
        """Unpack the first bytes and remember them."""
        self._ahead = self.read(size)
        return self._ahead

    def read(self, size: int) -> bytes:
        """Return bytes that were looked at, then others."""
        parts, self._ahead = [self._ahead[:size]], self._ahead[size:]
        left = size - len(parts[0])
        while left and (part := self._unpack(left)):
            parts.append(part)
            left -= len(part)
            if self.tally is not None:
                self.tally(len(part))
        return b"".join(parts)

    def skip(self, size: int) -> int:
        """Unpack bytes and forget them."""
        left = size
        while left and (part := self.read(min(left, _CHUNK))):
            left -= len(part)
        return size - left

    def _check_rest(self) -> None:
        while rest := self.read(_CHUNK):
            if rest.strip(_NEWLINES):
                raise BrokenRecordError("more after the record, which must be compressed on its own")


class GzipMember(PackedMember):
    """A member of a gzip file; where it ends is known once it is unpacked."""

    MARKER = b"\x1f\x8b\x08"

    def __init__(self, file: IO[bytes], start: int, most: int) -> None:
        self._file = file
        self._file.seek(start)
        self._stream = zlib.decompressobj(31)
        self._waiting = b""

    def _unpack(self, size: int) -> bytes:
        part = b""
        while not part and not self._stream.eof:
            packed = self._waiting or self._file.read(_CHUNK)
            if not packed:
                raise BrokenRecordError("cut short: the file ends inside a member of gzip")
            try:
                part = self._stream.decompress(packed, size)
            except zlib.error as error:
                raise BrokenRecordError(f"damaged gzip ({error})") from error
            self._waiting = self._stream.unconsumed_tail
        return part

    def finish(self) -> int:
        """Unpack the rest of the member, newlines."""
        self._check_rest()
        return self._file.tell() - len(self._stream.unused_data)


class ZstdMember(PackedMember):
    """A frame of a zstd file; where it ends is known before it is unpacked."""

    MARKER = FRAME

    def __init__(self, file: IO[bytes], start: int, most: int) -> None:
        try:
            self._end = frame_end(file, start)
            dictionary = read_dictionary(file) if start else b""
        except ValueError as error:
            raise BrokenRecordError(f"damaged zstd ({error})") from error
        file.seek(start)
        frame = file.read(min(self._end - start, most))
        self._is_whole = len(frame) == self._end - start
        self._stream = io.BytesIO() if is_skippable(frame) else open_zstd(io.BytesIO(dictionary + frame))

    def _unpack(self, size: int) -> bytes:
        try:
            part: bytes = self._stream.read(min(size, _CHUNK))
        except OSError as error:
            raise BrokenRecordError(f"damaged zstd ({error})") from error
        return part

    def skip(self, size: int) -> int:
        """Unpack bytes and forget them; those of a frame that is too large for that are trusted."""
        return super().skip(size) if self._is_whole else size

    def finish(self) -> int:
        """Unpack the rest of the frame, newlines."""
        if self._is_whole:
            self._check_rest()
        return self._end


MEMBERS: dict[str | None, type[Member]] = {None: PlainMember, "gzip": GzipMember, "zstd": ZstdMember}
