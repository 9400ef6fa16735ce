"""The choice: of all methods that can answer a wish, the one that keeps its limits and is the fastest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sosie.errors import UsageError
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.limits import LIMITS, Limit, missed
from sosie.planner.machine import Machine
from sosie.planner.plan import Nearest, Plan
from sosie.planner.registry import METHODS, Method, candidates
from sosie.planner.wish import Wish

EQUAL = 1.1  # how many times as long as the fastest takes what is as fast: no estimate is surer than that
LESS = (0.999, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)  # what may be had where the recall asked cannot


def choose(wish: Wish, facts: Facts, machine: Machine, methods: Mapping[str, Method] | None = None) -> Plan:
    """Return the plan for a wish: the fastest candidate that reaches the recall within memory and time, if any does.

    Those that are as fast as the fastest are all as good; of them, one that finds all is taken before others, and then
    the one that comes first in the table of methods, the simple ones. What needs a cluster is taken only where nothing
    else keeps the limits. Where no candidate keeps all of them, the plan has the nearest that can be had (see
    `Plan.nearest`).
    """
    table = METHODS if methods is None else methods
    names = list(table)
    found = sorted(candidates(wish, facts, machine, table), key=_cost)
    fitting = [each for each in found if not missed(wish, each)]
    if fitting:
        alone = [each for each in fitting if not table[each.method].cluster] or fitting
        equal = [each for each in alone if each.estimate.seconds <= EQUAL * alone[0].estimate.seconds]
        chosen = min(equal, key=lambda each: (not each.exact, names.index(each.method), *_cost(each)))
        fitting.remove(chosen)
        return _plan(wish, facts, machine, [chosen, *fitting, *_ranked(wish, found)], chosen)
    for recall in (recall for recall in LESS if recall < wish.recall):
        found += candidates(replace(wish, recall=recall), facts, machine, table)
    if not found:
        considered = ", ".join(name for name, method in table.items() if wish.task in method.tasks)
        raise UsageError(f"no method answers this {wish.task}: {considered or 'none'} considered")
    found = _ranked(wish, _distinct(found))
    return replace(_plan(wish, facts, machine, found, None), nearest=_nearest(wish, found))


def _plan(wish: Wish, facts: Facts, machine: Machine, ranked: Sequence[Candidate], chosen: Candidate | None) -> Plan:
    return Plan(wish=wish, facts=facts, machine=machine, candidates=tuple(ranked), chosen=chosen)


def _ranked(wish: Wish, found: Sequence[Candidate]) -> list[Candidate]:
    """Return those that do not meet a wish: by what they cost if they find enough, the others by their recall."""
    missing = [each for each in found if missed(wish, each)]
    return sorted(missing, key=lambda each: (max(wish.recall - each.estimate.recall, 0), *_cost(each)))


def _cost(candidate: Candidate) -> tuple[float, int]:
    """Return what candidates are ranked by: seconds, and then memory."""
    return candidate.estimate.seconds, candidate.estimate.bytes.heap


_NEAREST: dict[Limit, Callable[[Candidate], tuple[float, ...]]] = {
    "recall": lambda each: (-each.estimate.recall, *_cost(each)),
    "memory": lambda each: (each.estimate.bytes.heap, each.estimate.seconds),
    "seconds": _cost,
}


def _nearest(wish: Wish, found: Sequence[Candidate]) -> tuple[Nearest, ...]:
    """Return, for as few limits as have to give way at once, what comes nearest to each of them."""
    nearest: list[Nearest] = []
    for number in range(1, len(LIMITS) + 1):
        for given in combinations(LIMITS, number):
            if any(set(near.limits) <= set(given) for near in nearest):
                continue
            left = [each for each in found if set(missed(wish, each)) <= set(given)]
            best = [min(left, key=_NEAREST[limit]) for limit in given] if left else []
            nearest += [Nearest(given, each) for each in _distinct(best)]
    return tuple(nearest)


def _distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates without those that are there already, with the same parameters."""
    return list({(each.method, tuple(sorted(each.parameters.items(), key=str))): each for each in found}.values())
