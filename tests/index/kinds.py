"""Every kind of index, exact, behind one face, so that a test can take them all."""

import numpy as np

from sosie.index.blocks import BlockIndex
from sosie.index.flat import FlatIndex
from sosie.index.keys import KeyIndex
from sosie.index.multi import MultiIndex
from sosie.index.probe_search import ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.types import Keys, Signatures

RADIUS = 10


class Kind:
    """What makes an index of rows that are numbers of 64 bits, and asks it."""

    def __init__(self, make):
        self.make = make

    def rows(self, values, ids=None, **made):
        return Signatures(np.asarray(values, np.uint64), ids=ids, **made)

    def index(self, values, ids=None, **made):
        return self.make(self.rows(values, ids, **made))

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

    def asks(self, index, queries):
        return (index.candidates(self.rows(queries), threads=1),)

    def truth(self, values, live, query):
        differ = (_keys(values[live]) != _keys(np.array([query]))).sum(axis=1)
        order = np.lexsort((live, differ))
        order = order[differ[order] < 4]
        return [[*zip(live[order].tolist(), differ[order].tolist(), strict=True)]]


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
}
