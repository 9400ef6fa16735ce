"""Where sought features occur: every feature of some rows is looked up in a filter that knows their leading bits."""

from __future__ import annotations

import numpy as np

from sosie.arrays import I64, U64, Bools
from sosie.kernels.machine.compile import kernel


@kernel
def sought_places(hashes: U64, starts: I64, stops: I64, maybe: Bools, shift: int) -> tuple[I64, I64]:
    """Return the places in `hashes` of features whose leading bits the filter knows, and the row that each is in."""
    bits = np.uint64(shift)
    most = (stops - starts).sum()
    # Room for all: arrays that grow inside the loop would be counted as references in every step.
    places, rows = np.empty(most, np.int64), np.empty(most, np.int64)
    found = 0
    for row in range(starts.size):
        for at in range(starts[row], stops[row]):
            if maybe[hashes[at] >> bits]:
                places[found], rows[found] = at, row
                found += 1
    return places[:found].copy(), rows[:found].copy()
