"""Every kind of index, exact, behind one face, so that a test can take them all."""

from itertools import chain

import numpy as np

from sosie.index.blocks import BlockIndex
from sosie.index.flat import FlatIndex
from sosie.index.keys import KeyIndex
from sosie.index.multi import MultiIndex
from sosie.index.probe_search import ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.index.words import WordIndex
from sosie.types import Bags, Features, Keys, Signatures

RADIUS = 10


class Kind:
    """What makes an index of rows that are numbers of 64 bits, and asks it."""

    def __init__(self, make):
        self.make = make

    def rows(self, values, ids=None, **made):
        return Signatures(np.asarray(values, np.uint64), ids=ids, **made)

    def index(self, values, ids=None, **made):
        return self.make(self.rows(values, ids, **made))

    def held(self, index):
        """Return the rows that an index holds."""
        return index.signatures

    def asks(self, index, queries):
        """Return what the searches of an index say: the nearest three, and all that are near."""
        asked = self.rows(queries)
        return index.search(asked, 3, threads=1), index.within(asked, RADIUS, threads=1)

    def truth(self, values, live, query):
        """Return what they say of one query, as rows and distances, by comparing it with every row that is there."""
        distances = np.bitwise_count(values[live] ^ query)
        order = np.lexsort((live, distances))
        near = order[distances[order] <= RADIUS]
        return [[*zip(live[some].tolist(), distances[some].tolist(), strict=True)] for some in (order[:3], near)]


class KeyKind(Kind):
    """Rows of four keys of 16 bits each."""

    def rows(self, values, ids=None, **made):
        return Keys(_keys(np.asarray(values, np.uint64)), ids=ids, **made)

    def held(self, index):
        return index.keys

    def asks(self, index, queries):
        return (index.candidates(self.rows(queries), threads=1),)

    def truth(self, values, live, query):
        differ = (_keys(values[live]) != _keys(np.array([query]))).sum(axis=1)
        order = np.lexsort((live, differ))
        order = order[differ[order] < 4]
        return [[*zip(live[order].tolist(), differ[order].tolist(), strict=True)]]


class WordKind(Kind):
    """Rows of up to eight features, the bytes of a number by their places; rows of the same bytes are as near."""

    def rows(self, values, ids=None, **made):
        values = np.asarray(values, np.uint64)
        features = [sorted(_features(value)) for value in values.tolist()]
        offsets = np.cumsum([0, *map(len, features)])
        return Bags(Features(np.array([*chain.from_iterable(features)], np.uint64), offsets), ids=ids, **made)

    def held(self, index):
        return index.bags

    def asks(self, index, queries):
        return (index.search(self.rows(queries), 3, threads=1),)

    def truth(self, values, live, query):
        bytes_of = values.view(np.uint8).reshape(-1, 8)
        asked = np.array([query]).view(np.uint8)
        shared = bytes_of == asked
        weights = np.rint(65536 * np.log(1 + len(values) / np.maximum(shared.sum(axis=0), 1)))
        similar = (shared @ weights)[live] / weights.sum()
        best = np.lexsort((live, -similar))[:3]
        lacking = 8 - shared.sum(axis=1)
        return [[(int(live[at]), int(lacking[live[at]])) for at in best if similar[at] > 0]]


def _features(value):
    return {(value >> 8 * place & 255) << 8 | place for place in range(8)}


def _keys(values):
    return np.ascontiguousarray((values[:, None] >> np.array([0, 16, 32, 48], np.uint64)) & np.uint64(0xFFFF))


def answers(kind, index, queries):
    """Return rows, distances and ids of what an index says, as lists."""
    return [
        (found.offsets.tolist(), found.rows.tolist(), found.distances.tolist(), found.ids.to_pylist())
        for found in kind.asks(index, queries)
    ]


EVERY = {
    "flat": Kind(FlatIndex),
    "slices": Kind(lambda rows: SliceIndex(rows, 8, SliceSearch(None))),
    "blocks": Kind(lambda rows: BlockIndex(rows, radius=3)),
    "probes": Kind(lambda rows: ProbeIndex(rows, ProbeSearch(2**30))),
    "multi": Kind(MultiIndex),
    "keys": KeyKind(KeyIndex),
    "words": WordKind(WordIndex),
}
