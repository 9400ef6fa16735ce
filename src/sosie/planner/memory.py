"""How much memory a de-duplication is sure to keep to: what it refuses a limit by, and when it takes to the disk."""

from __future__ import annotations

from sosie.errors import UsageError
from sosie.planner.constants.documents import (
    BUSY_BYTES,
    BUSY_FEATURE_BYTES,
    DOCUMENT_BYTES,
    FIXED_BYTES,
    FREQUENCY_BYTES,
    POSTING_BYTES,
    SPILL,
    SPILLED_SHARE,
)
from sosie.storage.size import show_size

FITTED = ("tf-idf", "bm25")  # weightings that need the statistics of a collection


def in_memory(limit: int | None) -> int:
    """Return how many bytes of one array stay in memory, given a limit for the whole process."""
    return SPILL if limit is None else min(SPILL, limit // SPILLED_SHARE)


def check_limit(memory: int | None) -> None:
    """Refuse a limit that no run keeps to."""
    if memory is not None and memory < FIXED_BYTES:
        raise UsageError(f"{show_size(memory)} of memory are too little: allow {show_size(FIXED_BYTES)} or more")


def held_bytes(features: float, documents: int) -> int:
    """Return about how much memory a run takes, but for the lists of the exact join; a small one is never as busy.

    >>> held_bytes(80_000, 1_000), held_bytes(80_000_000, 1_000_000)
    (352480000, 760000000)
    """
    idle = max(BUSY_BYTES - BUSY_FEATURE_BYTES * features, 0)
    return round(FIXED_BYTES - idle + DOCUMENT_BYTES * documents)


def list_bytes(threshold: float, measure: str, features: float, documents: int) -> int:
    """Return about how much memory the lists of the exact join take.

    >>> list_bytes(0.8, "jaccard", 80_000_000, 1_000_000)
    544000000
    """
    return round(POSTING_BYTES * (prefix_share(threshold, measure) * features + documents))


def prefix_share(threshold: float, measure: str) -> float:
    """Return the share of a row's features that the exact join lists: the rarest, one of which a similar row has."""
    return {"jaccard": 1 - threshold, "cosine": 1 - threshold**2, "containment": 1.0}[measure]


def check_fits(weighting: str, features: int, documents: int, memory: int) -> None:
    """Raise if memory is too little for any run, for what every method holds, or for the statistics of weights."""
    check_limit(memory)
    held = held_bytes(features, documents)
    if held > memory:
        needed = show_size(held)
        raise UsageError(f"{documents:,} documents need about {needed} of memory: allow more, or split them")
    counted = held + FREQUENCY_BYTES * features
    if weighting in FITTED and counted > memory:
        needed = f"{weighting} may need {show_size(counted)} of memory to count {features:,} features"
        raise UsageError(f"{needed}: allow more, or weigh by tf")
