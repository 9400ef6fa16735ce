"""The Unicode tables as kernels see them; tools/unicode_tables.py writes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.kernels.machine.compile import kernel

FOLD_POOLED, FOLD_INERT = 4, 8  # flags in `fold_pages`: folds to several or none; folds to one that stands alone
BOUNDARY, TROUBLE = 1 << 10, 1 << 11  # flags in `property_pages`: stands alone; may compose with what precedes it
Point = Any  # an integer of a kernel: int or NumPy's
LONGEST_FOLD = 18  # code points that one folds to (U+FDFA)


class UnicodeTables(NamedTuple):
    """How code points fold and what they are. An index and its pages are a two-stage table: see `looked_up`.

    `fold_pages` hold, above eight bits of flags, the distance to the folded code point or, if pooled, place (from bit
    5 on) and length (5 bits) in `fold_pool`. `property_pages` hold combining class (8 bits), word class (2), flags
    (2), length (3) and place in `nfd_pool` of the canonical decomposition. `pair_keys` and `pair_values` are a hash
    table of the pairs that compose.
    """

    fold_index: NDArray[np.uint16]
    fold_pages: NDArray[np.int32]
    fold_pool: NDArray[np.int32]
    property_index: NDArray[np.uint16]
    property_pages: NDArray[np.uint32]
    nfd_pool: NDArray[np.int32]
    pair_keys: NDArray[np.uint64]
    pair_values: NDArray[np.int32]


@kernel
def looked_up(index: NDArray[np.uint16], pages: NDArray[Any], point: Point) -> Point:
    """Return the entry of a code point in a two-stage table with pages of 128 entries.

    Takes arrays, not the tuple: to read a tuple of arrays in an inner loop costs a reference count each time.
    """
    return np.int64(pages[(np.int64(index[point >> 7]) << 7) + (point & 127)])
