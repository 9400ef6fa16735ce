"""How right plans are: recall, time and memory of every method over a grid, predicted against measured, as one plot.

usage: python -m experiments.planner_grid [FILE ...] [--write]

Files are JSON; without any, those that the benchmarks planned_search, planned_joins and planned_dedup wrote beside
themselves. Whatever in them has the fields of `sosie.planner.outcome.Outcome`, as its `to_dict` writes them, is a
point, and so is what has `sampled` and `measured`, as planned_dedup writes them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from experiments.figure import panels, save
from experiments.slice_page import publish, table
from sosie.planner.outcome import Outcome

PAGE = "planner.md"
MEASURED = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = ("planned_search", "planned_joins", "planned_dedup")
NEEDED = {each.name for each in fields(Outcome)}
Pair = tuple[float, float]
MARKERS = "osv^D<>pPX*hd"


def outcomes_of(said: Any) -> Iterator[Outcome]:
    """Yield the outcomes that are anywhere in what a file says.

    >>> [each.method for each in outcomes_of({"runs": [Outcome(method="flat", seconds=1.0).to_dict()], "rows": 3})]
    ['flat']
    """
    if isinstance(said, dict) and said.keys() >= NEEDED:
        yield Outcome(**{name: said[name] for name in NEEDED})
    elif isinstance(said, dict) and said.keys() >= {"method", "sampled", "measured"}:
        yield _planned_apart(said)
    elif isinstance(said, dict | list):
        for each in said.values() if isinstance(said, dict) else said:
            yield from outcomes_of(each)


def _planned_apart(said: dict[str, Any]) -> Outcome:
    """Return what was planned from a sample, and what was measured, as planned_dedup writes both."""
    planned, measured = said["sampled"], said["measured"]
    return Outcome(
        method=said["method"],
        asked=said["asked"],
        predicted=planned["recall"],
        measured=measured["recall"],
        predicted_seconds=planned["seconds"],
        seconds=measured["seconds"],
        predicted_bytes=planned["bytes"],
        bytes=measured["bytes"],
    )


def read(files: Sequence[Path]) -> dict[str, list[Outcome]]:
    """Return the outcomes of each file, by its name."""
    found = {file.stem: [*outcomes_of(json.loads(file.read_text("utf-8")))] for file in files}
    if empty := [name for name, outcomes in found.items() if not outcomes]:
        sys.exit(f"{empty[0]}: there is no outcome of a plan in it")
    return found


def recalls(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return recall, predicted and measured, of those that have both."""
    return _pairs(outcomes, lambda each: (each.predicted, each.measured))


def seconds(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return seconds, predicted and taken, of those that have both."""
    return _pairs(outcomes, lambda each: (each.predicted_seconds, each.seconds))


def held(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Return bytes, predicted and held, of those that have both."""
    return _pairs(outcomes, lambda each: (each.predicted_bytes, each.bytes))


def _pairs(outcomes: Sequence[Outcome], of: Callable[[Outcome], tuple[float | None, float | None]]) -> list[Pair]:
    both = (of(each) for each in outcomes)
    return [(float(first), float(second)) for first, second in both if first is not None and second is not None]


def tell(found: dict[str, list[Outcome]]) -> str:
    """Return for each method of each file how often recall, time and memory are as they were predicted."""
    rows = []
    for name, outcomes in found.items():
        rows += [[name, *_line(method, of)] for method, of in _by_method(outcomes).items()]
    every = [each for outcomes in found.values() for each in outcomes]
    rows.append(["all", *_line("all", every)])
    head = ["file", "method", "runs", "recall within .03", "time within a factor of 2", "memory within 10 %"]
    return table(head, rows)


def _by_method(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    methods: dict[str, list[Outcome]] = {}
    for each in outcomes:
        methods.setdefault(each.method, []).append(each)
    return methods


def _line(name: str, outcomes: Sequence[Outcome]) -> list[Any]:
    return [
        name,
        len(outcomes),
        _share(recalls(outcomes), lambda predicted, measured: abs(predicted - measured) <= 0.03),
        _share(seconds(outcomes), lambda predicted, measured: 0.5 * measured <= predicted <= 2 * measured),
        _share(held(outcomes), lambda predicted, measured: abs(predicted - measured) <= 0.1 * measured),
    ]


def _share(pairs: Sequence[Pair], right: Callable[[float, float], bool]) -> str:
    """Return how many are right, of how many; nothing where there is none."""
    return f"{sum(right(*pair) for pair in pairs)} of {len(pairs)}" if pairs else ""


def draw(found: dict[str, list[Outcome]]) -> None:
    """Draw recall and time, predicted over measured, a marker for each method."""
    figure, (recall, time) = panels(2, height=4.4)
    methods = _by_method([each for outcomes in found.values() for each in outcomes])
    times = [value for pair in seconds([each for of in methods.values() for each in of]) for value in pair]
    for place, (method, outcomes) in enumerate(methods.items()):
        style = {"marker": MARKERS[place % len(MARKERS)], "s": 18, "alpha": 0.7, "label": method, "color": f"C{place}"}
        for axes, pairs in ((recall, recalls(outcomes)), (time, seconds(outcomes))):
            axes.scatter([measured for _, measured in pairs], [predicted for predicted, _ in pairs], **style)
    recall.plot([0, 1], [0, 1], color="0.5", lw=1)
    for off in (-0.03, 0.03):
        recall.plot([0, 1], [off, 1 + off], ":", color="0.5", lw=1)
    shares = recalls([each for of in methods.values() for each in of])
    ends = min([0.9, *(value for pair in shares for value in pair)]) - 0.02, 1.01
    recall.set(xlabel="recall, measured", ylabel="recall, predicted", xlim=ends, ylim=ends)
    ends = (0.5 * min(times), 2 * max(times)) if times else (0.001, 1)
    for factor, line in ((1, "-"), (0.5, ":"), (2, ":")):
        time.plot(ends, [factor * end for end in ends], line, color="0.5", lw=1)
    time.set(xscale="log", yscale="log", xlabel="seconds, measured", ylabel="seconds, predicted", xlim=ends, ylim=ends)
    time.legend(frameon=False, fontsize=7, loc="lower right")
    save(figure, "planner-grid")


def main() -> None:
    """Read and print; write and draw if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="JSON files with outcomes; default: those of benchmarks/")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    given = parser.parse_args()
    files = given.files or [file for name in NAMES if (file := MEASURED / f"{name}.json").exists()]
    if not files:
        sys.exit(f"nothing to read: run the benchmarks {', '.join(NAMES)}, or name files")
    found = read(files)
    publish(PAGE, "grid", tell(found), given.write)
    if given.write:
        draw(found)


if __name__ == "__main__":
    main()
