"""Searches on four threads beside changes on another: each answer is that of some moment between two changes."""

import sys
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.index.kinds import EVERY

from sosie.index.base import Index, State

SECONDS = 10
READERS = 4
MOST = 2000  # answers of a reader that are kept to be checked
PAUSE = 0.01  # seconds between two changes, at most: there are rows to add for all of the time
ALIKE = 4  # rows that follow each other and are near to each other, so that a query sees a change in parts
POOL = 6000
QUERIES = 16


@dataclass
class Trial:
    """An index that is changed, the versions that it had, and the answers that it gave meanwhile.

    Version v is what the index holds after v changes; `done` is written after a change, so that an answer that was
    begun when `done` was a and was there when it was b is that of a version from a to b + 1.
    """

    kind: object
    values: np.ndarray
    versions: list = field(default_factory=list)
    done: int = 0
    answers: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def __post_init__(self):
        self.index = self.kind.index(self.values[:1200], [f"d{row}" for row in range(1200)])
        self.versions.append((1200, frozenset()))
        self.queries = self.values[: ALIKE * QUERIES : ALIKE] ^ np.uint64(1 << 17)
        self.stop = threading.Event()

    def change(self, rng):
        """Add some rows or remove some, chosen by lot; what an index will hold is told before it does."""
        rows, gone = self.versions[-1]
        live = np.delete(np.arange(rows), np.array(list(gone), np.int64))
        if rng.random() < 0.5 or len(live) < 200:
            count = min(int(rng.integers(1, 7)), len(self.values) - rows)
            self.versions.append((rows + count, gone))
            added = range(rows, rows + count)
            self.index.add(self.kind.rows(self.values[rows : rows + count], [f"d{row}" for row in added]))
        else:
            start = int(rng.integers(len(live) - 3))
            chosen = live[start : start + 3].tolist()
            self.versions.append((rows, gone | set(chosen)))
            self.index.remove([f"d{row}" for row in chosen])
        self.done += 1

    def write(self):
        rng = np.random.default_rng(1)
        while not self.stop.is_set() and self.versions[-1][0] < len(self.values):
            self.change(rng)
            time.sleep(PAUSE * rng.random())

    def read(self, seed):
        rng, kept = np.random.default_rng(seed), []
        while not self.stop.is_set():
            which = int(rng.integers(QUERIES))
            before = self.done
            found = self.kind.asks(self.index, self.queries[which : which + 1])
            after = self.done
            answer = [
                list(zip(each.rows.tolist(), each.distances.tolist(), each.ids.to_pylist(), strict=True))
                for each in found
            ]
            # The searches of one question may be of two versions, so each is an answer by itself.
            kept += [(which, ask, before, after, said) for ask, said in enumerate(answer)]
            if len(kept) > MOST:
                kept = kept[::2]
        self.answers += kept

    def run(self, seconds):
        def guarded(work, *args):
            try:
                work(*args)
            except BaseException as error:  # told by the main thread
                self.errors.append(error)
                self.stop.set()

        readers = [threading.Thread(target=guarded, args=(self.read, seed)) for seed in range(READERS)]
        writer = threading.Thread(target=guarded, args=(self.write,))
        for thread in (*readers, writer):
            thread.start()
        self.stop.wait(seconds)
        self.stop.set()
        for thread in (*readers, writer):
            thread.join()
        if self.errors:
            raise self.errors[0]

    def wrong(self):
        """Return the answers that no version gives."""
        known = {}
        return [answer for answer in self.answers if not self._is_right(known, *answer)]

    def _is_right(self, known, which, ask, before, after, said):
        if any(name != f"d{row}" for row, _, name in said):
            return False
        said = [(row, distance) for row, distance, _ in said]
        return any(self._truth(known, which, version)[ask] == said for version in range(before, after + 2))

    def _truth(self, known, which, version):
        version = min(version, len(self.versions) - 1)
        if (which, version) not in known:
            if version not in known:
                rows, gone = self.versions[version]
                known[version] = np.delete(np.arange(rows), np.array(list(gone), np.int64))
            there = self.values[: self.versions[version][0]]
            known[which, version] = self.kind.truth(there, known[version], self.queries[which])
        return known[which, version]


def values():
    """Return numbers of which many are near to the queries, so that every change is seen soon."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 2**63, QUERIES, dtype=np.uint64)
    made = np.resize(np.repeat(centres, ALIKE), POOL)
    for _ in range(3):
        made = made ^ (np.uint64(1) << rng.integers(0, 64, POOL).astype(np.uint64))
    return made


@pytest.fixture(autouse=True)
def often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("name", EVERY)
def test_every_answer_is_that_of_some_moment_between_two_changes(name):
    trial = Trial(EVERY[name], values())
    EVERY[name].asks(trial.index, trial.queries[:1])  # compiled before the clock runs
    trial.run(SECONDS)
    assert trial.done >= 10 and len(trial.answers) >= 40
    assert not trial.wrong()


def test_an_answer_of_no_moment_is_wrong():
    """What the trial says is wrong: a row too few, another distance, the id of another row, a later version."""
    trial = Trial(EVERY["flat"], values())
    rng = np.random.default_rng(0)
    for _ in range(30):
        trial.change(rng)
    right = trial.kind.truth(trial.values, np.arange(1200), trial.queries[0])[1]
    named = [(row, distance, f"d{row}") for row, distance in right]
    row, distance, name = named[0]
    for said in (named[1:], [(row, distance + 1, name), *named[1:]], [(row, distance, "d1"), *named[1:]]):
        trial.answers = [(0, 1, 0, -1, said)]
        assert trial.wrong()
    trial.answers = [(0, 1, 0, -1, named)]
    assert not trial.wrong()
    trial.answers = [(0, 1, 29, 30, named)]
    assert trial.wrong()


def test_a_torn_change_is_seen(monkeypatch):
    """Rows that are removed one after the other: the trial has to find a moment between."""

    def remove(self, ids):
        for each in ids:
            self._state = State(self._state.ids.without([each])[0], self._state.stored)
            time.sleep(0.002)

    trial = Trial(EVERY["flat"], values())
    monkeypatch.setattr(Index, "remove", remove)
    trial.run(3)
    assert trial.wrong()
