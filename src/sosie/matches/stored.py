"""Verified pairs as a checkpoint, so that the collection need not be joined again."""

from __future__ import annotations

import numpy as np

from sosie.storage.checkpoint import Checkpoints
from sosie.types import VerifiedPairs

_NAME = "verify"


def save_pairs(checkpoints: Checkpoints, verified: VerifiedPairs, recall: float) -> None:
    """Save verified pairs and the recall that was predicted for them, if that is worth it."""
    if not checkpoints.due():
        return
    arrays = {name: value for name, value in vars(verified).items() if isinstance(value, np.ndarray)}
    checkpoints.save(_NAME, arrays, {"counters": dict(verified.counters), "recall": recall})


def load_pairs(checkpoints: Checkpoints) -> tuple[VerifiedPairs, float] | None:
    """Return the pairs that were saved and their predicted recall, if there are any."""
    found = checkpoints.load(_NAME)
    if found is None:
        return None
    arrays, state = found
    pairs = {name: np.array(array) for name, array in arrays.items()}
    return VerifiedPairs(**pairs, counters=state["counters"]), state["recall"]
