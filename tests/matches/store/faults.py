"""Changes of a store, killed while they run, or run where the file system is full or broken."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.jobs.killed import CHANGES, CREATES, at_event, die, refuse

import sosie
from sosie.jobs.batch import BatchMatching

NOT_MET, NAMED, BORNE = 0, 3, 4  # how a change ended: before the fault, by a named error, or well in spite of it
SIZES = 40, 9, 7  # rows of the batches that are there
BEFORE = sum(SIZES)
SIGNER = sosie.Simhash().fit()
TEXTS = [f"a rose of {i % 7} thorns is a rose of {i} thorns" for i in range(BEFORE + 30)]


def signed(begin: int, end: int) -> sosie.Signatures:
    return SIGNER.sign(TEXTS[begin:end], ids=[f"d{i}" for i in range(begin, end)])


def prepared(folder: Path) -> None:
    """Put a store of several runs there."""
    store, begin = sosie.SignatureStore(folder / "store", signer=SIGNER), 0
    for size in SIZES:
        store.append(signed(begin, begin + size))
        begin += size
    assert len(store._state.runs) > 1


def create(folder: Path) -> None:
    sosie.SignatureStore(folder / "new", signer=SIGNER).append(signed(0, 30))


def append(folder: Path) -> None:
    sosie.SignatureStore(folder / "store").append(signed(BEFORE, BEFORE + 2))


def merge(folder: Path) -> None:
    sosie.SignatureStore(folder / "store").append(signed(BEFORE, BEFORE + 30))


def batch(folder: Path) -> None:
    def write(table: object) -> None:
        (folder / "matches").write_text(str(table), "utf-8")

    texts = sosie.Source.from_texts(TEXTS[BEFORE:], ids=[f"d{i}" for i in range(BEFORE, BEFORE + 30)])
    BatchMatching().run(folder / "store", texts, write, threads=1)


ACTIONS: dict[str, Callable[[Path], None]] = {each.__name__: each for each in (create, append, merge, batch)}


def each_once(folder: str) -> None:
    """Do everything once, so that kernels are loaded; nobody waits for another process."""
    tempfile.tempdir = folder
    for name, action in ACTIONS.items():
        (Path(folder) / name).mkdir(parents=True)
        prepared(Path(folder) / name)
        action(Path(folder) / name)


def killed(number: int, name: str, folder: str) -> int:
    """Change a store until the n-th change of the file system."""
    at_event(number, CHANGES, die)
    ACTIONS[name](Path(folder))
    return NOT_MET


def failing(number: int, code: int, name: str, folder: str, once: bool) -> int:
    """Change a store while the n-th call fails, once or with all that follow."""
    met = []

    def fail() -> None:
        met.append(number)
        refuse(code)

    at_event(number, CHANGES if once else CREATES, fail, once, folder if once else "?")
    return _ended(name, folder, os.strerror(code), met)


def bounded(limit: int, name: str, folder: str) -> int:
    """Change a store while no file may grow beyond a limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    return _ended(name, folder, "File too large", [])


def _ended(name: str, folder: str, reason: str, met: list[int]) -> int:
    try:
        ACTIONS[name](Path(folder))
    except (sosie.SosieError, OSError) as error:
        assert isinstance(error, sosie.SosieError) or name == "batch", f"no named error: {error!r}"
        assert reason in str(error), f"does not say why: {error}"
        return NAMED
    return BORNE if met else NOT_MET


def several(number: int, folder: str, count: int) -> int:
    """Append so many batches, one row each; another process does the same."""
    rng = np.random.default_rng(number)
    for i in range(count):
        words = rng.integers(0, 2**64, 1, dtype=np.uint64)
        sosie.SignatureStore(folder).append(sosie.Signatures(words, ids=[f"{number} {i}"]))
    return 0
