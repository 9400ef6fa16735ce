"""Damage an index in every way, and say what came of it: run by test_damaged.py in a process of its own.

usage: python damage.py PROGRESS; every line of standard input is a directory and how many cases have been done there.
PROGRESS holds the number of the case that is being tried.
"""

import os
import struct
import sys
from pathlib import Path

from sosie import SosieError, load_index

FLIPS = 0xFF, 0x01, 0x20  # all bits, the lowest, upper and lower case


def answers(folder):
    index = load_index(folder)
    if hasattr(index, "candidates"):
        found = [index.candidates(index.keys, threads=1)]
    elif hasattr(index, "bags"):
        found = [index.search(index.bags, 3, threads=1)]
    else:
        found = [index.search(index.signatures, 3, threads=1), index.within(index.signatures, 1, threads=1)]
    return [(f.offsets.tolist(), f.rows.tolist(), f.distances.tolist(), f.ids.to_pylist()) for f in found]


def damages(file, whole):
    """Damage an open file in one way after another, and say how; in the end it is whole."""
    places = range(0, len(whole), stride(len(whole)))
    for i, place in enumerate(places):
        os.pwrite(file, bytes([whole[place] ^ FLIPS[i % 3]]), place)
        yield f"byte {place} flipped"
        os.pwrite(file, whole[place : place + 1], place)
    for size in reversed(places):
        os.ftruncate(file, size)
        yield f"{size} bytes left"
    os.pwrite(file, whole + b"\0", 0)
    yield "a byte more"
    os.ftruncate(file, len(whole))


def stride(size):
    """Return 1, for every byte; of a file that is not small, some bytes are enough."""
    return 1 + size // 4096


def work(folder, done, progress):
    """Return how many cases gave the same answer, how many a named error, and how many there are."""
    right, case, same, named = answers(folder), 0, 0, 0
    for path in sorted(folder.iterdir()):
        file = os.open(path, os.O_RDWR)
        for damage in damages(file, path.read_bytes()):
            case += 1
            if case <= done:
                continue
            os.pwrite(progress, struct.pack("<q", case), 0)
            try:
                assert answers(folder) == right, f"{path}: another answer with {damage}"
                same += 1
            except SosieError as error:
                assert str(folder) in str(error), f"{path}: {error!r} with {damage} does not say where"
                named += 1
        os.close(file)
    assert answers(folder) == right
    return same, named, case


if __name__ == "__main__":
    log = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    for line in sys.stdin:
        where, tried = line.rsplit(maxsplit=1)
        print(*work(Path(where), int(tried), log), flush=True)
