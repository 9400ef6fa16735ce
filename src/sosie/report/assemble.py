"""Rows become documents again: the result of a de-duplication, with all that is counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.documents.columns import Columns
from sosie.documents.reading import Reading
from sosie.features.collect import Collection
from sosie.matches.order import renumbered
from sosie.matches.reference import HeldReference
from sosie.report.deduplication import Deduplication
from sosie.report.summary import counts, warnings
from sosie.types import Clusters, VerifiedPairs


def assemble(
    collection: Collection,
    found: VerifiedPairs,
    clusters: Clusters,
    reading: Reading,
    held: HeldReference | None,
    described: dict[str, Any],
) -> Deduplication:
    """Return pairs and clusters of rows as those of documents; `described` is what the report says of the method."""
    numbers, rows = collection.numbers(reading.documents), slice(len(collection.before), None)
    grouped = Clusters(np.arange(reading.documents), np.ones(reading.documents))
    grouped.anchor[collection.documents] = numbers[clusters.anchor[rows]]
    grouped.similarity[collection.documents] = clusters.similarity[rows]
    pairs = renumbered(found, numbers)
    featureless = int((collection.features.sizes[rows] == 0).sum())
    counted = counts(reading.documents, len(collection.rejects), featureless, grouped, pairs)
    if held is not None:
        counted["dropped_against"] = int((grouped.anchor >= len(grouped)).sum())
    report = {
        "format": "sosie-report",
        "version": 1,
        "parameters": described["parameters"] | _columns(reading.columns),
        "inputs": [
            {"path": place.title or str(place.path), "documents": int(count)}
            for place, count in zip(reading.inputs, reading.counts, strict=True)
        ],
        **({} if held is None else {"against": held.report()}),
        "counts": counted,
        "text_bytes": int(collection.lengths.sum()),
        "features": len(collection.features.hashes),
        "predicted_recall": described["predicted_recall"],
        "counters": described["counters"],
        "warnings": warnings(counted, pairs.counters),
    }
    return Deduplication(reading, pairs, grouped, collection.rejects, report, held)


def _columns(columns: Columns) -> dict[str, Any]:
    """Return what was read of each document, so that a person can tell, and the same can be read again."""
    html = {} if columns.html is None else {"html": columns.html}
    return {"text_column": columns.text, "id_column": columns.id, **html}
