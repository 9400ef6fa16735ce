"""Verified pairs as a checkpoint, so that the collection need not be joined again."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.arrays import check_rows
from sosie.errors import MismatchError
from sosie.storage.checkpoint import Checkpoints
from sosie.types import VerifiedPairs

_NAME = "verify"


def save_pairs(checkpoints: Checkpoints, verified: VerifiedPairs) -> None:
    """Save verified pairs, if that is worth it."""
    if not checkpoints.due():
        return
    arrays = {name: value for name, value in vars(verified).items() if isinstance(value, np.ndarray)}
    checkpoints.save(_NAME, arrays, {"counters": dict(verified.counters), "recall": verified.recall})


def load_pairs(checkpoints: Checkpoints, rows: int) -> VerifiedPairs | None:
    """Return the pairs that were saved, if there are any, of so many rows."""
    found = checkpoints.load(_NAME)
    if found is None:
        return None
    try:
        return _checked(*found, rows)
    except (KeyError, TypeError, ValueError) as error:
        checkpoints.refuse(_NAME, error)
        return None


def _checked(arrays: dict[str, Any], state: dict[str, Any], rows: int) -> VerifiedPairs:
    """Return pairs that come from a file; what does not fit raises."""
    pairs: dict[str, Any] = {name: np.array(array) for name, array in arrays.items()}
    counters, recall = dict(state["counters"]), state["recall"]
    if (recall is not None and not 0 <= recall <= 1) or any(type(count) is not int for count in counters.values()):
        raise MismatchError("counters or a recall that are none")
    verified = VerifiedPairs(**pairs, counters=counters, recall=recall)
    check_rows("the rows of pairs", verified.b, rows)
    if np.any(verified.a >= verified.b):
        raise MismatchError("pairs that are not in order")
    return verified
