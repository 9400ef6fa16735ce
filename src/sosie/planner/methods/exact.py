"""The exact join of documents: every similar pair, by the rarest features of each (`matches/sets/join.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sosie.planner.constants.documents import (
    FREQUENCY_SLOT_BYTES,
    MOST_SLOTS,
    PLACED_BYTES,
    REST_BYTES,
    ROW_BYTES,
    TOKEN_BYTES,
)
from sosie.planner.estimate import Candidate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.memory import held_bytes, list_bytes, prefix_share
from sosie.planner.stages import Dedup, Stage
from sosie.planner.wish import Wish
from sosie.storage.resident import physical_memory

POSTINGS, COMPARISONS = 3.0, 0.1  # for each document, where nobody has looked


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return no parameters, as there are none; nothing where the lists take half of this machine's memory.

    Containment has no other method.
    """
    return [{}] if wish.measure == "containment" or fits(wish, facts) else []


def fits(wish: Wish, facts: Facts) -> bool:
    """Whether the lists fit into half of the memory: of the limit, or else of the machine."""
    memory = physical_memory() if wish.memory is None else wish.memory
    return wish.memory is not None or _lists(wish, facts) < memory / 2


def least_memory(wish: Wish, facts: Facts) -> int:
    """Return the least limit of memory that the join is sure to keep to, and whose half its lists fit into."""
    lists = _lists(wish, facts)
    held = held_bytes(facts.features * wish.rows, wish.rows) + lists
    return held if wish.measure == "containment" else max(held, 2 * lists)


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what the join takes: frequencies counted, prefixes ranked, postings joined, dense lists by sketches."""
    run = Dedup(wish, facts, machine)
    corpus, threads = run.corpus, wish.threads
    share = prefix_share(run.threshold, wish.measure)
    tokens = run.distinct * (share * facts.features + 1)
    postings = run.distinct * (min(POSTINGS, share * facts.features) if corpus.postings is None else corpus.postings)
    comparisons = COMPARISONS * run.documents if corpus.comparisons is None else corpus.comparisons
    dense = corpus.dense or 0.0
    seconds = sum(
        run.seconds(work, name, threads=threads)
        for work, name in (
            (run.compared, "count"),
            (run.compared, "rank"),
            (tokens, "prefix"),
            (postings, "posting"),
            (2 * facts.features * comparisons, "compare"),
            (dense, "dense"),
        )
    )
    slots = min(max(int(2 * run.compared).bit_length(), 16), MOST_SLOTS)
    lists = FREQUENCY_SLOT_BYTES * 2.0**slots + PLACED_BYTES * postings + ROW_BYTES * run.distinct
    lists += (TOKEN_BYTES if wish.measure == "jaccard" else 2 * (TOKEN_BYTES + REST_BYTES)) * tokens
    held = run.held()
    matching = Stage(seconds, held.heap + lists, held.mapped, held.disk)
    work = {"postings": postings, "comparisons": comparisons}
    found = run.estimate(matching, min(comparisons, run.listed) + run.pairs, recall=1.0, work=work)
    return Candidate(method="exact", parameters={}, estimate=found.sure_within(least_memory(wish, facts)))


def _lists(wish: Wish, facts: Facts) -> int:
    threshold = 0.8 if wish.threshold is None else wish.threshold
    return list_bytes(threshold, wish.measure, facts.features * wish.rows, wish.rows)
