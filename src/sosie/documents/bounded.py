"""Texts that there is memory for: what one takes while it is compared, and the reason where that is too much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sosie.documents.batch import Records
from sosie.documents.input import MAX_RECORD, Input
from sosie.planner.constants.documents import (
    LONG_BYTES,
    LONGEST_BYTES,
    PROGRAM_BYTES,
    RECORD_BYTES,
    TEXT_BYTES,
)
from sosie.storage.resident import physical_memory
from sosie.storage.size import show_size
from sosie.types import I64

# The one character that folds to 18; others of its block, and those of squares and in brackets (U+3200 to U+33FF),
# which fold to as many as eight.
LONGEST = "\ufdfa".encode()
LONG = (*(bytes([0xE3, second]) for second in range(0x88, 0x90)), b"\xef\xb7")


def room_for_text(memory: int | None) -> int:
    """Return how many bytes one text may take, given a limit for the process: half of what the program leaves.

    Without a limit it is that of the machine or of its container.

    >>> room_for_text(1_000_000_000)
    325000000
    """
    there = physical_memory() if memory is None else min(memory, physical_memory())
    return max(there - PROGRAM_BYTES, 0) // 2


def bounded_input(place: Input, memory: int | None) -> Input:
    """Return an input whose records, and files of one document, are not longer than there is memory for.

    A file may be in an encoding of four bytes for each of a text.
    """
    room = room_for_text(memory)
    return replace(place, max_record=min(MAX_RECORD, 2 * room // RECORD_BYTES), max_file=4 * room // TEXT_BYTES)


def bounded(records: Records, room: int) -> Records:
    """Return records without the texts that would take more than `room` bytes; each gets its reason."""
    offsets = _offsets(records)
    problems = {}
    for at in np.flatnonzero(np.diff(offsets) * (TEXT_BYTES + LONGEST_BYTES // len(LONGEST)) > room).tolist():
        text = records.texts[at].as_buffer().to_pybytes()
        needed = text_bytes(text)
        if needed > room:
            problems[int(records.accepted[at])] = (
                f"a text of {show_size(len(text))}, which takes {show_size(needed)} of memory to compare; "
                f"there is room for {show_size(room)}: allow more with --memory, or split it"
            )
    return records.without(problems)


def text_bytes(text: bytes) -> int:
    """Return how many bytes of memory it takes, at most, to compare a text: `python -m benchmarks.text_memory`."""
    expanding = LONG_BYTES * sum(map(text.count, LONG)) + (LONGEST_BYTES - LONG_BYTES) * text.count(LONGEST)
    return TEXT_BYTES * len(text) + expanding


def _offsets(records: Records) -> I64:
    texts = records.texts
    if not len(texts):
        return np.zeros(1, np.int64)
    return np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
