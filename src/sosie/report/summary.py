"""The numbers and warnings of a de-duplication, as data."""

from __future__ import annotations

from typing import Any

from sosie.matches.equal.groups import STAR
from sosie.types import Clusters, Counters, VerifiedPairs

GIANT = 100  # members from which a cluster that holds a tenth of all documents raises an alarm


def counts(documents: int, rejected: int, featureless: int, clusters: Clusters, pairs: VerifiedPairs) -> dict[str, int]:
    """Count what came in and what became of it; documents = kept + dropped + rejected always holds."""
    kept = int(clusters.kept.sum()) - rejected
    sizes = clusters.members
    found = {
        "documents": documents,
        "kept": kept,
        "dropped": len(clusters) - kept - rejected,
        "rejected": rejected,
        "without_features": featureless,
        "pairs": len(pairs),
        "clusters": int((sizes > 1).sum()),
        "largest_cluster": int(sizes.max()) if documents else 0,
    }
    if documents != found["kept"] + found["dropped"] + found["rejected"]:
        raise AssertionError(f"documents were lost: {found}")
    return found


def warnings(numbers: dict[str, int], counters: Counters) -> list[str]:
    """Say what a person should look at before deleting anything."""
    said = []
    if giant(numbers):
        largest = numbers["largest_cluster"]
        said.append(f"One cluster holds {largest:,} of {numbers['documents']:,} documents: look at it before deleting.")
    said += bounded(counters)
    if numbers["without_features"]:
        said.append(f"{counted(numbers['without_features'], 'document')} without words: kept, and similar to nothing.")
    return said


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "cluster"), counted(2_000, "cluster")
    ('1 cluster', '2,000 clusters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def giant(numbers: dict[str, int]) -> bool:
    """Whether one cluster is so large that a person should look at it."""
    largest = numbers["largest_cluster"]
    return largest >= GIANT and 10 * largest >= numbers["documents"]


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


def describe(method: Any) -> dict[str, Any]:
    """Return a method's parameters as data."""
    if hasattr(method, "to_dict"):
        return {**method.to_dict(), "digest": method.digest}
    return {"method": type(method).__name__.lower(), "shingles": method.shingles.to_dict()}
