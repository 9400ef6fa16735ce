"""Blocks: the features of some documents that follow each other, as bytes; a table of them is read again and again.

Documents are numbered as they lie there: the rows of one part of the input follow each other, and the parts follow by
their numbers. These numbers are fixed once the table is written; which document comes first is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from sosie.arrays import read_only
from sosie.errors import StorageError
from sosie.features.spans import cut
from sosie.features.whole import Evidence, WholeText, features_of
from sosie.kernels.tables.equal import weighted_digests
from sosie.parallel import spans
from sosie.signatures.minhash import MinhashSigner
from sosie.spark.packed import pack, unpack_all, values_of
from sosie.text.column import as_column
from sosie.types import I64, U64, Bools, Features, offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sosie.spark.work import Work

SCHEMA = (
    "part int, first long, count int, features long, stand_ins long, wordless int, rejected int, bytes long,"
    " sizes binary, lengths binary, states binary, hashes binary, tags binary, digests binary, signed binary"
)
SUMS = "features", "stand_ins", "wordless", "rejected", "bytes"  # the columns that are summed up
FEATURES, ROWS = 1 << 11, 1 << 10  # of a block, about
_EMIT = 1 << 22  # bytes of hashes that are handed on together
TOLD = 1 << 22  # rows of which tasks are told together
USABLE, REJECTED, WORDLESS = np.uint8(0), np.uint8(1), np.uint8(2)  # the states of documents


@dataclass(frozen=True, eq=False)
class Extraction:
    """What is made of texts: their evidence, tags under a key, digests under a secret; and signatures or keys.

    With `whole`, documents without features have those of their bytes.
    """

    evidence: Evidence
    key: U64
    secret: tuple[int, int]
    whole: bool
    empty: bool = True
    signer: Any = None

    def blocks(self, texts: Any, part: int, first: int) -> tuple[dict[str, Any], I64]:
        """Return the columns of the blocks of texts, null for those that are none, and where each block begins."""
        valid = np.asarray(texts.is_valid().to_numpy(zero_copy_only=False))
        column = as_column(texts.filter(pa.array(valid)) if not valid.all() else texts)
        stand_in = WholeText(empty=self.empty) if self.whole else None
        evidence = WholeText(empty=self.empty) if isinstance(self.evidence, WholeText) else self.evidence
        parts = [features_of(span, False, stand_in, self.key) for span in cut(column, evidence)]
        features = Features.joined([each for each, _ in parts])
        bare = np.concatenate([each for _, each in parts])
        sizes, lengths = np.zeros(len(valid), np.int32), np.zeros(len(valid), np.int64)
        states = np.full(len(valid), REJECTED)
        sizes[valid], lengths[valid] = features.sizes, np.diff(column.offsets)
        states[valid] = np.where(bare, WORDLESS, USABLE)
        digests, signed, worded = self._digests(features, sizes), self._signed(features), offsets_of(sizes > 0)
        offsets = offsets_of(sizes)
        starts = _block_starts(offsets)
        ends = np.append(starts[1:], len(valid))[: len(starts)]

        def summed(values: NDArray[Any], dtype: DTypeLike) -> Any:
            return pa.array(np.add.reduceat(values, starts, dtype=dtype) if len(starts) else np.empty(0, dtype))

        made = {
            "part": pa.array(np.full(len(starts), part, np.int32)),
            "first": pa.array(starts + first),
            "count": pa.array((ends - starts).astype(np.int32)),
            "features": pa.array(offsets[ends] - offsets[starts]),
            "stand_ins": summed(np.where(states == WORDLESS, sizes, 0), np.int64),
            "wordless": summed(states == WORDLESS, np.int32),
            "rejected": summed(states == REJECTED, np.int32),
            "bytes": summed(lengths, np.int64),
            "sizes": binary(sizes, starts, ends),
            "lengths": binary(lengths, starts, ends),
            "states": binary(states, starts, ends),
            "hashes": binary(features.hashes, offsets[starts], offsets[ends]),
            "tags": _tags(features, offsets[starts], offsets[ends]),
            "digests": binary(digests, starts, ends),
            "signed": binary(signed, worded[starts], worded[ends]),
        }
        return made, starts

    def _digests(self, features: Features, sizes: NDArray[np.int32]) -> U64:
        """Return two digests of each document's features and their words; without the secret nobody foresees them."""
        digests = np.zeros((len(sizes), 2), np.uint64)
        some, worded = sizes > 0, features.sizes > 0
        tags = np.zeros(len(features.hashes), np.uint64) if features.tags is None else features.tags.astype(np.uint64)
        starts, stops = features.offsets[:-1][worded], features.offsets[1:][worded]
        for column, secret in enumerate(self.secret):
            weights = read_only(tags ^ np.uint64(secret))
            digests[some, column] = weighted_digests(features.hashes, weights, read_only(starts), read_only(stops))
        return digests

    def _signed(self, features: Features) -> U64:
        """Return what the signer makes of the documents that have features."""
        if self.signer is None:
            return np.empty((int((features.sizes > 0).sum()), 0), np.uint64)
        keys = isinstance(self.signer, MinhashSigner)
        made: U64 = (
            self.signer.keys(features, threads=1).values if keys else self.signer.sign(features, threads=1).words
        )
        return made


