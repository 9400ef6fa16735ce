"""Joins as they are planned, and as they are: recall, time and memory predicted beside measured, by method and setting.

usage: python -m benchmarks.planned_joins [--small] [--texts FILE.parquet] [--most SECONDS] [--usual] [--busy]

Random signatures with planted pairs, of 10^4 to 10^7 rows and 64 to 1000 bits, spread evenly, by uneven odds or in
crowds; with --texts also simhashes of the texts in the column `text` of a file. For each, in a process of its own, the
best setting of each method is run that reaches a recall of 1, .95 and .8; those that are expected to take longer than
--most seconds are left out. The constants are measured first, unless --usual ones are asked for. How many predictions
are within the bars is printed with each that is not, and all is kept in benchmarks/planned_joins.json. The numbers are
for a machine that does nothing else; with --busy, one thread is at work, and processor time is measured.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import sosie
from benchmarks.planned_data import SKEWS, Data
from sosie.jobs.planning.joins import method_of
from sosie.jobs.planning.measure_joins import measure
from sosie.jobs.planning.of_signatures import facts_of_signatures
from sosie.parallel import thread_count
from sosie.planner.choose import choose
from sosie.planner.estimate import Candidate
from sosie.planner.machine import PROGRAM, Machine, cpu_name
from sosie.planner.plan import Plan
from sosie.planner.registry import METHODS
from sosie.planner.wish import Wish
from sosie.storage.resident import return_freed
from sosie.types import Signatures

RESULT = Path(__file__).with_name("planned_joins.json")
RECALLS = (1.0, 0.95, 0.8)
BARS = {"recall": (0.03, 0.9), "memory": (0.1, 0.9), "time": (2.0, 0.8), "choice": (1.5, 0.9)}
_SHAPES = (
    *((rows, 64, radius) for rows in (10**4, 10**5, 10**6) for radius in (3, 8, 14)),
    *((rows, 256, radius) for rows in (10**4, 10**5, 10**6) for radius in (12, 60)),
    *((rows, 1000, radius) for rows in (10**4, 5 * 10**4) for radius in (100, 350)),
)
_LARGE = (10**7, 64, 3)
_REAL = ((64, 3), (64, 10), (256, 12), (256, 50), (1024, 50), (1024, 250))
JOINS = {name: METHODS[name] for name in ("brute", "blocks join", "window")}
_SHORT = 1.0  # seconds; shorter runs are repeated
_AGAIN = 3


@dataclass(frozen=True)
class Saved:
    """Signatures of texts, drawn again as random ones are."""

    name: str
    signatures: Signatures
    radius: int

    def __str__(self) -> str:
        return f"{len(self.signatures):,} {self.name} x {self.signatures.bits} bits, radius {self.radius}"

    def draw(self) -> Signatures:
        """Return the signatures."""
        return self.signatures


def main() -> None:
    """Plan, run, compare and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="10^4 rows alone, to see that it works")
    parser.add_argument("--texts", help="a Parquet file with a column text")
    parser.add_argument("--most", type=float, default=8.0, help="seconds that a run is expected to take, at most")
    parser.add_argument("--usual", action="store_true", help="constants of a usual machine, not of this one")
    parser.add_argument("--busy", action="store_true", help="one thread, and processor time")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    machine = Machine(cpu_name(), None, {} if options.usual else measure(thread_count(None)))
    settings: list[dict[str, Any]] = []
    for data in collections(options.small, options.texts):
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # a process of its own
            found = pool.apply(compared, (data, machine, 1.0 if options.small else options.most, options.busy))
        settings += found
        print("\n".join(map(json.dumps, found)), flush=True)
    summary = summed(settings)
    result = {"machine": machine.to_dict(), "busy": options.busy, "summary": summary, "settings": settings}
    options.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(summary, settings)))


def collections(small: bool, texts: str | None) -> Iterator[Data | Saved]:
    """Yield what is joined, one after the other."""
    shapes = [shape for shape in _SHAPES if shape[0] == 10**4] if small else [*_SHAPES, _LARGE]
    for rows, bits, radius in shapes:
        skews = SKEWS if rows < 10**7 and bits * rows <= 64 * 10**6 else SKEWS[:1]
        yield from (Data(rows, bits, radius, skew) for skew in skews)
    if texts:
        given = pq.read_table(texts, columns=["text"])["text"].to_pylist()
        for bits in sorted({bits for bits, _ in _REAL}):
            signatures = sosie.Simhash(bits=bits).fit().sign(given)
            held = Signatures(np.array(signatures.words), bits)
            yield from (Saved(Path(texts).stem, held, radius) for width, radius in _REAL if width == bits)


