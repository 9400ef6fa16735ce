"""The class of every feature: the one it is known to have, or one that its hash draws."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import lane_word


@kernel
def draw_classes(hashes: U64, lane: int, count: int, classes: I64) -> None:
    """Number classes from 0 on: `classes[i]` is 1 more than the known class of feature i, or 0 where there is none."""
    for i in range(hashes.size):
        if classes[i] > 0:
            classes[i] -= 1
        else:
            classes[i] = np.int64(lane_word(hashes[i], np.uint64(lane)) % np.uint64(count))
