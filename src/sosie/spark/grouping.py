"""Who stays and who goes, on the driver: the documents that are in any pair, numbered anew, and no others.

Below a limit of pairs, what one machine does is done with them, by the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.clusters.grouping import of_rows
from sosie.clusters.keep import Keep, keep_rank
from sosie.matches.equal.groups import Groups
from sosie.matches.equal.sets import expand, listable
from sosie.types import I64, Clusters, VerifiedPairs


@dataclass(frozen=True, eq=False)
class Involved:
    """The documents that are in any pair, in the order of documents: their rows, and a table of what is known."""

    rows: I64
    known: Any

    def places(self, rows: I64) -> I64:
        """Return where rows stand among them."""
        order = np.argsort(self.rows)
        return np.asarray(order[np.searchsorted(self.rows, rows, sorter=order)])


@dataclass(frozen=True, eq=False)
class Grouped:
    """Pairs and clusters of the documents that are in any pair, by their places among these, and their groups."""

    pairs: VerifiedPairs
    clusters: Clusters
    groups: Groups


def in_order(known: Any) -> Involved:
    """Return documents in their order: that of the column that orders them, if there is one, then of their ids."""
    keys = [name for name in ("order", "id") if name in known.column_names]
    if keys:
        known = known.sort_by([(name, "ascending") for name in keys])
    return Involved(known["row"].to_numpy(), known)


def grouped(involved: Involved, first: I64, keep: Keep) -> Groups:
    """Return the groups of identical documents, in keep order; `first` has the same row for those of a group."""
    known = involved.known
    order = known["keep"].combine_chunks() if "keep" in known.column_names else None
    rank = keep_rank(keep, known["length"].to_numpy(), order)
    label = np.unique(first, return_inverse=True)[1]
    least = np.full(int(label.max(initial=-1)) + 1, len(rank))
    np.minimum.at(least, label, rank)
    rows = np.lexsort((rank, least[label]))
    opens = np.flatnonzero(np.diff(least[label][rows], prepend=-1))
    return Groups(rows, np.append(opens, len(rows)))


def between_groups(pairs: VerifiedPairs, groups: Groups, count: int) -> VerifiedPairs:
    """Return pairs of places, each in a group of its own, as pairs of groups in keep order."""
    group = groups.of_rows(count)
    first, second = group[pairs.a], group[pairs.b]
    a, b = np.minimum(first, second), np.maximum(first, second)
    return replace(pairs, a=a, b=b).take(np.lexsort((b, a)))


def settled(pairs: VerifiedPairs, groups: Groups, clusters: Clusters, sizes: I64, worded: int) -> Grouped:
    """Return pairs and clusters of documents from those of groups; `worded` documents are there in the collection."""
    written = listable(pairs, groups, worded)
    found = expand(pairs, written, sizes[groups.representatives])
    return Grouped(found, of_rows(clusters, groups, len(groups.rows)), written)
