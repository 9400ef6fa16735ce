"""Clusters from pairs: anchors in keep order, and connected components by union-find."""

from __future__ import annotations

import numpy as np

from sosie.arrays import F64, I64, U32
from sosie.kernels.machine.compile import kernel


@kernel
def assign_anchors(offsets: I64, earlier: I64, similarity: F64, anchor: I64, best: F64) -> None:
    """Give each item its most similar kept neighbour among the earlier ones, or itself.

    Items come in keep order; the earlier neighbours of item i are `earlier[offsets[i]:offsets[i + 1]]`, ascending, so
    of equally similar ones the first is taken.
    """
    for item in range(anchor.size):
        anchor[item] = item
        best[item] = 1.0
        found = -1.0
        for at in range(offsets[item], offsets[item + 1]):
            other = earlier[at]
            if anchor[other] == other and similarity[at] > found:
                found = similarity[at]
                anchor[item] = other
                best[item] = found


@kernel
def components(a: I64, b: I64, parent: I64) -> None:
    """Write the first item of each item's connected component to `parent`."""
    for item in range(parent.size):
        parent[item] = item
    for pair in range(a.size):
        x = a[pair]
        y = b[pair]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        parent[max(x, y)] = min(x, y)
    for item in range(parent.size):
        parent[item] = parent[parent[item]]


@kernel
def connect(a: I64, b: I64, parent: U32) -> int:
    """Connect items a[i] and b[i] in a union-find whose roots are the first of theirs; return how many sets fewer."""
    fewer = 0
    for pair in range(a.size):
        x, y = a[pair], b[pair]
        while np.int64(parent[x]) != x:
            parent[x] = parent[np.int64(parent[x])]
            x = np.int64(parent[x])
        while np.int64(parent[y]) != y:
            parent[y] = parent[np.int64(parent[y])]
            y = np.int64(parent[y])
        if x != y:
            parent[max(x, y)] = min(x, y)
            fewer += 1
    return fewer


@kernel
def settle(parent: U32) -> None:
    """Make every item's parent the root of its set; a parent is never after its item."""
    for item in range(parent.size):
        parent[item] = parent[np.int64(parent[item])]
