"""Which document of a group stays: the place of every document in keep order."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from sosie.errors import UsageError
from sosie.types import I64

Keep = Literal["first", "longest"]


def keep_rank(keep: Keep, lengths: I64) -> I64:
    """Return each row's place in keep order, given the lengths of the texts; ties go to the earlier row.

    >>> keep_rank("longest", np.array([5, 9, 9])).tolist()
    [2, 0, 1]
    """
    if keep not in get_args(Keep):
        raise UsageError(f"keep must be one of {', '.join(get_args(Keep))}, got {keep!r}")
    if keep == "first":
        return np.arange(len(lengths), dtype=np.int64)
    rank = np.empty(len(lengths), np.int64)
    rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    return rank
