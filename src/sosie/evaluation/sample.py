"""Recall against exact search: sampled documents are compared with all others, and the result is held against that.

all documents -> features on disk -> groups of identical sets; a sample of the documents
-> each sampled set's rarest features -> every set that has one of them -> true similarity -> counts

Nothing is bounded as in a join, and no list of pairs is kept: only counts for each sampled set.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.evaluation.result import Numbering, Result, numbered_documents
from sosie.features.collect import Collection, collect
from sosie.features.shingles import Shingles
from sosie.kernels.parallel import ordered_map, spans
from sosie.kernels.set_join import Sets
from sosie.matches.groups import Groups
from sosie.matches.identical import collapse
from sosie.matches.sets import rows_of, sets_of
from sosie.matches.verify import shared_counts
from sosie.types import I64, U64, Bools

SPAN = 1 << 18  # features that one task looks up
CANDIDATES = 1 << 22  # common features of pairs that one task looks at at a time
FILTER_BITS = 22  # of a table that says no for almost every feature that is not wanted
CONFIDENCE = 1.959964  # standard deviations on both sides of 95 %


@dataclass(frozen=True)
class SampledRecall:
    """What exact search says about a result, for the pairs of `sampled` random documents of `documents`.

    `true_pairs` are the similar pairs with a sampled document, `found_pairs` those of them that the result lists,
    `wrong_pairs` the listed ones that are not similar. For a de-duplication, of `unsettled_pairs` both documents stay;
    `kept` of the sampled documents stay, and `missed` of these are similar to another document that stays.
    """

    documents: int
    sampled: int
    true_pairs: int
    found_pairs: int
    wrong_pairs: int
    unsettled_pairs: int | None = None
    kept: int | None = None
    missed: int | None = None

    @property
    def recall(self) -> float | None:
        """The share of the true pairs that was found; None if the sample has none."""
        return self.found_pairs / self.true_pairs if self.true_pairs else None

    @property
    def settled(self) -> float | None:
        """The share of the true pairs of which not both documents stay; None for a join, or without true pairs."""
        if self.unsettled_pairs is None or not self.true_pairs:
            return None
        return 1 - self.unsettled_pairs / self.true_pairs

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the recall (Wilson), as if pairs were independent."""
        return wilson(self.found_pairs, self.true_pairs)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a proportion (Wilson 1927).

    >>> tuple(round(bound, 4) for bound in wilson(9, 10))
    (0.5958, 0.9821)
    """
    if not trials:
        return 0.0, 1.0
    share, z2 = successes / trials, CONFIDENCE**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = CONFIDENCE / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


def sampled_recall(
    result: Result,
    source: Source,
    *,
    size: int = 1000,
    seed: int = 0,
    threshold: Fraction | None = None,
    shingles: Shingles | None = None,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> SampledRecall:
    """Compare `size` random documents with all documents of the source, exactly, and look them up in the result.

    Threshold and shingles are those of the result's report; they are needed where it does not say (a join).
    """
    if size < 1:
        raise UsageError(f"a sample has at least 1 document, got {size}")
    threshold = _one_of(result.threshold, threshold, "threshold")
    shingles = _one_of(result.shingles, shingles, "shingles")
    with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
        reading = source.batches(threads)
        collection = collect(reading, shingles, scratch, threads=threads, advance=advance)
        result.check_documents(reading)
        numbering = numbered_documents(reading)
        return _measure(result, collection, numbering, threshold, size, seed, threads)


def _one_of(said: Any, given: Any, name: str) -> Any:
    """Return a parameter of the report, or as it was given."""
    if said is None and given is None:
        raise UsageError(f"the report does not say the {name} of the run: give the {name}")
    if said is not None and given is not None and said != given:
        raise UsageError(f"the run had the {name} {said}, not {given}: leave it out")
    return given if said is None else said


def _measure(
    result: Result,
    collection: Collection,
    numbering: Numbering,
    threshold: Fraction,
    size: int,
    seed: int,
    threads: int | None,
) -> SampledRecall:
    count = len(collection)
    row_of = np.full(len(numbering), -1, np.int64)
    row_of[collection.documents] = np.arange(count)
    sampled = np.zeros(count, np.bool_)
    sampled[np.random.default_rng(seed).choice(count, min(size, count), replace=False)] = True
    sets, _ = sets_of(collection.features)
    a, b = (row_of[numbering.of(result.pairs[side], str(result.path))] for side in ("a", "b"))
    right, wrong = _listed(sets, a, b, sampled, threshold, threads)
    kept = None
    if result.clusters is not None:
        kept = np.ones(count, np.bool_)
        clustered = row_of[numbering.of(result.clusters["id"], str(result.path))]
        kept[clustered] = result.clusters["kept"].to_numpy()
    groups = collapse(sets, np.arange(count))
    true, unsettled, missed = _search(sets, groups, sampled, kept, threshold, threads)
    return SampledRecall(
        documents=count,
        sampled=int(sampled.sum()),
        true_pairs=true,
        found_pairs=right,
        wrong_pairs=wrong,
        unsettled_pairs=None if kept is None else unsettled,
        kept=None if kept is None else int((kept & sampled).sum()),
        missed=None if kept is None else missed,
    )


def _listed(sets: Sets, a: I64, b: I64, sampled: Bools, threshold: Fraction, threads: int | None) -> tuple[int, int]:
    """Count the listed pairs with a sampled document: those that are similar, and those that are not."""
    there = np.flatnonzero((a >= 0) & (b >= 0) & (a != b))
    there = there[sampled[a[there]] | sampled[b[there]]]
    low, high = np.minimum(a[there], b[there]), np.maximum(a[there], b[there])
    packed = np.unique(low << 32 | high)
    similar = int((shared_counts(sets, packed >> 32, packed & 0xFFFFFFFF, threshold, threads) > 0).sum())
    return similar, len(packed) - similar


def _search(
    sets: Sets, groups: Groups, sampled: Bools, kept: Bools | None, threshold: Fraction, threads: int | None
) -> tuple[int, int, int]:
    """Count similar pairs with a sampled row, those with two kept rows, and kept sampled rows in one of the latter.

    Rows with identical sets are compared once. A pair of two sampled rows is seen from both and counted once.
    """
    starts = groups.offsets[:-1]
    stays = np.ones(len(sampled), np.bool_) if kept is None else kept

    def in_group(flags: Bools) -> I64:
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(flags[groups.rows])])
        return np.asarray(ends[groups.offsets[1:]] - ends[starts])

    sizes, drawn = groups.sizes, in_group(sampled)
    staying, drawn_staying = in_group(stays), in_group(stays & sampled)
    probes = np.flatnonzero(drawn)
    first = groups.representatives
    distinct = rows_of(sets.hashes, sets.starts[first], sets.stops[first])
    weights = np.stack([sizes, drawn, staying, drawn_staying], axis=1)
    similar = weights[probes]  # a group is similar to itself
    for part in _similar_groups(distinct, probes, threshold, weights, threads):
        similar += part
    similar -= 1  # but a row is not a pair
    m, n = drawn[probes], drawn_staying[probes]
    pairs = int((m * similar[:, 0]).sum()) - int((m * similar[:, 1]).sum()) // 2
    unsettled = int((n * similar[:, 2]).sum()) - int((n * similar[:, 3]).sum()) // 2
    return pairs, unsettled, int((n * (similar[:, 2] > 0)).sum())


def _similar_groups(sets: Sets, probes: I64, threshold: Fraction, weights: I64, threads: int | None) -> Iterator[I64]:
    """Yield, for spans of rows, the sum of the weights of the rows that each probe is similar to, without itself."""
    wanted, members, ends = _inverted(sets, probes, threshold)
    lists = csr_array((np.ones(len(members), np.int32), members, ends), (len(wanted), len(probes)))
    shift = np.uint64(64 - FILTER_BITS)
    maybe = np.zeros(1 << FILTER_BITS, np.bool_)
    maybe[wanted >> shift] = True
    row_sizes = sets.stops - sets.starts
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(row_sizes)])

    def compare(probe: I64, row: I64, total: I64) -> None:
        other = probes[probe] != row
        probe, row = probe[other], row[other]
        near = np.flatnonzero(shared_counts(sets, probes[probe], row, threshold, 1) > 0)
        for column in range(total.shape[1]):
            # float64 holds whole numbers below 2^53 exactly
            part = np.bincount(probe[near], weights[row[near], column], len(probes))
            total[:, column] += part.astype(np.int64)

    def search(span: tuple[int, int]) -> I64:
        total = np.zeros((len(probes), weights.shape[1]), np.int64)
        hashes, owner = _gathered(sets, *span)
        hits = np.flatnonzero(maybe[hashes >> shift])
        at = np.minimum(np.searchsorted(wanted, hashes[hits]), len(wanted) - 1)
        real = wanted[at] == hashes[hits]
        at, row = at[real], owner[hits[real]]
        steps = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends[at + 1] - ends[at])])
        for begin, end in _whole_rows(row, steps):
            # rows x wanted features x probes: the product has each candidate once, without a sort
            rows, place = np.unique(row[begin:end], return_inverse=True)
            held = csr_array((np.ones(end - begin, np.int32), (place, at[begin:end])), (len(rows), len(wanted)))
            both = held @ lists
            compare(both.indices.astype(np.int64), np.repeat(rows, np.diff(both.indptr)), total)
        return total

    if len(wanted):
        yield from ordered_map(search, spans(sums, SPAN), threads)


def _whole_rows(row: I64, steps: I64) -> Iterator[tuple[int, int]]:
    """Cut hits, in order of their rows, into pieces of about CANDIDATES steps that end where a row ends."""
    begin = 0
    while begin < len(row):
        end = int(np.searchsorted(steps, steps[begin] + CANDIDATES, side="left"))
        end = min(max(end, begin + 1), len(row))
        end = int(np.searchsorted(row, row[end - 1], side="right"))
        yield begin, end
        begin = end


def _gathered(sets: Sets, low: int, high: int) -> tuple[U64, I64]:
    """Return the features of rows low..high, and the row of each."""
    sizes = sets.stops[low:high] - sets.starts[low:high]
    before = np.cumsum(sizes) - sizes
    places = np.repeat(sets.starts[low:high] - before, sizes) + np.arange(int(sizes.sum()))
    return sets.hashes[places], np.repeat(np.arange(low, high), sizes)


def _inverted(sets: Sets, probes: I64, threshold: Fraction) -> tuple[U64, I64, I64]:
    """Return the features to look for, sorted, and for each the probes that have it, CSR.

    Of a set x, any |x| - ceil(t |x|) + 1 features will do: a set that has none of them shares too few. Those that are
    rarest in the sample are taken, so that what all documents share is not looked for.
    """
    hashes, owner = _gathered(rows_of(sets.hashes, sets.starts[probes], sets.stops[probes]), 0, len(probes))
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    order = np.lexsort((hashes, counts[inverse], owner))
    sizes = np.bincount(owner, minlength=len(probes))
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    p, q = threshold.numerator, threshold.denominator
    enough = sizes - -(-p * sizes // q) + 1
    order = order[place < enough[owner[order]]]
    order = order[np.lexsort((owner[order], hashes[order]))]
    wanted, lengths = np.unique(hashes[order], return_counts=True)
    return wanted, owner[order], np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
