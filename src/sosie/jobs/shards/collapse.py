"""The second stage of shards: identical documents of all shards become one, so that each is compared once."""

from __future__ import annotations

import numpy as np

from sosie.jobs.shards.collection import SignedShards
from sosie.jobs.shards.folder import GROUPS, ShardFolder, ShardReport, key_from
from sosie.matches.equal.groups import Groups, spread
from sosie.report.timing import Progress, Silent, Timing
from sosie.types import I64, U64, offsets_of


def collapse_shards(folder: ShardFolder, progress: Progress | None = None) -> ShardReport:
    """Group the rows of all shards that have the same features; one machine does, and holds 40 bytes for each row."""
    timing, signed = Timing(progress or Silent()), SignedShards.of(folder)
    key = key_from(GROUPS, signed.key)
    if done := folder.is_done(GROUPS, key):
        counts = dict(folder.stage(GROUPS).meta["counts"])
    else:
        with folder.writing(GROUPS, None, []) as directory:
            with timing.stage("collapse"):
                signed.check_ids(signed.reading())
                groups = grouped(signed.digests, signed.sizes, signed.rank)
            counts = {"rows": int(signed.rows[-1]), "groups": len(groups)}
            arrays = {"rows": groups.rows, "offsets": groups.offsets}
            folder.save(directory, GROUPS, key, arrays, {"counts": counts})
    return ShardReport(stage="collapse", shard=None, done_before=done, counts=counts, stages=tuple(timing.finished))


def grouped(digests: U64, sizes: I64, rank: I64) -> Groups:
    """Group rows with equal digests, groups and their members in keep order; rows without features are in none.

    >>> digests = np.array([[1, 1], [2, 2], [1, 1], [0, 0]], np.uint64)
    >>> groups = grouped(digests, np.array([3, 1, 3, 0]), rank=np.array([2, 1, 0, 3]))
    >>> groups.rows.tolist(), groups.offsets.tolist()
    ([2, 0, 1], [0, 2, 3])
    """
    rows = np.flatnonzero(sizes > 0)
    order = np.lexsort((rank[rows], digests[rows, 1], digests[rows, 0]))
    rows = rows[order]
    opens = np.ones(len(rows), np.bool_)
    opens[1:] = (digests[rows[1:]] != digests[rows[:-1]]).any(axis=1)
    starts = np.flatnonzero(opens)
    lengths = np.diff(np.append(starts, len(rows)))
    in_order = np.argsort(rank[rows[starts]], kind="stable")
    return Groups(rows[spread(starts[in_order], lengths[in_order])], offsets_of(lengths[in_order]))
