"""Facts of signatures, from samples: how far the rows wanted are apart, how many they are, and how bits are shared."""

from __future__ import annotations

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError
from sosie.index.flat import FlatIndex
from sosie.kernels.tables.permuted import draw_permutation, gather_bits
from sosie.planner.facts import Facts, Spread
from sosie.types import F64, I64, U64, Signatures

MOST = 1 << 37  # bits that are compared, of all sampled pairs: some tenths of a second
_PART = 1 << 20  # rows that are looked at, at most, of any collection,
_RUN = 64  # so many adjoining ones at a time: rows of files are read by the page
_SOUGHT = 1 << 15  # rows that are held against them, at most,
_LEAST = 1 << 6  # and at least
_FEW, _GLANCED = 1 << 13, 1 << 10  # rows of a first look, and how many of them are held against the others,
_ENOUGH = 1 << 14  # and pairs found in it that are enough: there would be too many in all
_SORTED = 1 << 16  # rows from which it is told how bits are shared, at most,
_BY_BITS = 1 << 18  # one for so many bits that are compared otherwise,
_DRAWS = 4  # in so many orders of the bits
_STEP = 4  # bits from one number of them to the next
_SURE = 20  # pairs that share so many bits; fewer tell nothing


def facts_of_signatures(
    signatures: Signatures,
    others: Signatures | None = None,
    radius: int | None = None,
    k: int | None = None,
    threads: int | None = None,
    *,
    most: int = MOST,
    rows: int | None = None,
) -> Facts:
    """Return what is known of pairs within a radius, or of the k nearest: of a collection, or of `others` beside it.

    Some rows are held against all, or against a part of very many, by exact search; `most` is how many bits are
    compared for it. A row is no match of itself. Without radius and `k` only the sharing of bits is looked at. Where
    the signatures are a sample themselves, `rows` is of how many.

    >>> rows = np.random.default_rng(0).integers(0, 2**63, 2000, dtype=np.uint64)
    >>> facts = facts_of_signatures(Signatures(np.concatenate([rows, rows ^ np.uint64(1)])), radius=3)
    >>> facts.matches, facts.distances.values.tolist(), facts.sharing[0][0]
    (1.0, [1.0], 4)
    """
    if others is not None and others.bits != signatures.bits:
        raise MismatchError(f"signatures of {signatures.bits} and {others.bits} bits are not compared")
    sharing = sharing_of(signatures, others, min(max(most // _BY_BITS, _FEW), _SORTED))
    if (radius is None and k is None) or not len(signatures) or (others is not None and not len(others)):
        return Facts(counted=True, sharing=sharing)
    asking = signatures if others is None else others
    rows = rows or len(signatures)
    wanted = max(min(_SOUGHT, most // (min(_PART, len(signatures)) * signatures.bits)), _LEAST)
    found = None
    for count, part in ((_GLANCED, _FEW), (wanted, _PART)):
        sought = _chosen(len(asking), min(count, wanted), 1)
        held = _chosen(len(signatures), min(part, max(most // (len(sought) * signatures.bits), _FEW)), _RUN)
        own = sought if others is None else None
        share = None if k is None else max(round(k * len(held) / rows), 1)
        found = _Found.of(_taken(signatures, held), held, _taken(asking, sought), own, (radius, share), threads)
        if len(found.distances) >= _ENOUGH:
            break
    assert found is not None
    return found.facts(sharing, rows / max(len(held), 1), exact=k is None)


class _Found:
    """What exact search found of sampled rows: distances, and of each row how many matches and how many equal ones."""

    def __init__(self, distances: F64, sizes: I64, equal: I64) -> None:
        self.distances, self.sizes, self.equal = distances, sizes, equal

    @staticmethod
    def of(
        part: Signatures,
        held: I64,
        asked: Signatures,
        own: I64 | None,
        within: tuple[int | None, int | None],
        threads: int | None,
    ) -> _Found:
        """Search a part of the rows, those with the numbers `held`, within a radius or for the nearest so many.

        `own` are the numbers of the rows that are asked for, where they are of the same collection.
        """
        radius, k = within
        index = FlatIndex(part)
        if k is None:
            assert radius is not None
            found = index.within(asked, radius=radius, threads=threads)
        else:
            found = index.search(asked, k=min(k + (own is not None), len(held)), threads=threads)
        of = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        kept = np.ones(len(of), np.bool_) if own is None else held[found.rows] != own[of]
        if k is not None and radius is not None:
            kept &= found.distances <= radius
        distances, of = found.distances[kept].astype(np.float64), of[kept]
        counted = (np.bincount(some, minlength=len(asked)) for some in (of, of[distances == 0]))
        return _Found(distances, *counted)

    def facts(self, sharing: tuple[tuple[int, float], ...], scale: float, *, exact: bool) -> Facts:
        """Return the facts, of `scale` times as many rows as were held; a number of nearest rows is no fact."""
        values, weights = np.unique(self.distances, return_counts=True)
        equal = self.equal * scale
        return Facts(
            counted=True,
            distances=Spread(values, weights.astype(np.float64)) if len(values) else None,
            matches=float(self.sizes.mean() * scale) if exact else None,
            copies=float((equal / (equal + 1)).mean()),
            sharing=sharing,
        )


def sharing_of(
    signatures: Signatures, others: Signatures | None = None, count: int = _SORTED
) -> tuple[tuple[int, float], ...]:
    """Return how many times more often than by chance two rows agree in 4, 8, 12, ... bits, as far as a sample tells.

    The sample has so many rows at most. The bits are the leading ones of several orders drawn at random. With others,
    pairs are of one row of each.

    >>> words = np.random.default_rng(0).integers(0, 2**64, 4000, dtype=np.uint64)
    >>> half = words & np.uint64(0xFFFFFFFF)  # half of the bits are the same in all rows, and tell nothing
    >>> round(sharing_of(Signatures(words))[1][1], 1), sharing_of(Signatures(half))[1][1] > 8
    (1.0, True)
    """
    sides = [side.words[_chosen(len(side), count, _RUN)] for side in (signatures, others) if side is not None]
    sides = [read_only(np.ascontiguousarray(words)) for words in sides]
    first, last = (len(sides[0]), len(sides[-1]))
    pairs = first * last if len(sides) > 1 else first * (first - 1) / 2
    keys = [[_sorted_keys(words, signatures.bits, draw) for words in sides] for draw in range(_DRAWS)]
    found: list[tuple[int, float]] = []
    for bits in range(_STEP, min(signatures.bits, 64) + 1, _STEP):
        agreeing = sum(_agreeing(each, bits) for each in keys) / _DRAWS
        if agreeing < _SURE:
            break
        found.append((bits, max(agreeing / (pairs * 2.0**-bits), 1.0)))
    return tuple(found)


def _sorted_keys(words: U64, bits: int, draw: int) -> U64:
    keys = gather_bits(words, read_only(draw_permutation(bits, 0, draw)[:64]))
    keys.sort()
    return keys


def _agreeing(sides: list[U64], bits: int) -> int:
    """Return how many pairs of rows, or of rows of two sides, have the same leading bits."""
    counted = []
    for keys in sides:
        tops = keys >> np.uint64(64 - bits)
        opens = np.flatnonzero(np.append(True, tops[1:] != tops[:-1])) if len(tops) else np.empty(0, np.int64)
        counted.append((tops[opens], np.diff(np.append(opens, len(tops)))))
    if len(counted) == 1:
        sizes = counted[0][1]
        return int((sizes * (sizes - 1) // 2).sum())
    (left, few), (right, many) = counted
    _, at, other = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return int((few[at] * many[other]).sum())


def _taken(signatures: Signatures, rows: I64) -> Signatures:
    """Return some rows without ids: to number all rows would take as much memory as short signatures do."""
    return Signatures(np.ascontiguousarray(signatures.words[rows]), signatures.bits)


def _chosen(rows: int, count: int, run: int) -> I64:
    """Return the numbers of so many rows, in order, drawn at random in runs of adjoining ones; all if they are few."""
    if rows <= count:
        return np.arange(rows)
    starts = np.random.default_rng(0).choice(rows // run, max(count // run, 1), replace=False, shuffle=False)
    starts.sort()
    return np.asarray((starts[:, None] * run + np.arange(run)).reshape(-1))
