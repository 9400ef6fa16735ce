"""The tags of a page of HTML, one at a time, as the standard cuts them: quotes, comments and raw text hide none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel

# Fields of a tag: `IS_FONT`, that it has an attribute that only `font` has, `IS_MARKUP`, that its encoding is HTML, and
# what text is before it.
KIND, NAME, NAME_END, END, ATTRIBUTES, IS_EMPTY, IS_FONT, IS_MARKUP, TEXT = range(9)
FIELDS = 9
NO_TAG, START_TAG, END_TAG = range(3)
NO_TEXT, BLANK, WORDS = range(3)
LONGEST_NAME = 10  # of those whose code is the name itself
OTHER_NAME = np.int64(1 << 62)
_LESS, _GREATER, _SLASH, _BANG, _QUESTION, _DASH, _EQUALS, _BRACKET = b"<>/!?-=]"


def code_of(name: str) -> int:
    """Return the code of a name of at most ten lower-case letters, digits and hyphens."""
    code = 0
    for letter in name:
        code = code << 6 | (ord(letter) - 96 if letter.isalpha() else ord(letter) - 21 if letter.isdigit() else 37)
    return code


_COLOR, _FACE, _SIZE, _ENCODING = (np.int64(code_of(name)) for name in ("color", "face", "size", "encoding"))
_HTML, _XHTML = np.frombuffer(b"text/html", np.uint8), np.frombuffer(b"application/xhtml+xml", np.uint8)
_CDATA = np.frombuffer(b"[CDATA[", np.uint8)


@kernel
def name_code(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return a number for a name in any case: equal for equal names, and unique for short ones of usual letters."""
    code, hashed = np.int64(0), np.int64(end - start)
    is_usual = end - start <= LONGEST_NAME
    for i in range(start, end):
        letter = lowered(data[i])
        hashed = (hashed ^ letter) * 0x100000001B3
        value = 0
        if 97 <= letter <= 122:
            value = letter - 96
        elif 48 <= letter <= 57:
            value = letter - 21
        elif letter == _DASH:
            value = 37
        is_usual = is_usual and value != 0
        code = code << 6 | value
    return code if is_usual else (hashed & (OTHER_NAME - 1)) | OTHER_NAME


@kernel
def same_name(data: NDArray[np.uint8], start: int, end: int, other: int) -> bool:
    """Whether the name at `other` is that at start..end, in any case."""
    if other + end - start > data.size:
        return False
    for i in range(end - start):
        if lowered(data[start + i]) != lowered(data[other + i]):
            return False
    return end - start + other == data.size or _ends_name(data[other + end - start])


@kernel
def lowered(letter: np.uint8) -> int:
    """Return a letter of ASCII in lower case."""
    return np.int64(letter) + (32 if 65 <= letter <= 90 else 0)


@kernel
def next_tag(data: NDArray[np.uint8], position: int, is_foreign: bool, tag: I64) -> None:
    """Find the first tag at or after a position; it has the kind NO_TAG where there is none.

    `is_foreign` says that the page is inside SVG or MathML there, where CDATA is text.
    """
    size = data.size
    tag[KIND] = NO_TAG
    tag[TEXT] = NO_TEXT
    while position < size:
        if data[position] != _LESS:
            if data[position] != 0:
                tag[TEXT] = max(tag[TEXT], BLANK if is_space(data[position]) else WORDS)
            position += 1
            continue
        after = data[position + 1] if position + 1 < size else np.uint8(0)
        if after == _BANG:
            position = _end_of_comment(data, position + 2, is_foreign, tag)
            continue
        if after == _QUESTION:
            position = find_byte(data, position, _GREATER) + 1
            continue
        name = position + (2 if after == _SLASH else 1)
        letter = lowered(data[name]) if name < size else 0
        if 97 <= letter <= 122:
            _read_tag(data, name, tag)
            if tag[END] > size:
                tag[KIND] = NO_TAG
                return
            tag[KIND] = END_TAG if after == _SLASH else START_TAG
            return
        if after == _SLASH and name < size:
            position = find_byte(data, name, _GREATER) + 1
        else:
            tag[TEXT] = WORDS
            position += 1


