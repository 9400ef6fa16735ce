"""Write src/sosie/text/unicode-17.0.npz: how every code point folds, and what it is.

Run once, when the Unicode version changes; the result is committed, so that the bits of a signature never depend on
the Python that runs. Needs numpy and the `unicodedata2` package, under the newest Python at hand:

    python tools/unicode_tables.py src/sosie/text/unicode-17.0.npz

Normalisation and categories come from `unicodedata2`. It has no case folding: that comes from `str.casefold` of the
running Python, which may know an older Unicode. Case folding never changes for a character once it is assigned (the
stability policy), so only newer capitals are missing; those fold to the small letter of the same name.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import unicodedata2 as ucd

LIMIT = 0x110000
PAGE = 128
UNIT_NONE, UNIT_WORD, UNIT_SPACELESS, UNIT_MARK = range(4)
FOLD_POOLED, FOLD_INERT = 4, 8  # beside the two bits of the class
BOUNDARY, TROUBLE = 1 << 10, 1 << 11  # above ccc (8 bits) and class (2 bits)

IGNORABLE = frozenset(
    point
    for first, last in [
        *[(0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)],
        *[(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)],
        *[(0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)],
    ]
    for point in range(first, last + 1)
)
# The names of the letters of the scripts that are written without spaces. The prolonged sound mark is shared by both
# kana; the last line is Han as well. Decimal digits of these scripts are not here: a number is one word.
SPACELESS = (
    *("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ", "HANGZHOU NUMERAL"),
    *("HIRAGANA ", "KATAKANA ", "KATAKANA-HIRAGANA ", "HENTAIGANA "),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR "),
    *("VERTICAL IDEOGRAPHIC ", "OLD CHINESE ", "CHINESE SMALL ", "YANGQIN SIGN "),
)


@cache
def casefold(character: str) -> str:
    """Fold one character's case by Unicode 17.0."""
    if unicodedata.category(character) != "Cn" or ucd.category(character) not in ("Lu", "Lt"):
        return character.casefold()
    return ucd.lookup(ucd.name(character).replace(" CAPITAL ", " SMALL "))


def folded(character: str) -> str:
    """Return NFKC_Casefold of one character, to its fixed point."""
    before, after = "", character
    while before != after:
        before = after
        cased = "".join(map(casefold, ucd.normalize("NFD", before)))
        after = ucd.normalize("NFKC", "".join(c for c in cased if ord(c) not in IGNORABLE))
        after = "".join(c for c in after if ord(c) not in IGNORABLE)
    return after


def unit_class(point: int) -> int:
    """Say what a folded code point does to a word: separate, extend, be a unit of its own, or follow."""
    category = ucd.category(chr(point))
    if category[0] == "M":
        return UNIT_MARK
    if category[0] not in "LN" and category != "Pc":
        return UNIT_NONE
    spaceless = category in ("Lo", "Lm", "Nl") and ucd.name(chr(point), "").startswith(SPACELESS)
    return UNIT_SPACELESS if spaceless else UNIT_WORD


def canonical_pairs(points: list[int]) -> dict[tuple[int, int], int]:
    """Return the primary composites: which two code points compose to which one (Hangul syllables excepted)."""
    pairs = {}
    for point in points:
        parts = ucd.decomposition(chr(point)).split()
        if len(parts) == 2 and parts[0][0] != "<" and ucd.normalize("NFC", chr(point)) == chr(point):
            pairs[int(parts[0], 16), int(parts[1], 16)] = point
    return pairs


def two_stage(entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share equal pages: entry i is `pages[index[i // PAGE] * PAGE + i % PAGE]`."""
    pages, index = np.unique(entries.reshape(-1, PAGE), axis=0, return_inverse=True)
    return index.reshape(-1).astype(np.uint16), pages.reshape(-1)


def hash_table(pairs: dict[tuple[int, int], int]) -> tuple[np.ndarray, np.ndarray]:
    """Lay out the composition pairs for open addressing; key 0 is an empty slot."""
    size = 4096
    keys, values = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    for (first, second), composite in sorted(pairs.items()):
        key = first << 21 | second
        slot = (key * 0x9E3779B97F4A7C15 % 2**64) >> 52
        while keys[slot]:
            slot = (slot + 1) % size
        keys[slot], values[slot] = key, composite
    return keys, values


def main(path: Path) -> None:
    """Build all tables and write them."""
    points = [point for point in range(LIMIT) if not 0xD800 <= point <= 0xDFFF]
    pairs = canonical_pairs(points)
    seconds = {second for _, second in pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    fold, fold_pool = np.zeros(LIMIT, np.int32), []
    properties, nfd_pool = np.zeros(LIMIT, np.uint32), []
    for point in points:
        character = chr(point)
        parts = [ord(c) for c in ucd.normalize("NFD", character)]
        combining = ucd.combining(character)
        stable = ucd.normalize("NFC", character) == character and point not in seconds
        boundary = stable and combining == 0 and ucd.combining(chr(parts[0])) == 0 and parts[0] not in seconds
        entry = combining | unit_class(point) << 8 | (BOUNDARY if boundary else 0)
        entry |= TROUBLE if not boundary and (not stable or combining == 0) else 0
        if parts != [point] and not 0xAC00 <= point < 0xD7A4:
            entry |= len(parts) << 12 | len(nfd_pool) << 15
            nfd_pool += parts
        properties[point] = entry
    for point in points:
        target = [ord(c) for c in folded(chr(point))]
        if len(target) == 1:
            inert = FOLD_INERT if properties[target[0]] & BOUNDARY else 0
            fold[point] = (target[0] - point) << 8 | inert | int(properties[target[0]] >> 8 & 3)
        else:
            fold[point] = (len(fold_pool) << 5 | len(target)) << 8 | FOLD_POOLED
            fold_pool += target
    fold_index, fold_pages = two_stage(fold)
    property_index, property_pages = two_stage(properties)
    pair_keys, pair_values = hash_table(pairs)
    np.savez_compressed(
        path,
        unicode_version=np.array(ucd.unidata_version),
        casefold_version=np.array(f"{unicodedata.unidata_version}, newer capitals by name"),
        fold_index=fold_index,
        fold_pages=fold_pages,
        fold_pool=np.array(fold_pool, np.int32),
        property_index=property_index,
        property_pages=property_pages,
        nfd_pool=np.array(nfd_pool, np.int32),
        pair_keys=pair_keys,
        pair_values=pair_values,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
