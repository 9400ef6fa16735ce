"""The third stage of shards: every shard is joined with itself and with each later one, and the pairs are verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from sosie.jobs.auto import choose_join
from sosie.jobs.shards.collection import SignedShards
from sosie.jobs.shards.folder import GROUPS, JOINED, ShardFolder, ShardReport, key_from
from sosie.jobs.shards.part import Part
from sosie.jobs.warm import prepare
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.groups import Groups
from sosie.matches.join import join_signatures
from sosie.matches.keys import join_keys
from sosie.matches.sets.join import join_similar
from sosie.matches.sets.rows import rows_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import verify_rows
from sosie.report.timing import Progress, Silent, Timing
from sosie.types import I64, U64, Keys, Pairs, Signatures, VerifiedPairs


def join_shards(
    folder: ShardFolder, part: Part, *, threads: int | None = None, progress: Progress | None = None
) -> ShardReport:
    """Do one part of all joins: those of shard i with shard j, for i up to j, in their order, are cut into parts.

    Pairs are of groups of identical rows, in keep order. What is joined are the sets themselves, or the keys or
    signatures of them, as was said when they were signed; all pairs are verified by their sets.
    """
    timing, signed, held = Timing(progress or Silent()), SignedShards.of(folder), folder.stage(GROUPS)
    key = key_from(JOINED, held.key, str(part))
    counts: dict[str, int]
    if done := folder.is_done(JOINED, key, part):
        counts = dict(folder.stage(JOINED, part).meta["counts"])
    else:
        joins = list(combinations_with_replacement(range(len(signed.shards)), 2))
        mine = [joins[number] for number in part.share(len(joins))]
        prepare(f"join {signed.meta['similarity']}", progress=timing.progress, threads=threads)
        with folder.writing(JOINED, part, []) as directory:
            joining = ShardJoin(signed, Groups(held.arrays["rows"], held.arrays["offsets"]), threads)
            found = []
            with timing.stage("join", len(mine)) as stage:
                for first, second in mine:
                    found.append(joining.join(first, second))
                    stage.advance(1)
            counts = {"joins": len(mine), "pairs": sum(map(len, found))}
            counters = _summed(each.counters for each in found)
            folder.save(directory, JOINED, key, _columns(found), {"counts": counts, "counters": counters})
    stages = tuple(timing.finished)
    return ShardReport(stage="join", shard=str(part), done_before=done, counts=counts, stages=stages)


class ShardJoin:
    """Joins of shards by the representatives of groups: each is a row of one shard, and has a number in keep order."""

    def __init__(self, signed: SignedShards, groups: Groups, threads: int | None) -> None:
        self._signed, self._threads = signed, threads
        self._by = signed.meta["by"]
        self._threshold = Fraction(signed.meta["threshold"])
        self._similarity = Similarity(signed.meta["similarity"])
        self._representatives = groups.representatives
        self._shard = np.searchsorted(signed.rows, self._representatives, side="right") - 1

    def join(self, first: int, second: int) -> VerifiedPairs:
        """Return the similar pairs of groups whose representatives are in two shards, or in one; the earlier first."""
        sides = [self._side(first)] if first == second else [self._side(first), self._side(second)]
        if not all(len(groups) for groups, _ in sides):
            return _nothing()
        sets, split = self._sets([rows for _, rows in sides], [first, second])
        pairs = self._candidates(sets, split, [rows for _, rows in sides], [first, second])
        found = verify_rows(sets, pairs, self._threshold, self._threads, split=split, similarity=self._similarity)
        a, b = sides[0][0][found.a], sides[-1][0][found.b]
        return VerifiedPairs(
            np.minimum(a, b), np.maximum(a, b), found.similarity, found.shared, found.total, found.counters
        )

    def _side(self, shard: int) -> tuple[I64, I64]:
        """Return the groups whose representatives are in a shard, and their rows there."""
        groups = np.flatnonzero(self._shard == shard)
        return groups, self._representatives[groups] - self._signed.rows[shard]

    def _sets(self, rows: list[I64], shards: list[int]) -> tuple[Sets, int]:
        """Return the sets of the rows of one shard or of two, and where those of the second begin."""
        arrays = [self._signed.shards[shard].arrays for shard in shards[: len(rows)]]
        bases = [0, len(arrays[0]["hashes"])]
        starts = [each["offsets"][here] + base for each, here, base in zip(arrays, rows, bases, strict=False)]
        stops = [each["offsets"][here + 1] + base for each, here, base in zip(arrays, rows, bases, strict=False)]
        hashes = arrays[0]["hashes"] if len(rows) == 1 else np.concatenate([each["hashes"] for each in arrays])
        return rows_of(hashes, np.concatenate(starts), np.concatenate(stops)), 0 if len(rows) == 1 else len(rows[0])

    def _candidates(self, sets: Sets, split: int, rows: list[I64], shards: list[int]) -> Pairs:
        """Return the pairs to verify, the second row counted from where its shard begins."""
        if self._by["method"] == "exact":
            return join_similar(sets, self._similarity, self._threshold, self._threads, split=split)
        if self._by["method"] == "minhash":
            keys = [Keys(self._made("keys", *each)) for each in zip(rows, shards, strict=False)]
            return join_keys(keys[0], *keys[1:], threads=self._threads)
        if self._by["method"] == "simhash":
            radius, bits = self._by["radius"], self._by["bits"]
            words = [Signatures(self._made("words", *each), bits) for each in zip(rows, shards, strict=False)]
            join = choose_join(sum(map(len, rows)), bits, radius)
            return join_signatures(words[0], *words[1:], radius=radius, method=join, threads=self._threads)
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))  # what is identical is in one group

    def _made(self, name: str, rows: I64, shard: int) -> U64:
        """Return the keys or signatures of rows: there is one for each row with features."""
        arrays = self._signed.shards[shard].arrays
        made: U64 = arrays[name][(np.cumsum(np.diff(arrays["offsets"]) > 0) - 1)[rows]]
        return made


def joined(folder: ShardFolder) -> tuple[VerifiedPairs, str]:
    """Return the pairs of all parts of the joins in their order, and the key of all of them."""
    parts = folder.parts(JOINED)
    groups = folder.stage(GROUPS).key
    for number in range(1, len(parts) + 1):
        part = Part(number, len(parts))
        folder.is_done(JOINED, key_from(JOINED, groups, str(part)), part)
    columns = {name: np.concatenate([part.arrays[name] for part in parts]) for name in parts[0].arrays}
    order = np.lexsort((columns["b"], columns["a"]))
    ordered: dict[str, Any] = {name: column[order] for name, column in columns.items()}
    counters = _summed([part.meta["counters"] for part in parts])
    return VerifiedPairs(**ordered, counters=counters), key_from(JOINED, *(part.key for part in parts))


def _columns(found: list[VerifiedPairs]) -> dict[str, Any]:
    each = [_nothing(), *found]
    columns = {name: [getattr(one, name) for one in each] for name in ("a", "b", "similarity", "shared", "total")}
    return {
        name: np.concatenate([part for part in parts if part is not None])
        for name, parts in columns.items()
        if name != "total" or all(one.total is not None for one in found)
    }


def _summed(counters: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counters:
        total.update(each)
    return dict(total)


def _nothing() -> VerifiedPairs:
    none = np.empty(0, np.int64)
    return VerifiedPairs(none, none, np.empty(0), none, none)
