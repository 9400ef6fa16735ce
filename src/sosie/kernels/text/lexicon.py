"""Words by number, and what stands for each of them: an open hash table, exact because it compares the words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U32, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.memory import copy16, load64
from sosie.kernels.text.ascii import BLOCK, SPACE
from sosie.kernels.text.shingle import hash_runs
from sosie.kernels.text.tags import Hashed

EMPTY = np.uint64(0xFFFFFFFF)
WORD_SLACK = 8  # bytes that may be read after the last word of a table
_NUMBER = np.uint64(0xFFFFFFFF)
_TAG = ~_NUMBER


class WordTable(NamedTuple):
    """Word n is `text[starts[n] : starts[n + 1] - 1]` and has `hashes[n]`; a space follows it.

    `slots`, a power of two of them, hold the numbers of words or EMPTY: a word is in the first free slot from the one
    that the lower half of its hash names. Above the number stands the upper half, so that few others are looked at.
    """

    slots: U64
    hashes: U64
    text: NDArray[np.uint8]
    starts: I64


@kernel
def number_words(table: WordTable, known: int, out: NDArray[np.uint8], starts: I64, count: int, numbers: I64) -> int:
    """Number the words of `out`; new ones get the next numbers. Return how many words the table holds then.

    Word i is `out[starts[i] : starts[i + 1] - 1]`. The caller guarantees room for `count` words more than are `known`
    and for their bytes, and two blocks after the last word of `out`.
    """
    slots, hashes, text, places = table
    mask = slots.size - 1
    hashed = np.empty(count, np.uint64)
    untagged = Hashed(hashed, np.empty(0, np.uint32), np.empty(0, np.uint64))
    hash_runs(out, starts, count, 1, False, untagged, 0)
    for i in range(count):
        begin, length = starts[i], starts[i + 1] - starts[i]
        slot = np.int64(hashed[i]) & mask
        while True:
            entry = slots[slot]
            number = np.int64(entry & _NUMBER)
            if entry == EMPTY:
                number = known
                known += 1
                slots[slot] = hashed[i] & _TAG | np.uint64(number)
                hashes[number] = hashed[i]
                place = places[number]
                for byte in range(length):
                    text[place + byte] = out[begin + byte]
                places[number + 1] = place + length
                break
            if (entry ^ hashed[i]) & _TAG == 0 and places[number + 1] - places[number] == length:
                if _same(text, places[number], out, begin, length):
                    break
            slot = (slot + 1) & mask
        numbers[i] = number
    return known


@kernel
def _same(text: NDArray[np.uint8], start: int, out: NDArray[np.uint8], begin: int, length: int) -> bool:
    """Whether two spans of one length are equal, eight bytes at a time."""
    while length > 8:
        if load64(text, start) != load64(out, begin):
            return False
        start += 8
        begin += 8
        length -= 8
    unread = np.uint64(8 * (8 - length))
    return ((load64(text, start) ^ load64(out, begin)) << unread) == 0


@kernel
def fill_slots(slots: U64, hashes: U64, known: int) -> None:
    """Put the numbers of all known words into slots that are EMPTY."""
    mask = slots.size - 1
    for number in range(known):
        slot = np.int64(hashes[number]) & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = hashes[number] & _TAG | np.uint64(number)


@kernel
def shingle_numbers(
    numbers: I64, ends: I64, stems: NDArray[np.uint8], places: I64, width: int, key: U64
) -> tuple[U64, U32, I64]:
    """Return the hashes of the shingles of what stands for the words of each row, and the offsets of the rows in them.

    Row r has the words `numbers[ends[r] : ends[r + 1]]`; for word n stands `stems[places[n] : places[n + 1]]`, or
    nothing if that is empty. Sixteen bytes after the last stem may be read. Between hashes and offsets are the tags;
    there are none if the key is empty.
    """
    longest, most = 0, 0
    for row in range(ends.size - 1):
        size = 0
        for i in range(ends[row], ends[row + 1]):
            size += places[numbers[i] + 1] - places[numbers[i]] + 1
        longest = max(longest, size)
        most = max(most, ends[row + 1] - ends[row])
    out, starts = np.empty(longest + 2 * BLOCK, np.uint8), np.empty(most + 1, np.int64)
    hashed = Hashed(np.empty(numbers.size, np.uint64), np.empty(numbers.size if key.size else 0, np.uint32), key)
    offsets = np.zeros(ends.size, np.int64)
    for row in range(ends.size - 1):
        words = 0
        position = 0
        for i in range(ends[row], ends[row + 1]):
            place = places[numbers[i]]
            length = places[numbers[i] + 1] - place
            if length == 0:
                continue
            starts[words] = position
            words += 1
            for copied in range(0, length, 16):
                copy16(stems, place + copied, out, position + copied)
            position += length + 1
            out[position - 1] = SPACE
        starts[words] = position
        offsets[row + 1] = hash_runs(out, starts, words, width, False, hashed, offsets[row])
    return hashed.hashes[: offsets[-1]], hashed.tags[: offsets[-1]], offsets
