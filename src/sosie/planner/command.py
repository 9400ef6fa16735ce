"""The commands that do what a plan says, as they are typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sosie.planner.estimate import Candidate
from sosie.planner.wish import Wish

# What a command line calls the methods whose own name is another.
_NAMES = {"blocks join": "blocks"}
# Of the parameters of an index, those that it is built with; the others say how far a search goes.
_BUILT = {
    "slices": ("slice_width",),
    "blocks": ("radius", "blocks", "header"),
    "probes": ("header",),
    "multi": ("tables",),
}


def commands(candidate: Candidate, wish: Wish, inputs: Sequence[str] = (), more: Sequence[str] = ()) -> list[str]:
    """Return the commands that run a candidate; `inputs` are what was planned for, else they have names in capitals.

    `more` are options that say how inputs are read.

    >>> from sosie.planner.estimate import Estimate
    >>> window = Candidate(method="window", parameters={"tables": 30}, estimate=Estimate(recall=0.96, seconds=1.0))
    >>> commands(window, Wish(task="join", rows=1000, bits=64, radius=3, recall=0.95))
    ['sosie join SIGNATURES -o PAIRS --radius 3 --method window --tables 30']
    """
    given, name = dict(candidate.parameters), _NAMES.get(candidate.method, candidate.method)
    if wish.task == "dedup":
        options: dict[str, Any] = {"threshold": wish.threshold}
        options |= {} if wish.measure == "jaccard" else {"similarity": wish.measure}
        options |= {} if wish.weighting == "binary" else {"weighting": wish.weighting}
        if not candidate.exact and candidate.method != "spark":  # its parameters are planned for the recall
            options, given = options | {"recall": min(wish.recall, candidate.estimate.recall)}, {}
        if candidate.method == "spark":
            name, given = str(given.get("method", "auto")), {"engine": "spark", "master": "MASTER"}
        return [_line("dedup", inputs or ["DOCUMENTS"], "OUT", options | {"method": name} | given, more)]
    if wish.task == "join":
        both = ["--with", "OTHERS"] if wish.others else []
        return [_line("join", inputs or ["SIGNATURES"], "PAIRS", {"radius": wish.radius, "method": name} | given, both)]
    if wish.task == "batch":
        return [_line("batch", ["STORE", *(inputs or ["NEW"])], "MATCHES", {"radius": wish.radius} | given)]
    if wish.task == "link":
        return [_line("link", inputs or ["SOURCE", "TARGET"], "LINKS", given | _best(wish))]
    build = {each: given.pop(each) for each in _BUILT.get(name, ()) if each in given}
    built = {"kind": name} | build
    asked = {"radius": wish.radius} if wish.k is None else {"nearest": wish.k}
    searching = _line("search", ["INDEX", "QUERIES"], "FOUND", asked | given)
    return [_line("index build", inputs or ["SIGNATURES"], "INDEX", built), searching]


def _best(wish: Wish) -> dict[str, Any]:
    return {"threshold": wish.threshold} if wish.k is None else {"k": wish.k}


def _line(
    command: str, inputs: Sequence[str], output: str, options: Mapping[str, Any], more: Sequence[str] = ()
) -> str:
    words = ["sosie", *command.split(), *inputs, "-o", output, *more]
    for name, value in options.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words += [flag, f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)
