"""Damage stores in every way, and say what came of it: run by test_damaged.py in a process of its own.

usage: python damage.py STEP FOLDER...; prints for each how many cases gave the same answer, and how many a named error.
"""

import sys
from pathlib import Path

from sosie import SignatureStore, SosieError

FLIPS = 0xFF, 0x01, 0x20  # all bits, the lowest, upper and lower case


def answers(folder):
    store = SignatureStore(folder)
    asked = store.signer.sign(["a rose of 3 thorns is a rose", "the cat sat on the mat"])
    found = [store.match(asked, 20, threads=1), store.match(asked, 20, probes=5, threads=1)]
    return [(f.offsets.tolist(), f.rows.tolist(), f.distances.tolist(), f.ids.to_pylist()) for f in found]


def damages(whole, step):
    """Yield what a file may be instead, and how."""
    for i, place in enumerate(range(0, len(whole), step)):
        yield whole[:place] + bytes([whole[place] ^ FLIPS[i % 3]]) + whole[place + 1 :], f"byte {place} flipped"
        yield whole[:place], f"{place} bytes left"
    yield whole + b"\0", "a byte more"
    yield None, "the file is gone"


def work(folder, step):
    right, same, named = answers(folder), 0, 0
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        whole = path.read_bytes()
        for damaged, how in damages(whole, step):
            path.unlink(missing_ok=True)
            if damaged is not None:
                path.write_bytes(damaged)
            try:
                assert answers(folder) == right, f"{path}: another answer with {how}"
                same += 1
            except SosieError as error:
                assert str(folder) in str(error), f"{path}: {error!r} with {how} does not say where"
                named += 1
        path.write_bytes(whole)
    assert answers(folder) == right
    return same, named


if __name__ == "__main__":
    for folder in sys.argv[2:]:
        print(*work(Path(folder), int(sys.argv[1])))
