"""Searches as they are planned, and as they are: recall, bytes and seconds predicted beside measured.

usage: python -m benchmarks.planned_search [--rows 10000,100000] [--texts FILE.parquet]... [--usual] [--busy]
                                           [--only methods,kinds] [--output FILE]

Methods: for rows of 64 and 1024 bits, uniform, clustered and with skewed bits, all within a radius and the nearest are
asked, exactly and for a recall of .9; every setting that the planner finds worth trying is run, in one batch and query
by query, if it is expected to be done soon. With --texts simhashes and wide signatures of real texts, too.

Kinds: the kind that `sosie index build` chooses without any option, beside every exact kind, for 10^4 to 10^7 rows.

Constants are measured first, unless --usual ones are asked for. Which share is within the bars is printed, with every
prediction that is not, and all is kept in benchmarks/planned_search.json. The numbers are for a machine that does
nothing else; with --busy, the time of the thread is taken.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planned_bars import BARS, lines, summed
from benchmarks.planned_rows import SKEWS, Rows, drawn, generated, of_texts, volatile
from sosie.index.auto import EXACT, Asking, choose_index, nearest_facts, sharing
from sosie.index.flat import FlatIndex
from sosie.index.registry import KINDS, effort_of, make_index
from sosie.jobs.planning.measure_search import measure
from sosie.planner.choose import choose
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts, Spread
from sosie.planner.machine import Machine, cpu_name
from sosie.planner.registry import METHODS
from sosie.planner.wish import Wish
from sosie.types import Matches, Signatures

RESULT = Path(__file__).with_name("planned_search.json")
SEARCHES = {name: METHODS[name] for name in ("flat", "multi", "blocks", "probes", "slices")}
ROWS = (10**4, 10**5, 10**6, 4 * 10**6)
KIND_ROWS = (10**4, 10**6, 10**7)
ASKED, ALONE = 256, 12  # queries of a batch, and of those that come one by one
ASKS: dict[int, tuple[dict[str, int], ...]] = {
    64: ({"radius": 3}, {"radius": 8}, {"k": 1}, {"k": 10}),
    1024: ({"radius": 3}, {"radius": 40}, {"k": 10}),
}
RECALLS = (1.0, 0.9)
_SAMPLE = 64  # queries from which facts are told
_LONGEST = 0.2  # seconds that a batch is expected to take, at most
_ENOUGH = 0.05  # seconds of runs
_WIDE = 10**8  # bits in all; beyond that only uniform rows
_LARGEST = 2 * 10**8  # bits in all, that are run with all methods


def main() -> None:
    """Plan, run, compare and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="numbers of rows, as in 10000,100000; without, all")
    parser.add_argument("--texts", action="append", default=[], help="a Parquet file with a column text")
    parser.add_argument("--usual", action="store_true", help="constants of a usual machine, not of this one")
    parser.add_argument("--busy", action="store_true", help="the time of the thread")
    parser.add_argument("--only", default="methods,kinds", help="what is compared")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    clock = time.thread_time if options.busy else time.perf_counter
    machine = Machine(cpu_name(), None, {} if options.usual else _measured())
    given = None if options.rows is None else [int(count) for count in options.rows.split(",")]
    settings, kinds = list[dict[str, Any]](), list[dict[str, Any]]()
    if "methods" in options.only:
        for data in collections(given or ROWS, options.texts):
            for found in compared(data, machine, clock):
                settings.append(found)
            print(f"{data.name} {data.skew}: {len(settings)} settings", flush=True)
    if "kinds" in options.only:
        for count in given or KIND_ROWS:
            for bits in (64, 1024):
                for skew in SKEWS[:2]:
                    kinds.append(_kinds(count, bits, skew, machine, clock))
                    print(json.dumps(kinds[-1]), flush=True)
    summary = summed(settings, kinds)
    result = {"machine": machine.to_dict(), "summary": summary, "settings": settings, "kinds": kinds}
    options.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(summary, settings, kinds)))


def _measured() -> Mapping[str, float | Mapping[int, float]]:
    measure(1)  # compiles
    return measure(1)


def collections(counts: Any, texts: list[str]) -> Iterator[Rows]:
    """Yield what is searched, one after the other."""
    for count in counts:
        for bits in (64, 1024):
            if count * bits > _LARGEST and bits > 64:
                continue
            for skew in SKEWS if count * bits <= _WIDE else SKEWS[:1]:
                yield generated(count, bits, skew, ASKED)
        if count * 64 <= _WIDE:
            yield volatile(count, ASKED)
    for path in texts:
        yield from of_texts(Path(path), ASKED)


