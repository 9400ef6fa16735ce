"""Documents joined: all verified pairs of one collection, or of two, as ids."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sosie.documents.batch import Reject
from sosie.documents.reading import Reading
from sosie.documents.source import Documents, Source, as_source
from sosie.features.collect import collect
from sosie.features.shingles import Shingles
from sosie.matches.check import MAX_PAIRS
from sosie.matches.sets.join import join_features
from sosie.matches.sets.similarity import Measure
from sosie.matches.verify import verify
from sosie.report.frames import as_pandas, as_polars
from sosie.shown import counted
from sosie.storage.room import Room
from sosie.types import VerifiedPairs


@dataclass(frozen=True, eq=False)
class JoinedDocuments:
    """Verified pairs of documents: a of the first collection, b of the second (or also of the first)."""

    first: Reading
    second: Reading
    pairs: VerifiedPairs
    rejects: list[Reject]

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"JoinedDocuments({counted(len(self), 'pair')} of {counted(self.first.documents, 'document')})"

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return as_pandas(self.table)

    def to_polars(self) -> Any:
        """Return the table as a Polars DataFrame."""
        return as_polars(self.table)

    @property
    def table(self) -> Any:
        """The pairs as ids: a, b, similarity."""
        return pa.table(
            {
                "a": self.first.ids.take(self.pairs.a),
                "b": self.second.ids.take(self.pairs.b),
                "similarity": pa.array(self.pairs.similarity),
            }
        )


def join_documents(
    documents: Documents | Source,
    other: Documents | Source | None = None,
    *,
    threshold: float | str | Fraction,
    shingles: Shingles,
    measure: Measure = "jaccard",
    max_pairs: int = MAX_PAIRS,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> JoinedDocuments:
    """Return all pairs of documents whose shingles are at least as similar as the threshold says.

    >>> table = pa.table({"id": [7, 8], "text": ["a b c d e f g h", "a b c d e f g h i"]})
    >>> join_documents(Source(table), threshold=0.8, shingles=Shingles(3)).table.to_pylist()
    [{'a': 7, 'b': 8, 'similarity': 0.8571428571428571}]
    """
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        readings = [as_source(each).batches(threads) for each in (documents, other) if each is not None]
        room = Room(scratch, threads=threads)
        collections = [collect(reading, shingles, room, advance=advance) for reading in readings]
        first, second = collections[0], collections[-1]
        features = None if other is None else second.features
        candidates = join_features(
            first.features, features, threshold=threshold, measure=measure, max_pairs=max_pairs, threads=threads
        )
        pairs = verify(candidates, first.features, features, threshold=threshold, measure=measure, threads=threads)
        found = replace(pairs, a=first.documents[pairs.a], b=second.documents[pairs.b])
    rejects = [reject for collection in collections for reject in collection.rejects]
    return JoinedDocuments(readings[0], readings[-1], found, rejects)
