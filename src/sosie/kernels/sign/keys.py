"""Keys of values: so many consecutive numbers of a row, minima, intervals or digits, become the key of one table."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.arrays import U64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64


@kernel
def tuple_keys(values: Any, length: int, keys: U64) -> None:
    """Hash `length` consecutive integers to the key of each table; the table's number is hashed in."""
    for row in range(keys.shape[0]):
        for table in range(keys.shape[1]):
            key = splitmix64(np.uint64(table))
            for j in range(table * length, (table + 1) * length):
                key = splitmix64(key ^ np.uint64(values[row, j]))
            keys[row, table] = key


@kernel
def sum_keys(values: Any, length: int, keys: U64) -> None:
    """Add `length` consecutive integers; a table's key is a hash of its number and the sum."""
    for row in range(keys.shape[0]):
        for table in range(keys.shape[1]):
            total = np.int64(0)
            for j in range(table * length, (table + 1) * length):
                total += values[row, j]
            keys[row, table] = splitmix64(splitmix64(np.uint64(table)) ^ np.uint64(total))
