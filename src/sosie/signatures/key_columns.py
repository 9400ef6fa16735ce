"""The keys of many documents, one column for each table: in memory while they are small, on disk beyond."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from sosie.parallel import ordered_map, spans
from sosie.signatures.minhash import Minhash
from sosie.storage.spill import Spill
from sosie.types import I64, U64, Features, offsets_of

SPAN = 1 << 18  # features that one task signs: a column grows by some thousand keys at a time


@contextmanager
def key_columns(
    spec: Minhash,
    features: Features,
    rows: I64,
    scratch: str | os.PathLike[str],
    memory: int,
    threads: int | None = None,
) -> Iterator[list[U64]]:
    """Yield the keys of these rows, a column for each band; beyond `memory` bytes together they are in `scratch`.

    >>> import tempfile
    >>> features = Features(np.arange(6, dtype=np.uint64), np.array([0, 3, 6]))
    >>> with key_columns(Minhash(), features, np.array([1]), tempfile.mkdtemp(), memory=1 << 20) as columns:
    ...     len(columns), bool(columns[0] == Minhash().fit().keys(features).values[1, 0])
    (25, True)
    """
    signer = spec.fit()
    offsets = offsets_of(features.sizes[rows])

    def sign(span: tuple[int, int]) -> U64:
        return signer.keys(features_of(features, rows[slice(*span)]), threads=1).values.T.copy()

    with ExitStack() as stack:
        share = memory // spec.bands
        columns = [stack.enter_context(Spill(scratch, np.uint64, memory=share)) for _ in range(spec.bands)]
        for keys in ordered_map(sign, spans(offsets, SPAN), threads):
            for column, values in zip(columns, keys, strict=True):
                column.append(values)
        yield [column.array() for column in columns]


def features_of(features: Features, rows: I64) -> Features:
    """Return the features of some rows, all of which have some.

    >>> some = features_of(Features(np.arange(6, dtype=np.uint64), np.array([0, 3, 4, 6])), np.array([2, 0]))
    >>> some.hashes.tolist(), some.offsets.tolist()
    ([4, 5, 0, 1, 2], [0, 2, 5])
    """
    starts, stops = features.offsets[rows], features.offsets[rows + 1]
    ends = offsets_of(stops - starts)
    if len(rows) and (starts[1:] == stops[:-1]).all():
        return Features(features.hashes[starts[0] : stops[-1]], ends)
    places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], stops - starts)
    return Features(features.hashes[places], ends)