class Told(NamedTuple):
    """What tasks are told about some rows: their numbers, which ascend, and columns; bytes, as they travel."""

    data: bytes
    dtypes: tuple[str, ...]

    def rows(self) -> tuple[I64, list[NDArray[Any]]]:
        """Return the rows and the columns."""
        return unpack_all([self.data], self.dtypes)


class Rows(NamedTuple):
    """The rows of some blocks: the number of each, which need not ascend, and how many features each has."""

    numbers: I64
    sizes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table of blocks, written; `firsts[i]` is the number of the first row of part i, and `rows` are there in all.

    `counts` are sums over all rows: features, and what stands for texts without any; wordless and rejected rows; bytes.
    """

    frame: DataFrame
    firsts: I64
    rows: int
    counts: dict[str, int]

    @property
    def features(self) -> int:
        """How many features there are, with what stands for texts without any."""
        return self.counts["features"]

    def telling(self, rows: I64, columns: Sequence[NDArray[Any]] = ()) -> Iterator[tuple[DataFrame, Told]]:
        """Yield the table in slices, each with what its tasks are told of its rows: never very much at a time.

        `rows` ascend, with repeats; together the slices are the whole table.
        """
        from pyspark.sql.functions import col

        edges, part = [0], 0
        before = np.searchsorted(rows, np.append(self.firsts, self.rows))
        while part < len(self.firsts):
            part = max(int(np.searchsorted(before, before[part] + TOLD, "right")) - 1, part + 1)
            edges.append(part)
        edges = edges if len(edges) > 1 else [0, 0]
        dtypes = tuple(column.dtype.str for column in columns)
        for start, stop in pairwise(edges):
            here = slice(before[start], before[stop])
            frame = self.frame if len(edges) == 2 else self.frame.where((col("part") >= start) & (col("part") < stop))
            yield frame, Told(pack(rows[here], [column[here] for column in columns]), dtypes)


def written_blocks(work: Work, frame: DataFrame, *names: str, **asked: Any) -> Blocks:
    """Write blocks to the scratch folder, and number their rows: part by part; these columns are summed up."""
    from pyspark.sql import functions as F

    stage = work.stage(frame, "read", **{name: F.sum(name) for name in names}, **asked)
    ends = F.max(F.col("first") + F.col("count")).alias("end")
    table = work.collect(stage.frame.groupBy("part").agg(F.sum("count").alias("count"), ends)).sort_by("part")
    parts, counts, ends = (table[name].to_numpy() for name in ("part", "count", "end"))
    if not np.array_equal(counts, ends):
        raise StorageError(f"{stage.path}: documents were lost, or are there twice. Start again.")
    sizes = np.zeros(int(parts.max(initial=-1)) + 1, np.int64)
    sizes[parts] = counts
    sums = {name: int(value or 0) for name, value in stage.observed.items()}
    return Blocks(stage.frame, offsets_of(sizes)[:-1], int(counts.sum()), sums)


def rows_of(batch: Any, firsts: I64) -> Rows:
    """Return the rows of a batch of blocks."""
    counts = batch.column("count").to_numpy(zero_copy_only=False).astype(np.int64)
    begin = firsts[batch.column("part").to_numpy(zero_copy_only=False)] + batch.column("first").to_numpy()
    numbers = np.repeat(begin - offsets_of(counts)[:-1], counts) + np.arange(int(counts.sum()))
    return Rows(numbers, values_of(batch.column("sizes"), np.int32))


def states_of(batch: Any) -> NDArray[np.uint8]:
    """Return the states of the rows of a batch of blocks."""
    return values_of(batch.column("states"), np.uint8)


def signed_of(batch: Any, firsts: I64, left_out: I64, words: int) -> tuple[I64, U64]:
    """Return the rows of a batch of blocks that have features, but for some, and what they are signed by."""
    rows = rows_of(batch, firsts)
    numbers = rows.numbers[rows.sizes > 0]
    signed = values_of(batch.column("signed"), np.uint64).reshape(len(numbers), words)
    some = ~among(numbers, left_out)
    return numbers[some], signed[some]


def features_in(batch: Any, sizes: NDArray[np.int32]) -> Features:
    """Return the features of the rows of a batch of blocks."""
    hashes, tags = values_of(batch.column("hashes"), np.uint64), None
    if "tags" in batch.schema.names and len(found := values_of(batch.column("tags"), np.uint32)):
        tags = found
    return Features(hashes, offsets_of(sizes), None, tags)


def among(numbers: I64, ascending: I64) -> Bools:
    """Return which numbers are among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    return np.asarray(ascending[places] == numbers)