def compared(data: Rows, machine: Machine, clock: Callable[[], float]) -> Iterator[dict[str, Any]]:
    """Yield for each setting that is run what was predicted of it and what was measured, and then the choices."""
    flat, indexes = FlatIndex(data.rows), dict[str, tuple[Any, float]]()
    for ask in ASKS[data.bits]:
        truth, facts = _truth(flat, data.queries, ask), _facts(flat, data, ask)
        runs = dict[str, dict[str, Any]]()
        plans = []
        for recall in RECALLS if data.skew != "real" or "k" not in ask else RECALLS[1:]:
            for single in (False, True):
                asked = ALONE if single else len(data.queries)
                wish = Wish(
                    task="search",
                    rows=len(data.rows),
                    bits=data.bits,
                    others=asked,
                    recall=recall,
                    single=single,
                    **ask,
                )
                plans.append(choose(wish, facts, machine, SEARCHES))
                for each in plans[-1].candidates:
                    if _query_seconds(each) > _LONGEST or (label(each), single) in runs:
                        continue
                    run = _run(data, each, ask, truth, indexes, clock, single)
                    runs.setdefault(label(each), {})[("batch", "single")[single]] = run
                    yield {"data": data.name, "skew": data.skew, "ask": ask, "single": single, **run}
        for plan in plans:
            yield from _choice(data, ask, plan, runs)
    indexes.clear()
    gc.collect()


def _facts(flat: FlatIndex, data: Rows, ask: dict[str, int]) -> Facts:
    """Return what some of the queries tell by exact search."""
    some = data.queries.take(np.arange(min(_SAMPLE, len(data.queries))))
    shared, volatile = sharing(data.rows.words, data.bits), data.queries.volatility is not None
    apart = np.bitwise_count(data.rows.words[:2000:8, None] ^ some.words[None]).sum(axis=2, dtype=np.int64)
    known: dict[str, Any] = {"sharing": shared, "volatile": volatile, "background": _spread(apart)}
    if "radius" in ask:
        found = flat.within(some, ask["radius"])
        of = _spread(found.distances) if len(found.rows) else None
        return Facts(counted=True, distances=of, matches=len(found.rows) / len(some), **known)
    near = nearest_facts(flat.search(some, 4 * ask["k"]), ask["k"])
    return Facts(counted=True, distances=near.distances, nearest=near.nearest, tied=near.tied, **known)


def _truth(flat: FlatIndex, queries: Signatures, ask: dict[str, int]) -> Matches:
    return flat.search(queries, ask["k"]) if "k" in ask else flat.within(queries, ask["radius"])


def _run(
    data: Rows,
    candidate: Candidate,
    ask: dict[str, int],
    truth: Matches,
    indexes: dict[str, tuple[Any, float]],
    clock: Callable[[], float],
    single: bool,
) -> dict[str, Any]:
    """Build and search as a candidate says; return what was predicted beside what was measured."""
    options = {each.name: candidate.parameters.get(each.name) for each in KINDS[candidate.method].options}
    efforts = {each.name: candidate.parameters.get(each.name) for each in KINDS[candidate.method].effort}
    built = {name: value for name, value in options.items() if value is not None and name not in efforts}
    name = json.dumps([candidate.method, built])
    if name not in indexes:
        indexes[name] = _timed(lambda: make_index(candidate.method, data.rows, built), clock, 1)
    index, build = indexes[name]
    effort, queries = effort_of(index, efforts), data.queries

    def search(asked: Signatures) -> Matches:
        if "k" in ask:
            found: Matches = index.search(asked, ask["k"], effort=effort, threads=1)
        else:
            found = index.within(asked, ask["radius"], effort=effort, threads=1)
        return found

    if single:
        queries = queries.take(np.arange(ALONE))
        parts = [queries.take(at) for at in _each(ALONE)]
        _, taken = _timed(lambda: [search(part) for part in parts], clock, 3)
        matches = search(queries)
        truth = _of_first(truth, ALONE)
    else:
        matches, taken = _timed(lambda: search(queries), clock, 3)
    expected = candidate.estimate
    saved = index._to_save().arrays.values()
    return {
        "method": candidate.method,
        "setting": label(candidate),
        "exact": candidate.exact,
        "recall": [round(expected.recall, 4), round(_recall(matches, truth, ask), 4)],
        "build": [expected.build, build],
        "seconds": [expected.seconds - expected.build, taken],
        "bytes": [expected.bytes.disk, int(sum(array.nbytes for array in saved))],
        "work": {
            counter: [round(value), matches.counters.get(counter, 0)]
            for counter, value in (() if single else expected.work.items())
        },
    }


