"""What was found as tables with ids: pairs, clusters, and what is said of each document that is in a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.spark.grouping import Grouped


def pairs_table(found: Grouped, ids: Any) -> Any:
    """Return the verified pairs: a, b, similarity; a is the earlier document."""
    pairs = found.pairs
    return pa.table(
        {"a": ids.take(pa.array(pairs.a)), "b": ids.take(pa.array(pairs.b)), "similarity": pairs.similarity}
    )


def clusters_table(found: Grouped, ids: Any) -> Any:
    """Return the clusters of two documents or more, the kept one first: id, cluster, size, kept, similarity."""
    clusters = found.clusters
    rows = np.flatnonzero(clusters.sizes > 1)
    anchors = clusters.anchor[rows]
    order = np.lexsort((rows, rows != anchors, anchors))
    rows, anchors = rows[order], anchors[order]
    return pa.table(
        {
            "id": ids.take(pa.array(rows)),
            "cluster": np.unique(anchors, return_inverse=True)[1].astype(np.int64),
            "size": clusters.members[anchors],
            "kept": rows == anchors,
            "similarity": clusters.similarity[rows],
        }
    )


def tags_table(found: Grouped, ids: Any) -> Any:
    """Return what is said of the documents in clusters: id, kept, cluster, duplicate_of, similarity."""
    clusters = found.clusters
    rows = np.flatnonzero(clusters.sizes > 1)
    anchors = clusters.anchor[rows]
    stays = pa.array(rows == anchors)
    said = {"duplicate_of": ids.take(pa.array(anchors)), "similarity": pa.array(clusters.similarity[rows])}
    return pa.table(
        {
            "id": ids.take(pa.array(rows)),
            "kept": stays,
            "cluster": np.unique(anchors, return_inverse=True)[1].astype(np.int64),
            **{name: pc.if_else(stays, None, column) for name, column in said.items()},
        }
    )
