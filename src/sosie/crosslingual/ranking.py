"""Which pairs are links: in the order in which they stand out, the best of each, one to one, or mutual.

A target that is similar to everything says little. So a pair is ranked by its similarity less the mean of what its two
ends have with their own two best partners: by how far it stands out there (cross-domain similarity local scaling,
Conneau et al. 2018, with two neighbours, because a document has one twin).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sosie.crosslingual.compared import Compared
from sosie.errors import UsageError
from sosie.types import F64, I64, Bools

_PARTNERS = 2  # of a document, that tell how similar it is to any


@dataclass(frozen=True, eq=False)
class Ranked:
    """Links of a source row `a` and a target row `b`: by source, and of each in the order of `rank`, from 1 on.

    `standing` is how far a link stands out; `similarity` is what was compared.
    """

    a: I64
    b: I64
    rank: I64
    similarity: F64
    standing: F64

    def __len__(self) -> int:
        return len(self.a)

    def take(self, which: Bools) -> Ranked:
        """Return some of the links, with the ranks that they have."""
        return Ranked(*(getattr(self, name)[which] for name in ("a", "b", "rank", "similarity", "standing")))

    @property
    def first(self) -> Ranked:
        """The first link of each source."""
        return self.take(self.rank == 1)


def ranked(compared: Compared) -> Ranked:
    """Rank compared pairs by how far each stands out; equal ones by similarity, then by row.

    >>> pairs = Compared(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.6, 0.6, 0.9]))
    >>> found = ranked(pairs)
    >>> found.b.tolist(), found.rank.tolist(), found.standing.round(3).tolist()
    ([0, 1, 1], [1, 2, 1], [0.15, -0.075, 0.3])
    """
    usual = [_usual(rows, compared.similarity, compared.least) for rows in (compared.a, compared.b)]
    standing = compared.similarity - (usual[0][compared.a] + usual[1][compared.b]) / 2 if len(compared) else usual[0]
    order = np.lexsort((compared.b, -compared.similarity, -standing, compared.a))
    return _numbered(compared.a[order], compared.b[order], compared.similarity[order], standing[order])


def selected(
    links: Ranked,
    *,
    k: int | None = None,
    threshold: float | None = None,
    one_to_one: bool = False,
    mutual: bool = False,
) -> Ranked:
    """Return the links that are wanted: of each source the first `k`, those that are similar enough, each end once.

    `one_to_one` takes the links of all sources in the order in which they stand out, each only if both of its ends are
    free; `mutual` those that are the first of both their ends. What remains is ranked anew.
    """
    if k is not None and k < 1:
        raise UsageError(f"at least 1 link of each document is asked for, got k={k}")
    if threshold is not None:
        links = links.take(links.similarity >= threshold)
    if mutual:
        links = links.take(_are_mutual(links))
    if one_to_one:
        links = links.take(_one_to_one(links))
    links = _numbered(links.a, links.b, links.similarity, links.standing)
    return links if k is None else links.take(links.rank <= k)


def without(compared: Compared, targets: I64) -> Compared:
    """Return the pairs of all other targets."""
    kept = ~np.isin(compared.b, targets)
    return replace(compared, a=compared.a[kept], b=compared.b[kept], similarity=compared.similarity[kept])


def _usual(rows: I64, similarity: F64, least: float) -> F64:
    """Return for each row the mean of its two greatest similarities; a missing one is taken for `least`, no more."""
    count = int(rows.max()) + 1 if len(rows) else 0
    order = np.lexsort((-similarity, rows))
    place = _places(rows[order])
    few = order[place < _PARTNERS]
    missing = _PARTNERS - np.bincount(rows[few], minlength=count)
    return (np.bincount(rows[few], similarity[few], minlength=count) + missing * least) / _PARTNERS


def _places(rows: I64) -> I64:
    """Return the place of each entry among those of its row, from 0 on; equal rows adjoin."""
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])) if len(rows) else np.empty(0, np.int64)
    return np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))


def _numbered(a: I64, b: I64, similarity: F64, standing: F64) -> Ranked:
    return Ranked(a, b, _places(a) + 1, similarity, standing)


def _are_mutual(links: Ranked) -> Bools:
    """Whether each link is the first of its source and, in the same order, the first of its target."""
    order = np.lexsort((links.a, -links.similarity, -links.standing, links.b))
    first = np.zeros(len(links), np.bool_)
    first[order[_places(links.b[order]) == 0]] = True
    return np.asarray(first & (_places(links.a) == 0))


def _one_to_one(links: Ranked) -> Bools:
    """Take links greedily, the one that stands out most first, while both ends are free."""
    taken = np.zeros(len(links), np.bool_)
    used_a, used_b = (bytearray(int(rows.max()) + 1 if len(rows) else 0) for rows in (links.a, links.b))
    order = np.lexsort((links.b, links.a, -links.similarity, -links.standing))
    for place, a, b in zip(order.tolist(), links.a[order].tolist(), links.b[order].tolist(), strict=True):
        if not used_a[a] and not used_b[b]:
            used_a[a] = used_b[b] = 1
            taken[place] = True
    return taken
