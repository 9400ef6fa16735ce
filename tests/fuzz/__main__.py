"""Fuzz for long: every target, or those that are named, on two workers; a table of what became of the cases,
and the sums of it.

usage: python -m tests.fuzz [--trials N] [TARGET...]; a target may be one of the groups documents, parallel, indexes,
artefacts.
SOSIE_FUZZ_SEED and SOSIE_FUZZ_TRIALS are heeded.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.engine import HEADER, Tally, seed_of_run, summed, trials_of_run, worker
from tests.fuzz.targets import GROUPS, TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz for long.")
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, *GROUPS, []], metavar="TARGET")
    parser.add_argument("--trials", type=int, default=trials_of_run(4000))
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    seed, names = seed_of_run(), [each for name in given.targets or GROUPS for each in GROUPS.get(name, [name])]

    def fuzz(name: str) -> Tally:
        with worker() as started:
            return started.fuzz(name, seed, given.trials)

    print(f"SOSIE_FUZZ_SEED={seed}\n{HEADER}", flush=True)
    tallies = []
    with ThreadPoolExecutor(given.workers) as pool:
        for tally in pool.map(fuzz, names):
            print(tally, *tally.failures, sep="\n", flush=True)
            tallies.append(tally)
    print(summed(tallies), flush=True)
    return any(tally.failures for tally in tallies)


if __name__ == "__main__":
    sys.exit(main())
