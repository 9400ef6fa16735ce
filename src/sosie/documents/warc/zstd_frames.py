"""Where the frames of a zstd file end, without unpacking them (RFC 8878, section 3.1), and the dictionary in front."""

from __future__ import annotations

from typing import IO

FRAME = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_DICTIONARY = b"\x5d" + _SKIPPABLE
_CONTENT_SIZES = (0, 2, 4, 8)
_DICTIONARY_IDS = (0, 1, 2, 4)
_RUN = 1


def read_dictionary(file: IO[bytes]) -> bytes:
    """Return the frame with a dictionary that a WARC file may begin with, which all other frames need."""
    file.seek(0)
    if file.read(len(_DICTIONARY)) != _DICTIONARY:
        return b""
    end = frame_end(file, 0)
    file.seek(0)
    return file.read(end)


def is_skippable(frame: bytes) -> bool:
    """Whether a frame holds no content, but, for example, a dictionary."""
    return frame[1:4] == _SKIPPABLE and frame[0] >> 4 == 5


def frame_end(file: IO[bytes], start: int) -> int:
    r"""Return where the frame that begins at `start` ends; raise ValueError if it does not.

    >>> import io
    >>> frame_end(io.BytesIO(b"\x28\xb5\x2f\xfd\x20\x06" + b"\x31\x00\x00a rose" + b"another"), 0)
    15
    """
    file.seek(start)
    magic = file.read(len(FRAME))
    if is_skippable(magic):
        end = start + 8 + int.from_bytes(file.read(4), "little")
    elif magic == FRAME:
        end = _blocks_end(file, start + len(FRAME))
    else:
        raise ValueError("no frame begins here")
    file.seek(end - 1)
    if not file.read(1):
        raise ValueError("the file ends inside a frame")
    return end


def _blocks_end(file: IO[bytes], here: int) -> int:
    (descriptor,) = file.read(1) or b"\0"
    has_window, has_checksum = not descriptor >> 5 & 1, descriptor >> 2 & 1
    content_size = _CONTENT_SIZES[descriptor >> 6] or int(not has_window)
    here += 1 + has_window + _DICTIONARY_IDS[descriptor & 3] + content_size
    is_last = False
    while not is_last:
        file.seek(here)
        header = file.read(3)
        if len(header) < 3:
            raise ValueError("the file ends inside a frame")
        block = int.from_bytes(header, "little")
        is_last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        here += 3 + (1 if kind == _RUN else size)
    return here + 4 * has_checksum
