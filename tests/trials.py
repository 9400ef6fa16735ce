"""Trials in a process of their own, which may die of one: numbered, and started again behind the one that did it.

SOSIE_FUZZ_SEED is the number of the first trial, SOSIE_FUZZ_TRIALS how many there are; a failure names the trials, so
that one can be run again alone.
"""

import json
import os
import random
import struct
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path

SEED = int(os.environ.get("SOSIE_FUZZ_SEED", "1"))
TIMEOUT = 300  # seconds for a run of trials, and more for many of them


def trials(default):
    """Return how many trials there are."""
    return int(os.environ.get("SOSIE_FUZZ_TRIALS", default))


def run_trials(module, folder, count, first=SEED):
    """Run trials of a module's `attempt(folder, rng)`; return how they went, and those that went wrong.

    A trial goes well if it returns, which is counted by what it returns, or raises `SosieError`; anything else, a
    signal and a trial that does not end included, is wrong.
    """
    last, outcomes, wrong = first + count, Counter(), []
    progress = Path(folder) / "progress"
    while first < last:
        command = [sys.executable, "-m", "tests.trials", module, str(folder), str(first), str(last)]
        try:
            done = subprocess.run(
                command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, timeout=TIMEOUT + count
            )
            output, code, errors = done.stdout, done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            output, code, errors = (late.stdout or b"").decode(), "no end", ""
        for line in output.splitlines():
            outcome = json.loads(line)
            outcomes.update(outcome.get("outcomes", {}))
            wrong += outcome.get("wrong", [])
        if code == 0:
            break
        assert progress.exists(), errors
        (reached,) = struct.unpack("<q", progress.read_bytes())
        wrong.append([reached, f"ended with {code}", errors[-500:]])
        first = reached + 1
    return outcomes, wrong


def _run(module, folder, first, last):
    from importlib import import_module

    from sosie.errors import SosieError

    attempt, outcomes = import_module(module).attempt, Counter()
    progress = os.open(Path(folder) / "progress", os.O_RDWR | os.O_CREAT)
    for seed in range(first, last):
        os.pwrite(progress, struct.pack("<q", seed), 0)
        try:
            outcomes[attempt(Path(folder), random.Random(seed))] += 1
        except SosieError:
            outcomes["named"] += 1
        except BaseException:
            print(json.dumps({"wrong": [[seed, "raised", traceback.format_exc()[-1500:]]]}), flush=True)
    print(json.dumps({"outcomes": outcomes}), flush=True)


if __name__ == "__main__":
    _run(*sys.argv[1:3], *map(int, sys.argv[3:]))
