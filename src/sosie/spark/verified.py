"""Candidates become duplicates: the features of the documents in them, and of no others, travel to where pairs meet."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sosie.evaluation.sampling.draw import LEAST
from sosie.matches.equal.groups import spread
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.verify import verify_rows
from sosie.spark.blocks import Blocks, Told, bucket_of, features_in, rows_of
from sosie.spark.candidates import PAIRS, Candidates, Entries, given_candidates
from sosie.spark.exchange import SCHEMA, Blob, Packer, Sent, batched, buckets_of, exchange, record_batch, send
from sosie.spark.packed import pack, unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import F64, I64, Features, Pairs, offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VERIFIED = "a long, b long, similarity double, shared long, total long"
_SLICE = 23  # bits of a row: rows that differ in none above them are needed together
_FEATURES = 1 << 21  # in one bucket, about: 24 MB
_WAITING = 1 << 20  # features that wait until they are packed
_BLOB = 1 << 11  # features that are packed together, about
_TYPES = [np.int32, np.uint64, np.uint32]
COLLIDED = -2


def verify_candidates(
    work: Work, blocks: Blocks, candidates: Candidates, threshold: Fraction, measure: Measure = "jaccard"
) -> DataFrame:
    """Return the candidates that reach the threshold, written: a, b, similarity, shared and total features.

    A row with a below 0 says that in so many comparisons (b) equal hashes stood for other words.
    """
    needed, told = _needed(work, blocks, candidates)
    columns = ["part", "first", "count", "sizes", "hashes", "tags"]
    sent = [
        Sent(frame.select(*columns), send_features, (blocks.firsts, each))
        for frame, each in blocks.telling(*told)
        if len(each.rows()[0])
    ]
    sent.append(Sent(candidates.frame, send_pairs, (needed,)))
    found = exchange(work, sent, needed, take_both, VERIFIED, threshold, measure)
    return work.write(found, "verified")


def similarities(work: Work, blocks: Blocks, a: I64, b: I64, measure: Measure) -> F64:
    """Return the similarity of rows a[i] and b[i], whatever it is; no pair is there twice.

    Of two rows that share nothing it is 0.
    """
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((upper, lower))
    given = given_candidates(work, Entries(lower[order], upper[order], b[order]))
    found = work.collect(verify_candidates(work, blocks, given, LEAST, measure))
    first, second, values = (found[name].to_numpy() for name in ("a", "b", "similarity"))
    there = dict(zip(zip(first.tolist(), second.tolist(), strict=True), values.tolist(), strict=True))
    pairs = zip(lower.tolist(), upper.tolist(), strict=True)
    return np.array([there.get(pair, 0.0) for pair in pairs], np.float64)


def features_of_rows(work: Work, blocks: Blocks, rows: I64) -> Features:
    """Return the features of these rows, which ascend, on the driver."""
    blobs: list[Any] = []
    for frame, told in blocks.telling(rows, [np.zeros(len(rows), np.int32)]):
        if len(told.rows()[0]):
            sent = frame.select("part", "first", "count", "sizes", "hashes", "tags")
            blobs += work.collect(work.run(sent, send_features, SCHEMA, blocks.firsts, told))["data"]
    found, features = gathered([each.as_buffer() for each in blobs])
    if not np.array_equal(found, rows):
        raise AssertionError("features of documents were lost")
    return features


def _needed(work: Work, blocks: Blocks, candidates: Candidates) -> tuple[int, tuple[I64, list[NDArray[Any]]]]:
    """Return how many buckets there are, and which rows go to which of them."""
    documents = min(2 * candidates.pairs, blocks.rows)
    expected = documents * blocks.features // max(blocks.rows, 1)
    buckets = work.buckets(expected, _FEATURES)
    slices = (blocks.rows >> _SLICE) + 1
    sent = [Sent(candidates.frame, send_needed, (buckets,))]
    table = work.collect(work.run(send(work, sent, slices), take_needed, SCHEMA))
    parts = sorted(zip(table["bucket"].to_pylist(), table["data"], strict=True), key=lambda part: part[0])
    return buckets, unpack_all([data.as_buffer() for _, data in parts], [np.int32])


def send_needed(batches: Batches, buckets: int) -> Batches:
    """Send each row of a pair, with the bucket in which the pair is verified, to the slice of its number."""
    packer = Packer()
    for _, blobs in buckets_of(batches):
        a, (b, meeting) = unpack_all(blobs.get(PAIRS, []), [np.int64] * 2)
        place = bucket_of(meeting, buckets)
        rows, places = _distinct(np.concatenate([a, b]), np.concatenate([place, place]))
        packer.add((rows >> _SLICE).astype(np.int32), rows, [places])
        yield from packer.ready()
    yield from packer.finish()


def take_needed(batches: Batches) -> Batches:
    """Return which rows go to which buckets, each once, in order."""

    def kept() -> Any:
        for bucket, blobs in buckets_of(batches):
            rows, (places,) = unpack_all(blobs[PAIRS], [np.int32])
            rows, places = _distinct(rows, places)
            for start in range(0, len(rows), 1 << 16):
                here = slice(start, start + (1 << 16))
                yield bucket, PAIRS, len(rows[here]), pack(rows[here], [places[here]])

    yield from batched(kept())


def send_features(batches: Batches, firsts: I64, needed: Told) -> Batches:
    """Send the features of rows that are needed to their buckets."""
    wanted, (places,) = needed.rows()
    waiting: list[tuple[I64, NDArray[np.int32], Features]] = []
    count = 0
    for batch in batches:
        rows = rows_of(batch, firsts)
        first = np.searchsorted(wanted, rows.numbers)
        times = np.searchsorted(wanted, rows.numbers, "right") - first
        here = np.repeat(np.arange(len(rows.numbers)), times)
        if not len(here):
            continue
        features = features_in(batch, rows.sizes).take(here)
        waiting.append((rows.numbers[here], places[spread(first, times)], features))
        count += len(features.hashes)
        if count > _WAITING:
            yield from batched(_packed(waiting))
            waiting, count = [], 0
    if waiting:
        yield from batched(_packed(waiting))


def send_pairs(batches: Batches, buckets: int) -> Batches:
    """Send pairs to the bucket in which they are verified."""
    packer = Packer(kind=1)
    for _, blobs in buckets_of(batches):
        a, (b, meeting) = unpack_all(blobs.get(PAIRS, []), [np.int64] * 2)
        packer.add(bucket_of(meeting, buckets), a, [b])
        yield from packer.ready()
    yield from packer.finish()


def take_both(batches: Batches, threshold: Fraction, measure: Measure) -> Batches:
    """Verify the pairs of each bucket by the features that have come there."""
    for _, blobs in buckets_of(batches):
        rows, features = gathered(blobs.get(0, []))
        a, (b,) = unpack_all(blobs.get(1, []), [np.int64])
        order = np.lexsort((b, a))
        a, b = a[order], b[order]
        places = [np.searchsorted(rows, side) for side in (a, b)]
        if any(
            (rows[np.minimum(place, len(rows) - 1)] != side).any() for place, side in zip(places, (a, b), strict=True)
        ):
            raise AssertionError("features of candidates were lost")
        similarity = Similarity(measure, None, features.tags)
        found = verify_rows(sets_of(features)[0], Pairs(places[0], places[1]), threshold, 1, similarity=similarity)
        total = np.zeros(len(found), np.int64) if found.total is None else found.total
        collided = found.counters.get("collisions", 0)
        yield _verified(rows[found.a], rows[found.b], found.similarity, found.shared, total)
        if collided:
            yield _verified(*(np.array([value]) for value in (-1, collided, 0.0, COLLIDED, 0)))


def gathered(blobs: list[Any]) -> tuple[I64, Features]:
    """Return features that were sent, in order of their rows."""
    rows, (sizes, hashes, tags) = unpack_all(blobs, _TYPES)
    features = Features(hashes, offsets_of(sizes), None, tags if len(tags) else None)
    order = np.argsort(rows, kind="stable")
    return rows[order], features.take(order)


def _packed(waiting: list[tuple[I64, NDArray[np.int32], Features]]) -> Any:
    """Yield features in blobs, by bucket and row."""
    rows, places = (np.concatenate([each[at] for each in waiting]) for at in (0, 1))
    order = np.lexsort((rows, places))
    rows, places, features = rows[order], places[order], Features.joined([each[2] for each in waiting]).take(order)
    edges = np.flatnonzero(np.diff(places, prepend=-1, append=-1))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        first = start
        while first < stop:
            most = int(np.searchsorted(features.offsets, features.offsets[first] + _BLOB, "right")) - 1
            last = min(max(most, first + 1), stop)
            here = features.rows(first, last)
            tags = np.empty(0, np.uint32) if here.tags is None else here.tags
            sizes = here.sizes.astype(np.int32)
            blob: Blob = int(places[start]), 0, last - first, pack(rows[first:last], [sizes, here.hashes, tags])
            yield blob
            first = last


def _distinct(rows: I64, places: NDArray[np.int32]) -> tuple[I64, NDArray[np.int32]]:
    """Return rows with their places in order, each once."""
    order = np.lexsort((places, rows))
    rows, places = rows[order], places[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (places[1:] != places[:-1])
    return rows[new], places[new]


def _verified(a: Any, b: Any, similarity: Any, shared: Any, total: Any) -> Any:
    return record_batch(a=a, b=b, similarity=similarity, shared=shared, total=total)
