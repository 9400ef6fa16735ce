"""What tags cost: a file de-duplicated with the tags of its words and without, in CPU time on one thread, in turns.

usage: python -m benchmarks.tags [--texts FILE.parquet] [--rounds 15]

Without a key no tags are made, kept or compared: all else is the same. Nothing is written. Prints the best and the
median of all rounds, for the whole run and for its stages.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import contextmanager
from unittest.mock import patch

from benchmarks.corpus import Corpus
from sosie.features.tags import NO_KEY, draw_key
from sosie.jobs import dedup, work
from sosie.report.timing import Timing

STAGES = ("read", "collapse", "match", "verify", "cluster")


class CpuTiming(Timing):
    """Stages by the CPU time of the process."""

    spent: dict[str, float]

    @contextmanager
    def stage(self, name, *arguments, **options):
        before = time.process_time()
        with super().stage(name, *arguments, **options) as stage:
            yield stage
        type(self).spent[name] = type(self).spent.get(name, 0.0) + time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", help="a Parquet file with a column text; default: a generated corpus")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    texts = Corpus.at(options.texts).path
    taken: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for turn in range(options.rounds + 1):
        for tagged in (turn % 2 == 0, turn % 2 == 1):
            spent = measured(texts, tagged)
            if turn:  # kernels are compiled in the first
                taken[tagged].append(spent)
    print("| CPU time on one thread | without tags | with tags | more |\n|---|---|---|---|")
    for label, choose in (("best", min), ("median", statistics.median)):
        for name in ("run", *STAGES):
            without, having = (choose([spent.get(name, 0.0) for spent in taken[tagged]]) for tagged in (False, True))
            more = f"{having / without - 1:+.0%}" if without else ""
            print(f"| {label}, {name} | {without * 1e3:.0f} ms | {having * 1e3:.0f} ms | {more} |")


def measured(texts, tagged: bool) -> dict[str, float]:
    """Return what a run and its stages take."""
    CpuTiming.spent = {}
    key = draw_key if tagged else lambda: NO_KEY
    with patch.object(work, "draw_key", key), patch.object(dedup, "Timing", CpuTiming):
        start = time.process_time()
        dedup.dedup(texts, method="exact", threads=1)
        return {"run": time.process_time() - start, **CpuTiming.spent}


if __name__ == "__main__":
    main()
