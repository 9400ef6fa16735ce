"""Numbers in words, and what a person should look at before deleting anything."""

from __future__ import annotations

from sosie.matches.equal.groups import STAR
from sosie.report.report import Counts
from sosie.types import Counters

GIANT = 100  # members from which a cluster that holds a tenth of all documents raises an alarm


def warnings(numbers: Counts, counters: Counters) -> list[str]:
    """Say what a person should look at before deleting anything."""
    said = []
    if giant(numbers.largest_cluster, numbers.documents):
        held = f"{numbers.largest_cluster:,} of {numbers.documents:,} documents"
        said.append(f"One cluster holds {held}: look at it before deleting.")
    said += bounded(counters)
    if numbers.without_features:
        said.append(f"{counted(numbers.without_features, 'document')} without words: kept, and similar to nothing.")
    return said


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "cluster"), counted(2_000, "cluster")
    ('1 cluster', '2,000 clusters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float | None) -> str:
    """Return a share of pairs; only what is whole reads 100 %.

    >>> percent(1.0), percent(0.9999999), percent(0.25), percent(None)
    ('100 %', '99.999 %', '25 %', 'not stated')
    """
    if share is None:
        return "not stated"
    if 0 < share < 1e-5:
        return "below 0.001 %"
    return "100 %" if share == 1 else f"{min(round(100 * share, 3), 99.999):g} %"


def giant(largest: int, documents: int) -> bool:
    """Whether the largest cluster is so large that a person should look at it."""
    return largest >= GIANT and 10 * largest >= documents


def bounded(counters: Counters) -> list[str]:
    """Say what a join did not compare or list."""
    said = []
    if counters.get("bounded_lists"):
        said.append(
            f"{counters['bounded_lists']:,} features or keys are shared by very many documents: there, documents were"
            f" compared with leaders only and {counters['bounded_comparisons']:,} comparisons were left out."
            " What was found is verified all the same."
        )
    if counters.get("bounded_pairs"):
        said.append(
            f"Groups of more than {counters.get('bounded_above', STAR)} identical rows are written as stars, each row"
            " with the first:"
            f" {counters['bounded_pairs']:,} pairs are not listed."
        )
    return said
