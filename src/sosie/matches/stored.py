"""Verified pairs as a checkpoint, so that the collection need not be joined again."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.storage.checkpoint import Checkpoints
from sosie.types import VerifiedPairs

_NAME = "verify"


def save_pairs(checkpoints: Checkpoints, verified: VerifiedPairs) -> None:
    """Save verified pairs, if that is worth it."""
    if not checkpoints.due():
        return
    arrays = {name: value for name, value in vars(verified).items() if isinstance(value, np.ndarray)}
    checkpoints.save(_NAME, arrays, {"counters": dict(verified.counters), "recall": verified.recall})


def load_pairs(checkpoints: Checkpoints) -> VerifiedPairs | None:
    """Return the pairs that were saved, if there are any."""
    found = checkpoints.load(_NAME)
    if found is None:
        return None
    arrays, state = found
    pairs: dict[str, Any] = {name: np.array(array) for name, array in arrays.items()}
    return VerifiedPairs(**pairs, counters=state["counters"], recall=state["recall"])