def mixed(values: NDArray[Any]) -> U64:
    """Return numbers spread over all bits, for choosing buckets.

    >>> len(set((mixed(np.arange(1000)) % np.uint64(7)).tolist()))
    7
    """
    z = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def bucket_of(values: NDArray[Any], buckets: int) -> NDArray[np.int32]:
    """Return the bucket of each value."""
    return (mixed(values) % np.uint64(buckets)).astype(np.int32)


def handed_on(columns: dict[str, Any]) -> Iterator[Any]:
    """Yield blocks as Arrow batches that are not too large."""
    batch = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
    if not batch.num_rows:
        return
    before = offsets_of(8 * batch.column("features").to_numpy() + 256 * batch.column("count").to_numpy())
    for start, stop in spans(before, _EMIT):
        yield batch.slice(start, stop - start)


def _tags(features: Features, starts: I64, ends: I64) -> Any:
    """Return the tags of blocks of features; nothing where they have none."""
    if features.tags is None:
        return pa.array([b""] * len(starts), pa.binary())
    return binary(features.tags, starts, ends)


def _block_starts(offsets: I64) -> I64:
    """Return where blocks of few rows and few features begin."""
    cuts = spans(offsets + np.arange(len(offsets)) * (FEATURES // ROWS), FEATURES)
    return np.array([start for start, _ in cuts], np.int64)


def binary(values: NDArray[Any], starts: I64, ends: I64) -> Any:
    """Return spans of rows of an array that adjoin, as a binary Arrow column."""
    width = values.itemsize * (values.shape[1] if values.ndim == 2 else 1)
    edges = np.append(starts, ends[-1:]) * width
    data = pa.py_buffer(np.ascontiguousarray(values).reshape(-1).view(np.uint8))
    if len(edges) and edges[-1] >= 2**31:
        return pa.array([data[a:b] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)], pa.binary())
    return pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(edges.astype(np.int32)), data])
