"""Dictionaries trained on parallel text: words aligned in both directions, side by side in processes of their own.

The aligner holds the interpreter's lock while it goes through the segments, so threads of Python would wait for each
other, and whoever wants to interrupt it would wait, too. It has threads of its own, which processes share.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from sosie.arrays import I64
from sosie.crosslingual.aligner import Asked, Entries, align, load_thot, put_down, taken_up
from sosie.crosslingual.bitext import Bitext, Side
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.translations import Translations, ordered
from sosie.errors import DataError, UsageError
from sosie.parallel import thread_count
from sosie.planner.constants.words import LITTLE

Told = Callable[[int, int], None]
_START = (
    "import json, pathlib, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from sosie.crosslingual.aligner import work; work(pathlib.Path(sys.argv[2]))"
)


def train(
    segments: Iterable[tuple[str, str]] | Bitext,
    spec: TrainingSpec = TrainingSpec(),
    *,
    threads: int | None = None,
    progress: Told | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> Dictionary:
    """Return the dictionary of segments (source text, target text): p(e | f) and p(f | e), each aligned by itself.

    The same segments give the same dictionary, in any order and with any number of threads. `progress` is told how
    many iterations are done, of how many. `scratch` is a folder for what other processes are told.

    >>> text = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")] * 5
    >>> train(text).translations("buch")[0][0]
    'book'
    """
    if spec.origin != "trained":
        raise UsageError("a spec of what is loaded trains nothing: leave origin out")
    load_thot()
    bitext = segments if isinstance(segments, Bitext) else Bitext.of(segments, spec.longest)
    if not len(bitext):
        raise DataError("no segment has words on both sides: there is nothing to train on.")
    ways = [_asked(bitext.source, bitext.target), _asked(bitext.target, bitext.source)]
    told = _Sum(progress or (lambda done, total: None))
    if bitext.links * max(spec.rounds, 1) < LITTLE and spec.aligner in ("fast_align", "ibm1"):
        found = [align(asked, spec, told.part(i)) for i, asked in enumerate(ways)]
    else:
        found = _beside(ways, spec, thread_count(threads), told, scratch)
    return _dictionary(bitext, found, spec)


class _Sum:
    """Tells one listener what several tell."""

    def __init__(self, listener: Told) -> None:
        self._listener = listener
        self._parts = dict[int, tuple[int, int]]()

    def part(self, number: int) -> Told:
        def tell(done: int, total: int) -> None:
            self._parts[number] = (done, total)
            totals = [each for _, each in self._parts.values()]
            # A direction that has not begun will take as long as the other one.
            self._listener(sum(each for each, _ in self._parts.values()), 2 * max(totals))

        return tell


def _asked(side: Side, other: Side) -> Asked:
    return Asked(side.offsets, side.rows, other.offsets, other.rows, len(side.words), len(other.words))


def _dictionary(bitext: Bitext, found: list[Entries], spec: TrainingSpec) -> Dictionary:
    """Return both directions as a dictionary of the words that are in one of them."""
    forward, backward = found
    source = np.unique(np.concatenate([forward.rows, backward.words]))
    target = np.unique(np.concatenate([backward.rows, forward.words]))
    return Dictionary(
        bitext.source.words.take(pa.array(source)),
        bitext.target.words.take(pa.array(target)),
        _table(forward, source, target),
        _table(backward, target, source),
        spec,
        len(bitext),
    )


def _table(entries: Entries, rows: I64, others: I64) -> Translations:
    """Return entries by the places of their words among those that are kept."""
    places, words = np.searchsorted(rows, entries.rows), np.searchsorted(others, entries.words)
    return ordered(places, words, entries.probabilities, len(rows))


def _beside(
    ways: list[Asked], spec: TrainingSpec, threads: int, told: _Sum, scratch: str | os.PathLike[str] | None
) -> list[Entries]:
    """Return what processes of their own find, all at a time if there are as many threads."""
    processes = min(len(ways), threads)
    with tempfile.TemporaryDirectory(prefix="sosie-align-", dir=scratch) as place:
        folders = [Path(place) / str(i) for i in range(len(ways))]
        for folder, asked in zip(folders, ways, strict=True):
            folder.mkdir()
            put_down(asked, spec, folder)
        waiting = deque(
            _Process(folder, told.part(number), threads // processes) for number, folder in enumerate(folders)
        )
        started = list[_Process]()
        try:
            with selectors.DefaultSelector() as selector:
                while waiting or selector.get_map():
                    while waiting and len(selector.get_map()) < processes:
                        started.append(waiting.popleft())
                        selector.register(started[-1].start(), selectors.EVENT_READ, started[-1])
                    for key, _ in selector.select():
                        if not key.data.heard():
                            selector.unregister(key.fileobj)
        finally:
            for process in started:
                process.stop()
        return [taken_up(folder) for folder in folders]


class _Process:
    """Another process, which aligns what its folder asks, and who is told of its iterations."""

    def __init__(self, folder: Path, told: Told, threads: int) -> None:
        self._folder, self._told, self._threads = folder, told, threads
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> IO[bytes]:
        """Start it; return what is to be listened to."""
        with open(self._folder / "errors", "wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path), str(self._folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"OMP_NUM_THREADS": str(self._threads)},
                bufsize=0,
            )
        assert self._process.stdout is not None
        return self._process.stdout

    def heard(self) -> bool:
        """Take the next line of it; False if that was the last. One that failed raises."""
        assert self._process is not None and self._process.stdout is not None
        if line := self._process.stdout.readline():
            done, total = map(int, line.split())
            self._told(done, total)
            return True
        if code := self._process.wait():
            said = (self._folder / "errors").read_text("utf-8", "replace").strip().rpartition("\n")[2]
            raise DataError(
                f"the aligner's process ended with code {code}{f' ({said})' if said else ''}. If memory was short,"
                " train on fewer segments, or with one thread."
            )
        return False

    def stop(self) -> None:
        """End it, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