@kernel
def end_of_raw(data: NDArray[np.uint8], position: int, start: int, end: int) -> int:
    """Return where the end tag of the name at start..end is, the end of the page if it is not there."""
    while position + 1 < data.size:
        if data[position] == _LESS and data[position + 1] == _SLASH and same_name(data, start, end, position + 2):
            return position
        position += 1
    return data.size


@kernel
def find_byte(data: NDArray[np.uint8], position: int, byte: int) -> int:
    """Return where a byte is at or after a position, the end of the page if it is not there."""
    while position < data.size and data[position] != byte:
        position += 1
    return min(position, data.size)


@kernel
def is_space(byte: np.uint8) -> bool:
    """Whether a byte is white space between attributes."""
    return byte == 32 or 9 <= byte <= 10 or 12 <= byte <= 13


@kernel
def _ends_name(byte: np.uint8) -> bool:
    return is_space(byte) or byte == _SLASH or byte == _GREATER


@kernel
def _read_tag(data: NDArray[np.uint8], position: int, tag: I64) -> None:
    """Read a tag whose name begins at a position; its end is beyond the page if the page ends inside it."""
    size = data.size
    tag[NAME] = position
    while position < size and not _ends_name(data[position]):
        position += 1
    tag[NAME_END] = position
    for field in range(ATTRIBUTES, TEXT):
        tag[field] = 0
    while position < size and data[position] != _GREATER:
        if is_space(data[position]) or data[position] == _SLASH:
            tag[IS_EMPTY] = data[position] == _SLASH
            position += 1
            continue
        tag[IS_EMPTY] = 0
        tag[ATTRIBUTES] += 1
        position = _read_attribute(data, position, tag)
    tag[END] = position + 1


@kernel
def _read_attribute(data: NDArray[np.uint8], position: int, tag: I64) -> int:
    """Read a name and what is said of it; return what follows."""
    size, name = data.size, position
    position += 1  # an equals sign here is part of the name
    while position < size and not _ends_name(data[position]) and data[position] != _EQUALS:
        position += 1
    code = name_code(data, name, position)
    tag[IS_FONT] |= code == _COLOR or code == _FACE or code == _SIZE
    while position < size and is_space(data[position]):
        position += 1
    if position == size or data[position] != _EQUALS:
        return position
    position += 1
    while position < size and is_space(data[position]):
        position += 1
    if position == size or data[position] == _GREATER:
        return position
    value, quote = position, data[position]
    if quote == 34 or quote == 39:
        value += 1
        position = find_byte(data, value, quote)
        end = position
        position += 1
    else:
        while position < size and not is_space(data[position]) and data[position] != _GREATER:
            position += 1
        end = position
    if code == _ENCODING:
        tag[IS_MARKUP] |= _is_text(data, value, end, _HTML) or _is_text(data, value, end, _XHTML)
    return position


@kernel
def _is_text(data: NDArray[np.uint8], start: int, end: int, text: NDArray[np.uint8]) -> bool:
    if end - start != text.size:
        return False
    for i in range(text.size):
        if lowered(data[start + i]) != text[i]:
            return False
    return True


@kernel
def _end_of_comment(data: NDArray[np.uint8], position: int, is_foreign: bool, tag: I64) -> int:
    """Return what follows a comment, a declaration or CDATA, of which two bytes were read."""
    size = data.size
    if position + 1 < size and data[position] == _DASH and data[position + 1] == _DASH:
        first = position + 2
        dashes = 0
        for i in range(first, size):
            byte = data[i]
            if byte == _GREATER and (dashes >= 2 or dashes == i - first):  # `<!-->` and `<!--->` are whole
                return i + 1
            if byte == _BANG and dashes >= 2 and i + 1 < size and data[i + 1] == _GREATER:
                return i + 2
            dashes = dashes + 1 if byte == _DASH else 0
        return size
    if is_foreign and _begins(data, position, _CDATA):
        tag[TEXT] = WORDS
        for i in range(position + _CDATA.size + 2, size):
            if data[i] == _GREATER and data[i - 1] == _BRACKET and data[i - 2] == _BRACKET:
                return i + 1
        return size
    return find_byte(data, position, _GREATER) + 1


@kernel
def _begins(data: NDArray[np.uint8], position: int, text: NDArray[np.uint8]) -> bool:
    if position + text.size > data.size:
        return False
    for i in range(text.size):
        if data[position + i] != text[i]:
            return False
    return True
