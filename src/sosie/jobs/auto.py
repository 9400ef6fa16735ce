"""What `auto` does: the method of a de-duplication or a join, as the planner says, and refused where it cannot fit.

No other place resolves `auto`. What a method costs, finds and holds is in `sosie/planner/methods`; how many bytes a run
is sure to keep to is in `sosie/planner/memory.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sosie.errors import UsageError
from sosie.features.weighting import FITTED as FITTED
from sosie.jobs.parameters import DedupParameters
from sosie.matches.candidates import Exact, Identical, Method
from sosie.matches.join import SignatureJoin
from sosie.planner.choose import choose
from sosie.planner.constants.documents import FIXED_BYTES as FIXED_BYTES
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine, load_machine
from sosie.planner.memory import check_fits, held_bytes
from sosie.planner.memory import check_limit as check_limit
from sosie.planner.memory import in_memory as in_memory
from sosie.planner.memory import list_bytes as lists_of
from sosie.planner.methods import exact, minhash, simhash
from sosie.planner.plan import Plan
from sosie.planner.registry import METHODS, Costed
from sosie.planner.wish import Wish
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.size import show_size

_PLANNED: Mapping[str, Costed] = {"exact": exact, "minhash": minhash, "simhash": simhash}


@dataclass(frozen=True, eq=False)
class Chosen:
    """The method of a de-duplication, and what is expected of it; of simhash, the radius, where it is planned.

    `plan` has what else was considered, where there was a choice. What is compared byte for byte is not planned.
    """

    method: Method
    candidate: Candidate | None = None
    radius: int | None = None
    plan: Plan | None = None


def choose_method(job: DedupParameters, features: int, documents: int, memory: int | None = None) -> Method:
    """Resolve a method's name for so many features and documents of which nothing else is known: see `chosen`."""
    facts = Facts(counted=True, features=features / max(documents, 1))
    return chosen(job, wish_of(job, documents, memory=memory), facts).method


def wish_of(
    job: DedupParameters, documents: int, *, memory: int | None = None, threads: int = 1, written: bool = True
) -> Wish:
    """Return what a de-duplication asks of a plan."""
    return Wish(
        task="dedup",
        rows=max(documents, 1),
        threshold=float(job.threshold),
        measure=job.similarity,
        weighting=job.weighting,
        recall=job.recall,
        memory=memory,
        threads=threads,
        written=written,
    )


def chosen(job: DedupParameters, wish: Wish, facts: Facts, machine: Machine | None = None) -> Chosen:
    """Resolve a method; "auto" is what the planner takes: of the methods that reach the recall, the fastest that fits.

    Unless less is asked, that is the exact join. Where its lists do not fit, it is signatures, which are minhash for
    sets and simhash for weights; containment has none. Raises where a limit of memory is too little for what every
    method holds, for statistics, or for the lists of the exact join.
    """
    known = load_machine() if machine is None else machine
    features = round(facts.features * wish.rows)
    if wish.memory is not None:
        check_fits(job.weighting, features, wish.rows, wish.memory)
    if not isinstance(job.method, str):
        return _given(job.method, wish, facts, known)
    name: str = job.method
    if name == "identical":
        return Chosen(Identical())
    if name == "auto":
        methods = ("exact",) if wish.exact else _approximate(wish, "exact")
        plan = choose(wish, facts, known, {each: METHODS[each] for each in (*methods, *_approximate(wish))})
        if plan.chosen is not None:
            return _made(job, plan.chosen, plan)
        name = _stand_in(wish)
    if name == "exact" and wish.memory is not None:
        _check_lists(job, features, wish)
    parameters = _setting(name, wish, facts, known)
    return _made(job, _PLANNED[name].estimate(wish, facts, known, parameters), None)


def choose_join(rows: int, bits: int, radius: int) -> SignatureJoin:
    """Return how all pairs of signatures are found: by block tables, or by comparing all with all, as the planner says.

    >>> choose_join(1_000_000, 64, 3), choose_join(1_000_000, 256, 53)
    ('blocks', 'brute')
    """
    if not rows:
        return "brute"
    plan = choose(Wish(task="join", rows=rows, bits=bits, radius=radius), Facts(), load_machine())
    return "blocks" if plan.chosen is not None and plan.chosen.method == "blocks join" else "brute"


def list_bytes(job: DedupParameters, features: int, documents: int) -> int:
    """Return about how much memory the lists of the exact join take."""
    return lists_of(float(job.threshold), job.similarity, features, documents)


def _approximate(wish: Wish, *before: str) -> tuple[str, ...]:
    """Return the methods by signatures that can tell what is asked."""
    if wish.measure == "containment":
        return before
    return (*before, "simhash") if wish.weighting != "binary" else (*before, "minhash", "simhash")


def _stand_in(wish: Wish) -> str:
    """Return what is taken where the exact join does not fit."""
    if wish.measure == "containment":
        return "exact"
    return "minhash" if wish.weighting == "binary" else "simhash"


def _setting(name: str, wish: Wish, facts: Facts, machine: Machine) -> Mapping[str, Any]:
    """Return the parameters of a method by its name: the usual ones, unless less recall is asked."""
    if name == "exact":
        return {}
    if wish.exact:
        return minhash.usual(wish) if name == "minhash" else simhash.usual(wish)
    plan = choose(wish, facts, machine, {name: METHODS[name]})
    best = plan.chosen or plan.candidates[0]
    return best.parameters


def _made(job: DedupParameters, candidate: Candidate, plan: Plan | None) -> Chosen:
    """Return the method that a candidate stands for."""
    given = candidate.parameters
    if candidate.method == "exact":
        return Chosen(Exact(shingles=job.shingles), candidate, plan=plan)
    if candidate.method == "minhash":
        return Chosen(Minhash(shingles=job.shingles, **given), candidate, plan=plan)
    spec = Simhash(bits=given["bits"], weighting=job.weighting, shingles=job.shingles)
    return Chosen(spec, candidate, given["radius"], plan)


def _given(method: Method, wish: Wish, facts: Facts, machine: Machine) -> Chosen:
    """Return a method that was given as a spec, with what is expected of it."""
    if isinstance(method, Exact):
        return Chosen(method, exact.estimate(wish, facts, machine, {}))
    if isinstance(method, Minhash):
        setting = {"minima": method.minima, "rows": method.rows}
        return Chosen(method, minhash.estimate(wish, facts, machine, setting))
    if isinstance(method, Simhash):
        radius = simhash.usual_radius(wish, method.bits)
        candidate = simhash.estimate(wish, facts, machine, {"bits": method.bits, "radius": radius})
        return Chosen(method, candidate, radius)
    return Chosen(method)


def _check_lists(job: DedupParameters, features: int, wish: Wish) -> None:
    """Raise where the lists of the exact join do not fit into the limit."""
    assert wish.memory is not None
    needed = held_bytes(features, wish.rows) + list_bytes(job, features, wish.rows)
    if needed > wish.memory:
        other = "" if job.similarity == "containment" else ", or use minhash"
        raise UsageError(f"the lists of the exact join need about {show_size(needed)} of memory: allow more{other}")
