"""PSM Figures 5 and 7 with the planner's curves: flips, recall and time of a query, expected and measured.

usage: python -m experiments.psm_model [--log-rows 14 16 18 20] [--bits 14 16 18 20] [--queries 10000] [--texts FILE]
       [--write]

The planner is told how far matches are apart and how many there are, as a sample of other queries says, and that
queries come with volatility. It makes no probes. Times are with the constants of this machine, where they were measured
by `sosie plan --machine`, and those of a usual one otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from experiments.psm_data import (
    RADIUS,
    Collection,
    collection,
    exact_index,
    microseconds,
    named,
    options,
    picture,
    publish,
    reached,
    table,
)
from sosie import ProbeIndex
from sosie.index.probe_search import ProbeSearch
from sosie.jobs.planning.of_signatures import facts_of_signatures
from sosie.planner.asked import Asked
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine, load_machine
from sosie.planner.methods import blocks, probes
from sosie.planner.models.probes import most_flips
from sosie.planner.wish import Wish

RECALL = 0.95
TABLES = {4: {"radius": RADIUS, "blocks": 4, "header": 1}, 10: {"radius": RADIUS, "blocks": 5, "header": 2}}
METHODS = ("4 tables", "10 tables", "probes")


class Flips(NamedTuple):
    """How many flips a header needs: as calibrated and as planned; and what so many as are planned do find."""

    calibrated: int
    planned: int
    expected: float
    found: float


class Times(NamedTuple):
    """Microseconds of a query, measured and planned."""

    measured: float
    planned: float


def facts_of(data: Collection) -> Facts:
    """Return what a sample of other queries says."""
    return replace(facts_of_signatures(data.rows, data.sample, RADIUS, threads=1), volatile=True)


def wish_of(data: Collection) -> Wish:
    """Return what is asked: all within the radius, 95 % of it, on one thread."""
    sizes = {"rows": len(data.rows), "others": len(data.queries)}
    return Wish(task="search", bits=64, radius=RADIUS, recall=RECALL, threads=1, **sizes)


def flips_of(data: Collection, header: int, facts: Facts) -> Flips:
    """Return the flips of a header (Figure 5)."""
    asked, index = Asked(wish_of(data), facts), ProbeIndex(data.rows, header=header)
    planned = probes.flips_for(asked, header, RECALL)
    assert planned is not None, header
    exact = exact_index(data.rows, 4).within(data.queries, RADIUS)
    found = reached(index, data.queries, ProbeSearch(planned), exact, first=False)
    calibrated = index.calibrate(data.sample, RADIUS, RECALL).probes
    return Flips(calibrated, planned, probes.recall_of(asked, header, planned), found)


def times_of(data: Collection, log_rows: int, facts: Facts, machine: Machine) -> dict[str, Times]:
    """Return what a query takes by each method (Figure 7); probes are as many as were calibrated."""
    wish, times = wish_of(data), {}
    for tables, cut in TABLES.items():
        measured = microseconds(exact_index(data.rows, tables).within, data.queries)
        times[f"{tables} tables"] = Times(measured, _each(blocks.estimate(wish, facts, machine, cut), wish))
    index = ProbeIndex(data.rows, header=log_rows)
    effort = index.calibrate(data.sample, RADIUS, RECALL)
    measured = microseconds(index.within, data.queries, effort=effort)
    planned = probes.estimate(wish, facts, machine, {"probes": effort.probes, "header": log_rows})
    return times | {"probes": Times(measured, _each(planned, wish))}


def _each(candidate: Any, wish: Wish) -> float:
    """Return the microseconds of a query, without what is built once."""
    expected = candidate.estimate
    return 1e6 * float(expected.seconds - expected.build) / wish.others


def tell(flips: Mapping[int, Flips], times: Mapping[int, Mapping[str, Times]], machine: Machine) -> str:
    """Return both figures as tables, and how far apart expectation and measurement are."""
    figure_5 = table(
        ["t", "flips, calibrated", "planned", "bound (Eq. 20)", "recall planned", "of so many, measured"],
        [
            [t, each.calibrated, each.planned, most_flips(t, RADIUS), f"{each.expected:.3f}", f"{each.found:.3f}"]
            for t, each in flips.items()
        ],
    )
    figure_7 = table(
        ["rows", *(f"{name}, {which}" for name in METHODS for which in ("us", "planned"))],
        [[f"2^{log}", *(f"{us:.2f}" for name in METHODS for us in line[name])] for log, line in times.items()],
    )
    off = max(abs(each.expected - each.found) for each in flips.values())
    ratios = [each.planned / each.measured for line in times.values() for each in line.values()]
    near = sum(0.5 <= ratio <= 2 for ratio in ratios)
    whose = "of this machine" if machine.measured else "of a usual machine"
    return (
        f"Flips for a recall of {RECALL}; the recall is at most {off:.3f} off.\n\n{figure_5}\n\n"
        f"Microseconds of a query, all matches, with constants {whose}: planned over measured is {min(ratios):.2f} to "
        f"{max(ratios):.2f}, within a factor of 2 in {near} of {len(ratios)}.\n\n{figure_7}"
    )


def draw(panels: Any, flips: Mapping[int, Flips], times: Mapping[int, Mapping[str, Times]]) -> None:
    """Draw the flips by the bits of a header, and the times by the rows; what is planned is dashed."""
    panels[0].plot(list(flips), [each.calibrated for each in flips.values()], "o-", label="calibrated")
    panels[0].plot(list(flips), [each.planned for each in flips.values()], "C0--", label="planned")
    panels[0].set(xlabel="bits of the header", ylabel=f"flips, recall {RECALL}", ylim=(0, None), title="Figure 5")
    for colour, name in enumerate(METHODS):
        lines = [line[name] for line in times.values()]
        panels[1].plot(list(times), [each.measured for each in lines], f"C{colour}o-", label=name)
        panels[1].plot(list(times), [each.planned for each in lines], f"C{colour}--", label=f"{name}, planned")
    most = max(max(each) for line in times.values() for each in line.values())  # the legend is on top
    panels[1].set(xlabel="log2 of rows", ylabel="us per query, all", ylim=(0, 1.6 * most), title="Figure 7")


def main() -> None:
    """Measure and print; write if asked."""
    parser = options(__doc__, log_rows=[14, 16, 18, 20], asked=10_000)
    parser.add_argument("--bits", type=int, nargs="+", help="of headers, in the largest collection")
    given = parser.parse_args()
    machine, times = load_machine(), {}
    for log_rows in given.log_rows:
        data = collection(given, log_rows)
        times[log_rows] = times_of(data, log_rows, facts_of(data), machine)
    bits, facts = given.bits or [log_rows - 6, log_rows - 4, log_rows - 2, log_rows], facts_of(data)
    flips = {t: flips_of(data, t, facts) for t in bits}
    said = (
        f"One draw (seed 0), one thread; Figure 5 is of 2^{log_rows} rows, {len(data.queries):,} queries: {data.said}"
    )
    publish(named("psm-model", given), f"{said}\n\n{tell(flips, times, machine)}", given.write)
    picture(named("model", given), 2, lambda panels: draw(panels, flips, times), given.write)


if __name__ == "__main__":
    main()
