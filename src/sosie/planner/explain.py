"""A plan in words: the table of candidates, why one of them is taken, what is known and what is only assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.limits import Limit, held, missed
from sosie.planner.machine import CONSTANTS, Machine
from sosie.planner.wish import Wish
from sosie.shown import counted, show_seconds, show_share
from sosie.storage.size import show_size

if TYPE_CHECKING:
    from sosie.planner.plan import Plan

_HEAD = ("method", "parameters", "recall", "time", "memory", "disk")
_MISSED: dict[Limit, str] = {"recall": "finds too few", "memory": "too much memory", "seconds": "too slow"}
_MORE: dict[Limit, str] = {"recall": "less recall", "memory": "more memory", "seconds": "more time"}


def explain(plan: Plan) -> list[str]:
    """Return a plan as lines: what is asked, the candidates, the one that is taken, and how sure that is."""
    lines = [f"{asked(plan.wish)}: {wanted(plan.wish)}", ""]
    lines += table(plan.wish, plan.chosen, plan.best)
    lines += ["", *_taken(plan), *known(plan.wish, plan.facts), measured(plan.machine)]
    notes = plan.chosen.estimate.notes if plan.chosen else ()
    return lines + [f"Note: {note}" for note in (*plan.notes, *notes)]


def asked(wish: Wish) -> str:
    """Return what a wish is for.

    >>> asked(Wish(task="join", rows=10_000_000, bits=64, radius=3))
    'All pairs within radius 3 of 10,000,000 signatures of 64 bits'
    >>> asked(Wish(task="search", rows=10_000, others=100, bits=64, k=10, single=True))
    'The 10 nearest of 100 queries, one after the other, among 10,000 signatures of 64 bits'
    >>> asked(Wish(task="dedup", rows=1_000_000, threshold=0.8))
    'De-duplication of 1,000,000 documents at Jaccard 0.8'
    """
    if wish.task == "dedup":
        return f"De-duplication of {counted(wish.rows, 'document')} at {wish.measure.capitalize()} {wish.threshold:g}"
    if wish.task == "link":
        return f"Links of {counted(wish.rows, 'document')} with {wish.others:,} of another language"
    rows = f"{counted(wish.rows, 'signature')} of {wish.bits} bits"
    near = f"within radius {wish.radius}" if wish.k is None else f"The {wish.k:,} nearest"
    if wish.task == "join":
        return f"All pairs {near} of {rows}{f' with {wish.others:,} others' if wish.others else ''}"
    if wish.task == "batch":
        return f"All {near} of a batch of {wish.others:,} among {rows} in a store"
    how = "one after the other" if wish.single else "in one batch"
    of = f"{near if wish.k else f'All {near}'} of {wish.others:,} quer{'y' if wish.others == 1 else 'ies'}, {how},"
    return f"{of} among {rows}"


def wanted(wish: Wish) -> str:
    """Return what an answer may cost, and how much of it has to be there.

    >>> wanted(Wish(task="join", rows=10, bits=64, radius=3, recall=0.95, memory=4 * 10**9, seconds=60, threads=2))
    '.95 of them, within 4.0 GB and 60 s, on 2 threads'
    """
    limits = [] if wish.memory is None else [show_size(wish.memory)]
    limits += [] if wish.seconds is None else [show_seconds(wish.seconds)]
    within = f", within {' and '.join(limits)}" if limits else ""
    share = "all of them" if wish.exact else f"{show_share(wish.recall)} of them"
    return f"{share}{within}, on {counted(wish.threads, 'thread')}"


def table(wish: Wish, chosen: Candidate | None, candidates: Iterable[Candidate]) -> list[str]:
    """Return candidates as lines of a table, the chosen one marked, and which limits the others do not keep."""
    rows = [("", *_HEAD, "")]
    for each in candidates:
        over = ", ".join(_MISSED[limit] for limit in missed(wish, each))
        rows.append((">" if each is chosen else "", *_cells(each), over))
    return aligned(rows, left=(0, 1, 2, 7))


def _cells(candidate: Candidate) -> tuple[str, str, str, str, str, str]:
    found = candidate.estimate
    cells = (candidate.method, parameters(candidate), show_share(found.recall), show_seconds(found.seconds))
    return *cells, show_size(held(candidate)), show_size(found.bytes.disk) if found.bytes.disk else "-"


def parameters(candidate: Candidate) -> str:
    """Return the parameters of a candidate on one line."""
    return " ".join(f"{name}={value}" for name, value in candidate.parameters.items())


def known(wish: Wish, facts: Facts) -> list[str]:
    """Return what is counted of the data, and what is assumed; of documents what most of them share, too."""
    rows, said = "documents" if wish.bits is None else "signatures", _known(wish, facts)
    if not facts.counted:
        return [f"Assumed, because no {rows} were given: {said}."]
    if (corpus := facts.corpus) is None:
        return [f"Counted in the {rows} themselves, or in a sample of them: {said}."]
    about = "" if corpus.is_counted else "about "
    lines = [f"Counted in {corpus.sampled:,} of {about}{counted(corpus.documents, 'document')}: {said}."]
    if corpus.largest:
        lines += ["Shared by most documents, among the rarest that each has:", ""]
        lines += [*aligned([(f"  {size:,}", name) for size, name in corpus.largest], left=(1,)), ""]
    return [*lines, *(f"Note: {note}" for note in corpus.notes)]


def _known(wish: Wish, facts: Facts) -> str:
    if wish.bits is None:
        said = f"{facts.features:,.0f} features and {facts.text_bytes:,.0f} bytes of text in each"
        if facts.corpus is None or facts.corpus.pairs is None:
            return said
        alike = f"{facts.corpus.copies:.1%} copies, and about {facts.corpus.pairs:,.0f} similar pairs of the others"
        return f"{said}, {alike}"
    if facts.distances is None:
        apart = "matches lie at the radius, the hardest to find" if wish.k is None else "distances as by chance"
    else:
        apart = f"matches are {facts.distances.mean(lambda distance: distance):.1f} bits apart on average"
    bits = facts.factor(16.0)
    spread = "bits are spread evenly" if bits < 1.05 else f"16 bits are shared {bits:,.1f} times as often as by chance"
    return f"{apart}, and {spread}"


def measured(machine: Machine) -> str:
    """Return whose times they are."""
    if machine.measured is None:
        return "Times are those of a usual machine: sosie plan --machine measures this one, once."
    return f"Times are those of this machine ({machine.cpu}), measured on {machine.measured.partition('T')[0]}."


def constants(machine: Machine) -> list[str]:
    """Return the constants of a machine as a table, beside those of a usual one."""
    whose = measured(machine) if machine.measured else f"This machine ({machine.cpu}) was not measured."
    rows = [("constant", "here", "usual", "what takes so many nanoseconds, by what it depends on")]
    for name, constant in CONSTANTS.items():
        here = machine.constants.get(name)
        rows.append((name, "-" if here is None else _sizes(here), _sizes(constant.usual), constant.meaning))
    return [whose, "", *aligned(rows, left=(0, 1, 2, 3))]


def _sizes(value: float | Mapping[int, float]) -> str:
    """Return a constant, at each size that it is known at."""
    if isinstance(value, Mapping):
        return " ".join(f"{_size(size)}:{each:.3g}" for size, each in sorted(value.items()))
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def _size(size: int) -> str:
    """Return a size, in powers of 1024 where it is one.

    >>> _size(1000), _size(1 << 10), _size(1 << 21)
    ('1000', '1024', '2Mi')
    """
    return f"{size >> 20}Mi" if size >= 1 << 20 and not size % (1 << 20) else str(size)


def _taken(plan: Plan) -> list[str]:
    if plan.chosen is not None:
        return [f"{plan.chosen.method} {_says(plan.chosen)}. {_next(plan, plan.chosen)}"]
    rows = [(" and ".join(_MORE[limit] for limit in near.limits), *_cells(near.candidate)) for near in plan.nearest]
    head = ("what gives way", *_HEAD)
    return ["This cannot be had. The nearest that can:", "", *aligned([head, *rows], left=(0, 1, 2)), ""]


def _says(candidate: Candidate) -> str:
    """Return what a candidate finds and costs."""
    found = candidate.estimate
    finds = "all of them" if candidate.exact else f"{show_share(found.recall)} of them"
    build = f" ({show_seconds(found.build)} of that to build it)" if found.build else ""
    return f"finds {finds} in about {show_seconds(found.seconds)}{build}, with {show_size(held(candidate))}"


def _next(plan: Plan, chosen: Candidate) -> str:
    """Return what another method would cost that keeps the limits, too."""
    fit = [each for each in plan.best if each.method != chosen.method and not missed(plan.wish, each)]
    if not fit:
        others = any(each.method != chosen.method for each in plan.candidates)
        return "No other method keeps to that." if others else "There is no other method for it."
    return f"The next, {fit[0].method}, {_says(fit[0])}."


def aligned(rows: Sequence[Sequence[str]], left: tuple[int, ...]) -> list[str]:
    """Return rows as lines whose columns stand below each other; those not named `left` are flush right.

    >>> aligned([("a", "1"), ("bb", "10")], left=(0,))
    ['a    1', 'bb  10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    kept = [place for place, width in enumerate(widths) if width]
    return ["  ".join(f"{row[at]:{'<' if at in left else '>'}{widths[at]}}" for at in kept).rstrip() for row in rows]
