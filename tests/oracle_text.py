"""How text is read, in plain Python: folding, words and shingles, slow and obvious."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

import unicodedata2 as ucd
import xxhash

# Capitals that a Python of 3.11 (Unicode 14.0) or later may not know yet: CaseFolding.txt of 16.0 and 17.0.
NEW_CAPITALS = {
    **{0x1C89: 0x1C8A, 0xA7CB: 0x0264, 0xA7CC: 0xA7CD, 0xA7CE: 0xA7CF, 0xA7D2: 0xA7D3, 0xA7D4: 0xA7D5},
    **{0xA7DA: 0xA7DB, 0xA7DC: 0x019B},
    **{point: point + 0x20 for point in range(0x10D50, 0x10D66)},
    **{point: point + 0x1B for point in range(0x16EA0, 0x16EB9)},
}
IGNORABLE = [
    *[(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)],
    *[(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)],
    *[(0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)],
]
SPACELESS_BLOCKS = [
    *[(0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)],  # Thai, Lao, Myanmar, Khmer
    *[(0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0x116D0, 0x116FF)],  # Myanmar, extended
    *[
        (0x3005, 0x3007),
        (0x3021, 0x3029),
        (0x3038, 0x303B),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
    ],  # Han
    *[(0x16FE3, 0x16FE3), (0x16FF2, 0x16FF6), (0x20000, 0x3FFFF)],
    *[(0x3040, 0x309F), (0x30A0, 0x30FF), (0x31F0, 0x31FF), (0x1AFF0, 0x1AFFF), (0x1B000, 0x1B16F)],  # kana
    (0xFF66, 0xFF9D),  # halfwidth kana: no text has these once it is folded
]


def _within(point: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= point <= last for first, last in ranges)


@cache
def casefolded(character: str) -> str:
    return chr(NEW_CAPITALS[ord(character)]) if ord(character) in NEW_CAPITALS else character.casefold()


@cache
def folded_character(character: str) -> str:
    """NFKC_Casefold of one character: fold, normalise and drop what is ignorable until nothing changes."""
    before, text = None, character
    while before != text:
        before = text
        text = "".join(casefolded(c) for c in ucd.normalize("NFD", text))
        text = ucd.normalize("NFKC", "".join(c for c in text if not _within(ord(c), IGNORABLE)))
    return text


def fold(text: str) -> str:
    return ucd.normalize("NFC", "".join(folded_character(c) for c in text))


@cache
def kind(character: str) -> str:
    category = ucd.category(character)
    if category[0] == "M":
        return "mark"
    if category in ("Lo", "Lm", "Nl") and _within(ord(character), SPACELESS_BLOCKS):
        return "spaceless"
    return "word" if category[0] in "LN" or category == "Pc" else ""


def runs(text: str) -> list[list[str]]:
    """Word runs of the folded text, each as a list of units: a character with its marks."""
    found: list[list[str]] = []
    fresh = True
    for character in fold(text):
        if not kind(character):
            fresh = True
        elif fresh:
            found.append([character])
            fresh = False
        elif kind(character) == "mark":
            found[-1][-1] += character
        else:
            found[-1].append(character)
    return found


def words(text: str) -> list[str]:
    found = []
    for run in runs(text):
        pieces: list[list[str]] = []
        for unit in run:
            spaceless = kind(unit[0]) == "spaceless"
            if not pieces or (kind(pieces[-1][0][0]) == "spaceless") != spaceless:
                pieces.append([])
            pieces[-1].append(unit)
        for piece in pieces:
            if kind(piece[0][0]) != "spaceless":
                found.append("".join(piece))
            elif len(piece) == 1:
                found.append(piece[0])
            else:
                found += [a + b for a, b in pairwise(piece)]
    return found


WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
NUMBER = r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)*(?:[eE][+-][0-9])?\w*(?:\.[0-9]\w*)*"


def code_tokens(text: str) -> list[str]:
    """The tokens of source code: numbers, words, and all other characters but white space, one by one."""

    def stand_in(character: str) -> str:
        if character in WHITE_SPACE:
            return " "
        return character if character < "\x80" else "w" if kind(character) else "@"

    skeleton = "".join(map(stand_in, text))  # the same places, in ASCII
    found = re.finditer(rf"{NUMBER}|\w+|[^\w ]", skeleton, re.ASCII)
    return [text[match.start() : match.end()] for match in found]


def pieces(text: str, width: int, unit: str) -> list[str]:
    """All shingles, in reading order."""
    if unit == "char":
        line = " ".join("".join(run) for run in runs(text))
        return [line[i : i + width] for i in range(max(len(line) - width, 0) + 1)] if line else []
    if unit == "prefix":
        return [word[:width] for word in words(text)]
    found = code_tokens(text) if unit == "code" else words(text)
    return [" ".join(found[i : i + width]) for i in range(max(len(found) - width, 0) + 1)] if found else []


def shingles(text: str, width: int, unit: str) -> list[int]:
    """The hashes of all shingles, in reading order."""
    return [xxhash.xxh64_intdigest(piece.encode()) for piece in pieces(text, width, unit)]


def evidence(text: str, width: int, unit: str) -> frozenset[int | str]:
    """What a text is compared by: its shingles, or all of it where it has none."""
    return frozenset(shingles(text, width, unit)) or frozenset([text])


def assigned() -> list[str]:
    """Every character that Unicode 17.0 knows, private use and surrogates excepted."""
    return [c for c in map(chr, range(0x110000)) if ucd.category(c) not in ("Cn", "Co", "Cs")]


assert ucd.unidata_version == "17.0.0"
assert all(unicodedata.category(chr(p)) == "Cn" or chr(p).casefold() == chr(q) for p, q in NEW_CAPITALS.items())
