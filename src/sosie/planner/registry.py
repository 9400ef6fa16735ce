"""The one table of methods that a plan chooses among: where each lives, and what it is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.wish import Task, Wish


class Costed(Protocol):
    """What every file of `planner/methods` offers."""

    def settings(self, wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
        """Return the parameters worth trying for a wish; none where the method cannot answer it."""

    def estimate(self, wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
        """Return what the method is expected to find, take and hold with some parameters."""


class Method(NamedTuple):
    """A method: the module that knows what it costs, the tasks that it is for, and whether it needs a `cluster`."""

    home: str
    tasks: tuple[Task, ...]
    cluster: bool = False

    def load(self) -> Costed:
        """Import the module."""
        module: Any = import_module(self.home)
        return module  # type: ignore[no-any-return]


_AT = "sosie.planner.methods"
METHODS: dict[str, Method] = {
    "exact": Method(f"{_AT}.exact", ("dedup",)),
    "minhash": Method(f"{_AT}.minhash", ("dedup",)),
    "simhash": Method(f"{_AT}.simhash", ("dedup",)),
    "spark": Method(f"{_AT}.spark", ("dedup",), cluster=True),
    "brute": Method(f"{_AT}.brute", ("join",)),
    "blocks join": Method(f"{_AT}.block_join", ("join",)),
    "window": Method(f"{_AT}.window", ("join",)),
    "flat": Method(f"{_AT}.flat", ("search",)),
    "multi": Method(f"{_AT}.multi", ("search",)),
    "blocks": Method(f"{_AT}.blocks", ("search",)),
    "probes": Method(f"{_AT}.probes", ("search",)),
    "slices": Method(f"{_AT}.slices", ("search",)),
    "store blocks": Method(f"{_AT}.store_blocks", ("batch",)),
    "store probes": Method(f"{_AT}.store_probes", ("batch",)),
    "link exact": Method(f"{_AT}.link_exact", ("link",)),
    "link signatures": Method(f"{_AT}.link_signatures", ("link",)),
}


def candidates(
    wish: Wish, facts: Facts, machine: Machine, methods: Mapping[str, Method] | None = None
) -> Iterator[Candidate]:
    """Return every method that can answer a wish, with every setting worth trying; of some `methods`, or of all."""
    for method in (METHODS if methods is None else methods).values():
        if wish.task in method.tasks:
            costed = method.load()
            for parameters in costed.settings(wish, facts):
                yield costed.estimate(wish, facts, machine, parameters)
