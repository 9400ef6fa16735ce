"""Which method the planner takes, by rows, bits, radius and recall; and which one really is the fastest.

usage: python -m experiments.planner_map [--log-rows 14 16] [--queries 4096] [--most 5] [--only map|check]
       [--save FILE.json] [--write]

The map is drawn from plans alone: nothing is run, nothing is known of the data, and all pairs or matches are as far
apart as the radius allows. For the check, the best setting of each method that meets the wish is run on generated rows,
on one thread, if it is planned to take up to --most seconds; times are of the processor, with what is built. A setting
counts if it finds what was asked, or less by TOLERANCE at most, as recall is to be expected within that. Times are
planned with the constants of this machine where they were measured by `sosie plan --machine`, those of a usual one
otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.figure import COLOURS, grid, save
from experiments.planner_grid import recalls, seconds
from experiments.planner_runs import JOINS, SEARCHES, Rows, drawn, run
from experiments.slice_page import publish, table
from sosie.jobs.planning.of_signatures import facts_of_signatures
from sosie.planner.choose import choose
from sosie.planner.facts import Facts
from sosie.planner.limits import missed
from sosie.planner.machine import Machine, load_machine
from sosie.planner.outcome import Outcome
from sosie.planner.plan import Plan
from sosie.planner.wish import Task, Wish

PAGE = "planner.md"
MAPPED = {64: (1, 2, 3, 4, 6, 8, 12, 16), 1024: (4, 16, 48, 100, 200, 300, 350, 400)}
CHECKED = {64: (1, 3, 6, 10), 1024: (16, 100, 300)}
SIZES = tuple(10**power for power in range(3, 10))
RECALLS = (1.0, 0.95)
METHODS: dict[Task, tuple[str, ...]] = {"join": JOINS, "search": SEARCHES}
QUERIES = 10_000  # of a search on the map
TOLERANCE = 0.03
NEAR = 1.5  # times the fastest


class Panel(NamedTuple):
    """A part of the map: what is asked, and which method is chosen by radius and rows."""

    task: Task
    bits: int
    recall: float
    chosen: dict[tuple[int, int], str]

    @property
    def title(self) -> str:
        """What is asked, in words."""
        return f"{self.task}, {self.bits} bits, recall {self.recall:g}"


class Checked(NamedTuple):
    """A wish on real rows: the method that was chosen, and what came of each."""

    wish: Wish
    chosen: str
    outcomes: dict[str, Outcome]

    @property
    def meeting(self) -> dict[str, float]:
        """The seconds of those that found what was asked."""
        least = self.wish.recall - TOLERANCE
        return {name: each.seconds or 0.0 for name, each in self.outcomes.items() if (each.measured or 0.0) >= least}

    @property
    def fastest(self) -> str:
        """The fastest that found what was asked."""
        return min(self.meeting, key=lambda name: self.meeting[name])

    @property
    def ratio(self) -> float:
        """How many times as long as the fastest the chosen one took; infinite if it did not find what was asked."""
        return self.meeting.get(self.chosen, np.inf) / self.meeting[self.fastest]


def draw_map(machine: Machine) -> list[Panel]:
    """Return what is chosen at every place of the map."""
    panels = []
    for task in METHODS:
        for bits, radii in MAPPED.items():
            for recall in RECALLS:
                chosen = {}
                for radius in radii:
                    for rows in SIZES:
                        others = QUERIES if task == "search" else 0
                        wish = Wish(task=task, rows=rows, others=others, bits=bits, radius=radius, recall=recall)
                        chosen[radius, rows] = _method(choose(wish, Facts(), machine))
                panels.append(Panel(task, bits, recall, chosen))
    return panels


def _method(plan: Plan) -> str:
    assert plan.chosen is not None, plan.wish  # no limit is set but recall, and comparing all reaches any
    return plan.chosen.method


def tell_map(panels: Sequence[Panel], machine: Machine) -> str:
    """Return how many places of each part a method has."""
    rows = []
    for panel in panels:
        counts = Counter(panel.chosen.values())
        shares = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        rows.append([panel.task, panel.bits, f"{panel.recall:g}", len(panel.chosen), shares])
    head = ["task", "bits", "recall", "places", "chosen, in so many of them"]
    return f"With constants {_whose(machine)}.\n\n{table(head, rows)}"


def _whose(machine: Machine) -> str:
    return "of this machine" if machine.measured else "of a usual machine"


def picture(panels: Sequence[Panel]) -> None:
    """Draw the map: the rows from left to right, the radius upwards, a colour for each method."""
    figure, all_axes = grid(len(panels) // 2, 2, height=3.0)
    for axes, panel in zip((axes for line in all_axes for axes in line), panels, strict=True):
        names, radii = METHODS[panel.task], MAPPED[panel.bits]
        for name, colour in zip(names, COLOURS, strict=False):
            at = [place for place, method in panel.chosen.items() if method == name]
            spots = [radii.index(radius) for radius, _ in at]
            axes.scatter([rows for _, rows in at], spots, 130, marker="s", color=colour, label=name)
        axes.set(xscale="log", xlabel="rows", ylabel="radius", xlim=(4e2, 2.5e9), ylim=(-0.7, len(radii) + 1.5))
        axes.set_yticks(range(len(radii)), radii)
        axes.set_title(panel.title, fontsize=9)
        axes.grid(False)
        axes.legend(frameon=False, fontsize=7, ncols=3, loc="upper left", markerscale=0.5)
    save(figure, "planner-map")


def check(log_rows: Sequence[int], queries: int, most: float, machine: Machine) -> Iterator[Checked]:
    """Run the best setting of each method that meets the wish, for every wish of the check."""
    for bits, radii in CHECKED.items():
        for radius in radii:
            for log in log_rows:
                data = drawn(1 << log, queries, bits, radius)
                for task in METHODS:
                    asked = data.queries if task == "search" else None
                    facts = facts_of_signatures(data.rows, asked, radius, threads=1)
                    for recall in RECALLS:
                        others = 0 if asked is None else len(asked)
                        sizes = {"rows": 1 << log, "others": others, "bits": bits, "radius": radius}
                        yield checked(Wish(task=task, recall=recall, threads=1, **sizes), data, facts, machine, most)


def checked(wish: Wish, data: Rows, facts: Facts, machine: Machine, most: float) -> Checked:
    """Run the best setting of each method that meets a wish."""
    plan = choose(wish, facts, machine)
    chosen = plan.chosen
    assert chosen is not None
    best = {each.method: each for each in plan.best if not missed(wish, each) and each.estimate.seconds <= most}
    best[chosen.method] = chosen
    runs = {name: run(each, wish, data) for name, each in best.items()}
    exact = [name for name, each in best.items() if each.exact]
    if not exact:
        truth = next(each for each in plan.candidates if each.exact)
        true = run(truth, wish, data).found
    else:
        true = runs[exact[0]].found
    outcomes = {
        name: Outcome.of(best[name], wish.recall, measured=each.recall(true), seconds=each.seconds)
        for name, each in runs.items()
    }
    return Checked(wish, chosen.method, outcomes)


def tell_check(every: Sequence[Checked], machine: Machine) -> str:
    """Return what was chosen, what was the fastest, and how often the choice is that or near it."""
    rows = []
    for each in every:
        wish = each.wish
        size = f"2^{wish.rows.bit_length() - 1}"
        ran = sorted(each.outcomes.values(), key=lambda outcome: outcome.seconds or 0.0)
        others = ", ".join(map(_said, ran))
        ratio = f"{each.ratio:.2f}" if np.isfinite(each.ratio) else "too little found"
        place = [wish.task, wish.bits, wish.radius, size, f"{wish.recall:g}"]
        rows.append([*place, each.chosen, each.fastest, ratio, others])
    head = ["task", "bits", "radius", "rows", "recall", "chosen", "fastest", "times as long", "ms of all that were run"]
    said = "; ".join(_counted(task, [each for each in every if each.wish.task == task]) for task in METHODS)
    return f"With constants {_whose(machine)}; one draw (seed 0). {said}.\n\n{table(head, rows)}"


def _said(outcome: Outcome) -> str:
    found = outcome.measured or 0.0
    return f"{outcome.method} {1000 * (outcome.seconds or 0.0):.1f}" + f" (recall {found:.3f})" * (found < 0.9995)


def _counted(task: str, every: Sequence[Checked]) -> str:
    won, near = sum(each.chosen == each.fastest for each in every), sum(each.ratio <= NEAR for each in every)
    missing = sum(not np.isfinite(each.ratio) for each in every)
    outcomes = [outcome for each in every for outcome in each.outcomes.values()]
    timed = sum(0.5 <= planned / taken <= 2 for planned, taken in seconds(outcomes))
    found = sum(abs(planned - measured) <= TOLERANCE for planned, measured in recalls(outcomes))
    return (
        f"{task}: the choice is the fastest in {won} of {len(every)} settings, within {NEAR} times of it in {near}, "
        f"and finds too little in {missing}; of {len(outcomes)} runs the time is within a factor of 2 of what was "
        f"planned in {timed}, the recall within {TOLERANCE} in {found}"
    )


def main() -> None:
    """Plan, run and print; write and draw if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log-rows", type=int, nargs="+", default=[14, 16], help="of the check: 2^this many rows")
    parser.add_argument("--queries", type=int, default=4096, help="of a search of the check")
    parser.add_argument("--most", type=float, default=5.0, help="seconds that a setting may be planned to take")
    parser.add_argument("--only", choices=("map", "check"), help="leave the other out")
    parser.add_argument("--save", type=Path, help="a JSON file for what was run, as `planner_grid` reads it")
    parser.add_argument("--write", action="store_true", help="write into docs/experiments and docs/images")
    given = parser.parse_args()
    machine = load_machine()
    if given.only != "check":
        panels = draw_map(machine)
        publish(PAGE, "map", tell_map(panels, machine), given.write)
        if given.write:
            picture(panels)
    if given.only != "map":
        for _ in check([10], 64, given.most, machine):  # kernels are compiled
            pass
        every = [*check(given.log_rows, given.queries, given.most, machine)]
        publish(PAGE, "check", tell_check(every, machine), given.write)
        if given.save:
            said = [{"wish": asdict(each.wish), "outcomes": [*map(asdict, each.outcomes.values())]} for each in every]
            given.save.write_text(json.dumps(said, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