def compared(data: Data | Saved, machine: Machine, most: float, busy: bool) -> list[dict[str, Any]]:
    """Return for each candidate that is run what was predicted of it and what was measured, and the choices."""
    rows, threads = data.draw(), 1 if busy else thread_count(None)
    warm_up(rows.bits)
    clock = time.process_time if busy else time.perf_counter
    began = clock()
    facts = facts_of_signatures(rows, radius=data.radius, threads=threads)
    took = clock() - began
    planned, runs = [], dict[str, dict[str, Any]]()
    for recall in RECALLS:
        wish = Wish(task="join", rows=len(rows), bits=rows.bits, radius=data.radius, recall=recall, threads=threads)
        planned.append(choose(wish, facts, machine, JOINS))
        for each in planned[-1].best:
            if each.estimate.seconds <= most and label(each) not in runs:
                runs[label(each)] = {"candidate": each, **_run(rows, data.radius, each, threads, clock)}
    exact = [run["pairs"] for run in runs.values() if run["candidate"].exact]
    found = []
    for name, run in runs.items():
        estimate = run["candidate"].estimate
        run["recall"] = run["pairs"] / exact[0] if exact and exact[0] else run["stated"]
        found.append(
            {
                "data": str(data),
                "method": name,
                "recall": [round(estimate.recall, 4), run["recall"]],
                "seconds": [round(estimate.seconds, 4), round(run["seconds"], 4)],
                "bytes": [PROGRAM + estimate.bytes.heap + estimate.bytes.mapped, run["peak"]],
                "work": {key: [round(value), run["counters"].get(key)] for key, value in estimate.work.items()},
                "facts_seconds": round(took, 3),
            }
        )
    return found + [each for plan in planned for each in _choice(data, plan, runs)]


def _choice(data: Data | Saved, plan: Plan, runs: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield how long the chosen candidate took, beside the fastest of those that were run and meet the wish."""
    asked = plan.wish.recall
    meeting = {name: run for name, run in runs.items() if (run["recall"] or 0) >= asked - 0.01}
    if plan.chosen is None or label(plan.chosen) not in runs or not meeting:
        return
    chosen, fastest = label(plan.chosen), min(meeting, key=lambda name: meeting[name]["seconds"])
    ratio = runs[chosen]["seconds"] / runs[fastest]["seconds"]
    yield {"data": str(data), "asked": asked, "chosen": chosen, "fastest": fastest, "ratio": round(ratio, 3)}


def label(candidate: Candidate) -> str:
    """Return a candidate by its method and its parameters."""
    return " ".join([candidate.method, *(f"{name}={value}" for name, value in candidate.parameters.items())])


def _run(
    rows: Signatures, radius: int, candidate: Candidate, threads: int, clock: Callable[[], float]
) -> dict[str, Any]:
    """Join, and return what that took: the least time of a few runs, and the peak of the first one's memory."""
    times, peak = list[float](), 0
    gc.collect()
    return_freed()
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak is counted from here on
    while not times or (times[0] < _SHORT and len(times) < _AGAIN):
        began = clock()
        pairs = sosie.join(rows, radius=radius, method=method_of(candidate), threads=threads)
        times.append(clock() - began)
        peak = peak or _peak()
    counters = dict(pairs.counters)
    return {"seconds": min(times), "peak": peak, "pairs": len(pairs), "stated": pairs.recall, "counters": counters}


def _peak() -> int:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def warm_up(bits: int) -> None:
    """Load the kernels, as who joins a second time has them."""
    rows = Data(3000, bits, 3, "even").draw()
    facts_of_signatures(rows, radius=bits // 4)
    for method in ("brute", "blocks", sosie.Window(tables=12, window=10)):
        sosie.join(rows, radius=3, method=method)  # type: ignore[arg-type]


def summed(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return which share of the predictions is within the bars."""
    runs = [each for each in settings if "method" in each]
    within = {
        "recall": [_near_recall(each) for each in runs if each["recall"][1] is not None],
        "memory": [_near_memory(each) for each in runs],
        "time": [_near_time(each) for each in runs],
        "choice": [each["ratio"] <= BARS["choice"][0] for each in settings if "ratio" in each],
    }
    return {
        name: {
            "settings": len(held),
            "within": sum(held),
            "share": round(float(np.mean(held)), 4),
            "bar": BARS[name][1],
        }
        for name, held in within.items()
        if held
    }


def _near_recall(run: dict[str, Any]) -> bool:
    expected, measured = run["recall"]
    return measured is None or bool(abs(expected - measured) <= BARS["recall"][0])


def _near_memory(run: dict[str, Any]) -> bool:
    expected, measured = run["bytes"]
    return bool(abs(expected / measured - 1) <= BARS["memory"][0])


def _near_time(run: dict[str, Any]) -> bool:
    expected, measured = run["seconds"]
    return bool(1 / BARS["time"][0] <= expected / measured <= BARS["time"][0])


def lines(summary: dict[str, Any], settings: list[dict[str, Any]]) -> list[str]:
    """Return the shares, and each prediction that missed."""
    said = [
        f"{name}: {each['within']} of {each['settings']} within the bar ({each['share']:.0%}; wanted {each['bar']:.0%})"
        for name, each in summary.items()
    ]
    for run in settings:
        if "ratio" in run:
            if run["ratio"] > BARS["choice"][0]:
                said.append(
                    f"missed choice: {run['data']}, {run['asked']}: {run['chosen']} took {run['ratio']:.2f} times"
                    f" as long as {run['fastest']}"
                )
            continue
        for name, near in (("recall", _near_recall), ("memory", _near_memory), ("time", _near_time)):
            if not near(run):
                key = {"memory": "bytes", "time": "seconds"}.get(name, name)
                said.append(
                    f"missed {name}: {run['data']}, {run['method']}: predicted {run[key][0]:,}, was {run[key][1]:,}"
                )
    return said


if __name__ == "__main__":
    main()
