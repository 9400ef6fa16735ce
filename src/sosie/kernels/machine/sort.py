"""Numbers in order: sorted in place, the order that sorts them, and each once.

NumPy's sorts inside kernels take Numba more than a second each to compile, these a third of that; they are about as
fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel

_RUN = 16  # so many numbers are sorted by insertion


@kernel
def sort_values(values: NDArray[Any]) -> None:
    """Sort integers in place, ascending: by halves around the median of three, and by insertion where few are left."""
    if values.size <= _RUN:
        _insert(values, np.int64(0), values.size)
        return
    waiting = np.empty(128, np.int64)  # of two parts the larger one waits, so there are at most 64
    count = 0
    low, high = 0, values.size - 1
    while True:
        while high - low >= _RUN:
            a, b, c = values[low], values[(low + high) >> 1], values[high]
            pivot = max(min(a, b), min(max(a, b), c))
            i, j = low, high
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while values[j] > pivot:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - low > high - i:
                waiting[count], waiting[count + 1] = low, j
                low = i
            else:
                waiting[count], waiting[count + 1] = i, high
                high = j
            count += 2
        _insert(values, low, high + 1)
        if count == 0:
            return
        count -= 2
        low, high = waiting[count], waiting[count + 1]


@kernel
def _insert(values: NDArray[Any], start: int, stop: int) -> None:
    for i in range(start + 1, stop):
        value = values[i]
        place = i
        while place > start and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@kernel
def stable_order(values: NDArray[Any]) -> I64:
    """Return the places of numbers in ascending order, equal ones as they stand: runs by insertion, then merged.

    >>> stable_order(np.array([7, 3, 7, 1], np.uint64)).tolist()
    [3, 1, 0, 2]
    """
    size = values.size
    order, merged = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size):
        value = values[i]
        place = i
        while place > i - i % _RUN and values[order[place - 1]] > value:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    width = _RUN
    while width < size:
        for start in range(0, size, 2 * width):
            i, middle = start, min(start + width, size)
            j, stop = middle, min(start + 2 * width, size)
            place = start
            while i < middle and j < stop:  # which is next cannot be predicted, so there is no branch
                a, b = order[i], order[j]
                later = values[b] < values[a]
                merged[place] = b if later else a
                i += not later
                j += later
                place += 1
            for rest in range(i, middle):
                merged[place + rest - i] = order[rest]
            for rest in range(j, stop):
                merged[place + rest - j] = order[rest]
        order, merged = merged, order
        width *= 2
    return order


@kernel
def sorted_distinct(values: NDArray[Any]) -> I64:
    """Return integers in ascending order, each once.

    >>> sorted_distinct(np.array([7, 3, 7], np.int32)).tolist()
    [3, 7]
    """
    found = np.empty(values.size, np.int64)
    for i in range(values.size):
        found[i] = values[i]
    sort_values(found)
    count = 0
    for i in range(found.size):
        if i == 0 or found[i] != found[count - 1]:
            found[count] = found[i]
            count += 1
    return found[:count]
