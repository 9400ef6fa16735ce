"""The key join: pairs of rows that share a key in some table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.errors import MismatchError
from sosie.kernels.key_join import count_pairs, group_by_key, write_pairs
from sosie.kernels.parallel import ordered_map
from sosie.matches.order import ordered_pairs
from sosie.types import I64, U64, Keys, Pairs

DENSE = 1024  # rows with one key beyond which not all pairs are written
CROWDED = 16  # the same, where there would be more pairs than asked for


@dataclass(frozen=True, eq=False)
class KeyGroups:
    """Candidate pairs of rows that share a key, and apart from them the groups that are too dense to pair.

    Dense group g is `members[offsets[g]:offsets[g + 1]]`, ordered by row. A pair may be in a dense group as well.
    """

    a: I64
    b: I64
    offsets: I64
    members: I64


def join_keys(a: Keys, b: Keys | None = None, threads: int | None = None) -> Pairs:
    """Return all pairs of rows that share a key in at least one table: inside a collection, or between two.

    A group of more than 1024 rows with the same key is written as a star: each row with the first (of the other
    collection, where there are two). The counters `bounded_groups` and `bounded_pairs` say for how many groups, and
    how many pairs these would have had; some of those may share another key, and are written then.

    >>> pairs = join_keys(Keys(np.array([[1, 5], [2, 5], [1, 6]], np.uint64)))
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([0, 0], [1, 2])
    """
    if b is None:
        values, split = a.values, 0
    else:
        _check(a, b)
        values, split = np.concatenate([a.values, b.values]), len(a)
        if not len(a) or not len(b):
            values, split = values[:0], 0
    groups = _group(values, split, DENSE, threads)
    if not len(groups.members):
        return Pairs(groups.a, groups.b - split, {"bounded_groups": 0, "bounded_pairs": 0})
    stars = [_star(members, split) for members in np.split(groups.members, groups.offsets[1:-1])]
    left = np.concatenate([groups.a, *(star[0] for star in stars)])
    right = np.concatenate([groups.b, *(star[1] for star in stars)])
    counters = {"bounded_groups": len(stars), "bounded_pairs": sum(star[2] for star in stars)}
    return ordered_pairs(left, right - split, counters, distinct=False)


def key_groups(values: U64, limit: int = DENSE, *, most: int | None = None, threads: int | None = None) -> KeyGroups:
    """Return the pairs of rows that share a key, and the groups of more than `limit` rows apart.

    Every pair is given once, ordered by (a, b). Where the groups would hold more than `most` pairs, those of more than
    16 rows are set apart, too.

    >>> groups = key_groups(np.array([[1, 5], [2, 5], [1, 6], [1, 7]], np.uint64), limit=2)
    >>> list(zip(groups.a.tolist(), groups.b.tolist())), groups.members.tolist()
    ([(0, 1)], [0, 2, 3])
    """
    return _group(values, 0, limit, threads, most)


def _check(a: Keys, b: Keys) -> None:
    if a.values.shape[1] != b.values.shape[1]:
        raise MismatchError(f"keys of {a.values.shape[1]} and {b.values.shape[1]} tables cannot be joined")
    if a.digest is not None and b.digest is not None and a.digest != b.digest:
        raise MismatchError(f"keys of specs {a.digest} and {b.digest} cannot be joined: make both the same way")


def _group(values: U64, split: int, limit: int, threads: int | None, most: int | None = None) -> KeyGroups:
    values = np.ascontiguousarray(values)
    tables = range(values.shape[1])
    grouped = list(ordered_map(lambda table: group_by_key(np.ascontiguousarray(values[:, table])), tables, threads))
    if most is not None and sum(_pairs_within(np.diff(offsets), limit) for offsets, _ in grouped) > most:
        limit = min(limit, CROWDED)
    dense = np.zeros(values.shape, np.bool_)
    held = []
    for table, (offsets, members) in enumerate(grouped):
        for group in np.flatnonzero(np.diff(offsets) > limit):
            rows = members[offsets[group] : offsets[group + 1]]
            dense[rows, table] = True
            if split == 0 or rows[0] < split <= rows[-1]:
                held.append(rows)

    def write(table: int) -> I64:
        offsets, members = grouped[table]
        pairs = np.empty((count_pairs(offsets, members, split, limit), 2), np.int64)
        return pairs[: write_pairs(offsets, members, split, limit, values, dense, table, pairs)]

    pairs = np.concatenate([np.empty((0, 2), np.int64), *ordered_map(write, tables, threads)])
    ordered = ordered_pairs(pairs[:, 0], pairs[:, 1])
    offsets = np.cumsum([0, *(len(rows) for rows in held)], dtype=np.int64)
    return KeyGroups(ordered.a, ordered.b, offsets, np.concatenate([np.empty(0, np.int64), *held]))


def _pairs_within(sizes: I64, limit: int) -> int:
    """Return the number of pairs inside groups of at most `limit` rows."""
    sizes = sizes[sizes <= limit]
    return int((sizes * (sizes - 1) // 2).sum())


def _star(members: I64, split: int) -> tuple[I64, I64, int]:
    """Return the pairs that stand for a dense group, and how many pairs it has besides."""
    if split == 0:
        others = members[1:]
        return np.full(len(others), members[0]), others, len(others) * (len(members) - 2) // 2
    middle = int(np.searchsorted(members, split))
    left, right = members[:middle], members[middle:]
    pairs_a = np.concatenate([left, np.full(len(right) - 1, left[0])])
    pairs_b = np.concatenate([np.full(len(left), right[0]), right[1:]])
    return pairs_a, pairs_b, len(left) * len(right) - len(pairs_a)
