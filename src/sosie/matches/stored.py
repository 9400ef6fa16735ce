"""Verified pairs as a checkpoint, so that the collection need not be joined again."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.arrays import check_rows
from sosie.errors import MismatchError
from sosie.storage.checkpoint import Checkpoints
from sosie.types import VerifiedPairs

_NAME = "verify"
_SAID = ("recall", "interval", "at_threshold")


def save_pairs(checkpoints: Checkpoints, verified: VerifiedPairs) -> None:
    """Save verified pairs, if that is worth it."""
    if not checkpoints.due():
        return
    arrays = {name: value for name, value in vars(verified).items() if isinstance(value, np.ndarray)}
    said = {name: getattr(verified, name) for name in _SAID}
    checkpoints.save(_NAME, arrays, {"counters": dict(verified.counters), **said})


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
    counters, said = dict(state["counters"]), {name: state[name] for name in _SAID}
    shares = [said["recall"], said["at_threshold"], *(said["interval"] or ())]
    if any(share is not None and not 0 <= share <= 1 for share in shares):
        raise MismatchError("a recall that is none")
    if any(type(count) is not int for count in counters.values()) or len(said["interval"] or (0, 1)) != 2:
        raise MismatchError("counters or an interval that are none")
    said["interval"] = said["interval"] and tuple(said["interval"])
    verified = VerifiedPairs(**pairs, counters=counters, **said)
    check_rows("the rows of pairs", verified.b, rows)
    if np.any(verified.a >= verified.b):
        raise MismatchError("pairs that are not in order")
    return verified
