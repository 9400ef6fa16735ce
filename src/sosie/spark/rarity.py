"""Which features are frequent, told by a sample: the order from rare to frequent in which all documents are read.

Any one order of the features is right for a join by prefixes. One that puts frequent features last makes its lists
short, and for that a sample is enough: what it holds once is rare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import U16
from sosie.kernels.sets.rarity import SATURATED
from sosie.spark.blocks import Blocks, bucket_of, features_in, rows_of
from sosie.spark.exchange import SCHEMA, Packer, Sent, batched, buckets_of, send
from sosie.spark.packed import pack, unpack_all
from sosie.spark.travelling import Batches
from sosie.spark.work import Work
from sosie.types import I64, U32, U64

SAMPLE, LEAST = (
    1 << 22,
    1 << 16,
)  # features: a sixteenth of them, but no more than the first and no fewer than the other
MOST = 1 << 20  # frequent features that are told apart
_PART = 1 << 16
_BUCKETS = 8
_BITS = 22  # of a hash, by which frequencies are kept


class Rarity(NamedTuple):
    """Frequent features, ascending, and how many sampled documents have each; all others are rare."""

    features: U64
    counts: U32

    def table(self) -> tuple[U16, int]:
        """Return how frequent features are by their leading bits, and how hashes are shifted for that.

        >>> table, shift = Rarity(np.array([5 << 60], np.uint64), np.array([9], np.uint32)).table()
        >>> int(table[5 << 60 >> shift])
        9
        """
        counts = np.zeros(1 << _BITS, np.int64)
        np.add.at(counts, (self.features >> np.uint64(64 - _BITS)).astype(np.int64), self.counts)
        return np.minimum(counts, SATURATED).astype(np.uint16), 64 - _BITS


def sample_rarity(work: Work, blocks: Blocks) -> Rarity:
    """Count the features of sampled blocks, and return those that several documents have."""
    wanted = min(SAMPLE, max(blocks.features // 16, LEAST))
    share = min(1.0, wanted / max(blocks.features, 1))
    frame = blocks.frame.select("part", "first", "count", "sizes", "hashes")
    sent = [Sent(frame, send_sample, (blocks.firsts, share))]
    table = work.collect(work.run(send(work, sent, _BUCKETS), take_sample, SCHEMA))
    counts, (features,) = unpack_all([each.as_buffer() for each in table["data"]], [np.uint64])
    if len(features) > MOST:
        chosen = np.lexsort((features, -counts))[:MOST]
        features, counts = features[chosen], counts[chosen]
    order = np.argsort(features)
    return Rarity(features[order], counts[order].astype(np.uint32))


def send_sample(batches: Batches, firsts: I64, share: float) -> Batches:
    """Send the features of a share of the documents: which ones, their numbers say."""
    packer = Packer()
    for batch in batches:
        rows = rows_of(batch, firsts)
        some = np.flatnonzero(bucket_of(rows.numbers, _PART) < share * _PART)
        hashes = features_in(batch, rows.sizes).take(some).hashes
        packer.add(bucket_of(hashes, _BUCKETS), np.zeros(len(hashes), np.int64), [hashes])
        yield from packer.ready()
    yield from packer.finish()


def take_sample(batches: Batches) -> Batches:
    """Return the features of each bucket that occur more than once, and how often: by these, ascending."""
    for bucket, blobs in buckets_of(batches):
        features, counts = np.unique(unpack_all(blobs[0], [np.uint64])[1][0], return_counts=True)
        features, counts = features[counts > 1], counts[counts > 1]
        order = np.lexsort((features, counts))
        yield from batched(iter([(bucket, 0, len(order), pack(counts[order], [features[order]]))]))
