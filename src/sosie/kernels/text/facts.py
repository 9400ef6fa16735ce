"""Texts as they are written: letters by script, the script of most letters, and a 128-bit digest of the bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64, U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.utf8 import decode
from sosie.kernels.text.xxh64 import xxh64


@kernel
def count_scripts(
    data: NDArray[np.uint8], offsets: I64, first: int, last: int, scripts: NDArray[np.uint8], letters: I64
) -> NDArray[np.uint8]:
    """Add the letters of rows first..last to `letters[script]`; return the script that each row has most letters of.

    `scripts` gives the script of every code point, 0 for what is no letter. A row without letters has 0; of equally
    many letters the lower script wins.
    """
    mainly = np.zeros(last - first, np.uint8)
    counts = np.zeros(letters.size, np.int64)
    for row in range(first, last):
        counts[:] = 0
        position = offsets[row]
        stop = offsets[row + 1]
        while position < stop:
            byte = data[position]
            if byte < 0x80:
                counts[scripts[byte]] += 1
                position += 1
            else:
                point, position = decode(data, position, stop)
                counts[scripts[point]] += 1
        most = 0
        for script in range(1, counts.size):
            letters[script] += counts[script]
            if counts[script] > most:
                most = counts[script]
                mainly[row - first] = script
    return mainly


@kernel
def text_digests(data: NDArray[np.uint8], offsets: I64, first: int, last: int) -> U64:
    """Return two 64-bit hashes of each row's bytes."""
    digests = np.empty((last - first, 2), np.uint64)
    for row in range(first, last):
        digests[row - first, 0] = xxh64(data, offsets[row], offsets[row + 1], np.uint64(0))
        digests[row - first, 1] = xxh64(data, offsets[row], offsets[row + 1], np.uint64(1))
    return digests