def _timed(job: Callable[[], Any], clock: Callable[[], float], repeats: int) -> tuple[Any, float]:
    """Return what a job returns, and the least time of a few runs: of one that takes long, the first two."""
    times = list[float]()
    while len(times) < repeats + 1 and (len(times) < min(repeats, 2) or sum(times) < _ENOUGH):
        begin = clock()
        made = job()
        times.append(clock() - begin)
    return made, min(times)


def _of_first(truth: Matches, count: int) -> Matches:
    """Return the matches of the first queries."""
    stop = int(truth.offsets[count])
    return Matches(truth.offsets[: count + 1], truth.rows[:stop], truth.distances[:stop])


def _recall(found: Matches, truth: Matches, ask: dict[str, int]) -> float:
    """Return the share of the exact answer that was found; what is as far as the k-th nearest is as good."""
    if "radius" in ask:
        return len(found.rows) / max(len(truth.rows), 1)
    last = truth.distances[truth.offsets[1:] - 1]
    return float(np.sum(found.distances <= np.repeat(last, np.diff(found.offsets))) / len(truth.rows))


def _choice(data: Rows, ask: dict[str, int], plan: Any, runs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield how long the chosen candidate took, beside the fastest of those that meet the wish."""
    how = "single" if plan.wish.single else "batch"

    def taken(name: str) -> float:
        return float(runs[name][how]["build"][1] + runs[name][how]["seconds"][1])

    meeting = [
        name
        for name, run in runs.items()
        if how in run and run[how]["recall"][1] >= plan.wish.recall - BARS["recall"][0]
    ]
    if plan.chosen is None or label(plan.chosen) not in runs or not meeting or how not in runs[label(plan.chosen)]:
        return
    chosen, fastest = label(plan.chosen), min(meeting, key=taken)
    yield {
        "data": data.name,
        "skew": data.skew,
        "ask": ask,
        "asked": plan.wish.recall,
        "single": plan.wish.single,
        "chosen": chosen,
        "fastest": fastest,
        "ratio": round(taken(chosen) / taken(fastest), 3),
    }


def _kinds(count: int, bits: int, skew: str, machine: Machine, clock: Callable[[], float]) -> dict[str, Any]:
    """Return how long the kind that is chosen without any option takes for a query, beside the best exact kind.

    Block tables are tried only where they are chosen: for nearest rows that are far away they are a flat index.
    """
    words = drawn(np.random.default_rng([count, bits]), count + 64, bits, skew)
    rows, queries = Signatures(words[64:], bits), Signatures(words[:64].copy(), bits)
    del words
    begin = clock()
    chosen = choose_index(rows, Asking(), machine)
    choosing = clock() - begin
    times, asked = dict[str, dict[str, float]](), {"batch": [queries], "single": [queries.take(at) for at in _each(64)]}
    tried: dict[str, tuple[str, Mapping[str, Any]]] = {name: (name, {}) for name in EXACT if name != "blocks"}
    if chosen.parameters:
        tried["chosen"] = chosen.kind, chosen.parameters
    for name, (kind, parameters) in tried.items():
        index = chosen.flat if kind == "flat" else make_index(kind, rows, parameters)
        times[name] = {
            how: _timed(lambda parts=parts, index=index: [index.search(part, 10) for part in parts], clock, 3)[1] / 64
            for how, parts in asked.items()
        }
        del index
        gc.collect()
    own = times["chosen" if chosen.parameters else chosen.kind]
    ratios = {how: own[how] / min(each[how] for each in times.values()) for how in asked}
    return {
        "rows": count,
        "bits": bits,
        "skew": skew,
        "kind": chosen.kind,
        "parameters": chosen.parameters,
        "choosing": choosing,
        "predicted": {coming: chosen.seconds(coming) for coming in chosen.candidates},
        "times": times,
        "ratios": ratios,
    }


def _each(count: int) -> list[Any]:
    return [np.array([i]) for i in range(count)]


def label(candidate: Candidate) -> str:
    """Return a candidate by its method and its parameters."""
    return " ".join([candidate.method, *(f"{name}={value}" for name, value in candidate.parameters.items())])


def _query_seconds(candidate: Candidate) -> float:
    return candidate.estimate.seconds - candidate.estimate.build


def _spread(distances: Any) -> Spread:
    values, weights = np.unique(distances, return_counts=True)
    return Spread(values.astype(np.float64), weights.astype(np.float64))


if __name__ == "__main__":
    main()
