"""Words -> the hashes of their first characters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.xxh64 import xxh64_padded


@kernel
def prefix_hashes(text: NDArray[np.uint8], starts: I64, width: int) -> U64:
    """Return the hash of the first `width` characters of every word, or of all it has.

    Word i is `text[starts[i] : starts[i + 1] - 1]`, as `word_rows` gives them.
    """
    hashes = np.empty(starts.size - 1, np.uint64)
    for word in range(hashes.size):
        begin, end = starts[word], starts[word + 1] - 1
        stop, characters = begin, 0
        while stop < end:
            if text[stop] & 0xC0 != 0x80:  # the first byte of a character
                if characters == width:
                    break
                characters += 1
            stop += 1
        hashes[word] = xxh64_padded(text, begin, stop, np.uint64(0))
    return hashes
