"""The engine: cases of a target are tried in a worker process, which is started again when it dies or hangs."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 30.0  # seconds, of a case that takes milliseconds: more is a hang
PREPARE = 900.0  # seconds, until kernels are compiled and seeds are made
ENDINGS = ("named", "same", "accepted", "signal", "hang", "other")
RIGHT = ("named", "same", "accepted")


def seed_of_run() -> str:
    """Return the seed: as given, the same in every run where CI is set, else another each time."""
    return os.environ.get("SOSIE_FUZZ_SEED") or ("0" if "CI" in os.environ else str(SystemRandom().randrange(10**9)))


def trials_of_run(default: int) -> int:
    """Return how many cases a target is tried with."""
    return int(os.environ.get("SOSIE_FUZZ_TRIALS") or default)


@dataclass
class Tally:
    """What became of the cases of one target."""

    name: str
    seed: str
    endings: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.endings.total()

    def __str__(self) -> str:
        counts = "".join(f"{self.endings[ending]:>10,}" for ending in ENDINGS)
        return f"{self.name:<22}{self.cases:>10,}{counts}{self.seconds:>10.1f}"


HEADER = f"{'target':<22}{'cases':>10}{''.join(f'{ending:>10}' for ending in ENDINGS)}{'seconds':>10}"


def summed(tallies: Sequence[Tally]) -> str:
    """Return the sums of some tallies as one more line of their table, and in words."""
    total = Tally("all", tallies[0].seed)
    for tally in tallies:
        total.endings.update(tally.endings)
        total.seconds += tally.seconds
    signals, hangs, others = (total.endings[ending] for ending in ENDINGS if ending not in RIGHT)
    return (
        f"{total}\n{total.cases:,} cases of {len(tallies)} targets with SOSIE_FUZZ_SEED={total.seed}: "
        f"{signals:,} signals, {hangs:,} hangs, {others:,} other errors or wrong answers; the rest is right"
    )


class Worker:
    """One worker process at a time, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._prepared: set[str] = set()

    def fuzz(self, name: str, seed: str, trials: int, most: int = 5) -> Tally:
        """Try the cases of a target; after so many failures there is no need of more."""
        tally, start = Tally(name, seed), time.perf_counter()
        for number in range(trials):
            ending, said = self._ask(name, seed, number)
            tally.endings[ending] += 1
            if ending not in RIGHT:
                tally.failures.append(self._kept(name, seed, number, f"{ending}: {said}"))
                if len(tally.failures) == most:
                    break
        tally.seconds = time.perf_counter() - start
        return tally

    def _ask(self, name: str, seed: str, number: int) -> tuple[str, str]:
        if self._process is None:
            self._start()
        if name not in self._prepared:
            ending, said = self._answer(name, PREPARE)
            if ending != "ready":
                return ending, f"the seeds cannot be used: {said}"
            self._prepared.add(name)
        return self._answer(f"{name} {seed} {number}", DEADLINE)

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.fuzz.worker", str(self.folder)]
        environment = {**os.environ, "SOSIE_COMPILE_NOTICE": "0"}
        with open(self.folder / "stderr", "wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT, env=environment
            )
        self._prepared = set()

    def _answer(self, line: str, deadline: float) -> tuple[str, str]:
        """Return what the worker says; a signal or a hang is its end."""
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
            said = _line(self._process.stdout, deadline)
        except BrokenPipeError:
            said = b""
        if said is None:
            self.stop(signal.SIGABRT)  # its traceback is written
            return "hang", f"no answer after {deadline:.0f} s\n{self._errors()}"
        if said:
            ending, text = json.loads(said)
            return ending, text
        code = self._process.wait()
        self.stop()
        ending = "signal" if code < 0 else "other"
        return ending, f"the process ended with {code}\n{self._errors()}"

    def _errors(self) -> str:
        return (self.folder / "stderr").read_text("utf-8", "replace")[-3000:]

    def _kept(self, name: str, seed: str, number: int, said: str) -> str:
        """Keep a failing case where it is found again, and return what there is to know of it."""
        place = Path(tempfile.gettempdir()) / "sosie-fuzz" / f"{name}-{seed}-{number}"
        shutil.rmtree(place, ignore_errors=True)
        if (self.folder / "case").exists():
            shutil.copytree(self.folder / "case", place)
        return f"{name}, case {number} of SOSIE_FUZZ_SEED={seed}, kept in {place}\n{said}"

    def stop(self, by: int = signal.SIGKILL) -> None:
        """End the process."""
        if self._process is not None:
            self._process.send_signal(by)
            try:
                self._process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
        self._process = None


def _line(stream: IO[bytes], deadline: float) -> bytes | None:
    """Return a line, empty at the end of the stream; None if there is none in time."""
    if not select.select([stream], [], [], deadline)[0]:
        return None
    return stream.readline()


@contextmanager
def worker() -> Iterator[Worker]:
    """Yield a worker that works in memory where that is possible: thousands of small files are written."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(prefix="sosie-fuzz-", dir=memory if os.access(memory, os.W_OK) else None) as made:
        started = Worker(Path(made))
        try:
            yield started
        finally:
            started.stop()
