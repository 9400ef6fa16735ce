"""The block join: all pairs within a small radius, exactly, without comparing all pairs.

Two signatures that differ in h bits, cut into h + g blocks, agree in at least g of them (pigeonhole; Manku et al.
2007). So there is one table for every choice of g blocks, its *header*; rows with equal headers are compared, and a
pair is written only by the first table whose header it shares.
"""

from __future__ import annotations

import math

import numpy as np

from sosie.index.block_run import BlockCut
from sosie.kernels.tables.hamming_join import (
    EQUAL,
    PartRoom,
    TableJoin,
    hash_headers,
    join_groups,
    join_parts,
    split_parts,
)
from sosie.kernels.tables.sort_rows import bits_to_tell, sort_by_top_bits
from sosie.matches.check import check_join, check_pairs
from sosie.matches.equal.signatures import join_distinct
from sosie.matches.order import ordered_pairs
from sosie.parallel import ordered_map, thread_count
from sosie.types import I64, U64, Pairs, Signatures

_TABLES = 1000  # more are never worth it
_SAMPLE = 2048  # rows from which the size of groups is estimated
_SORT = 8.0  # the cost of a row in a table, in comparisons of one word


def join_blocks(
    a: Signatures,
    b: Signatures | None = None,
    radius: int = 3,
    threads: int | None = None,
    *,
    max_pairs: int | None = None,
) -> Pairs:
    """Return all pairs of rows at most `radius` apart: inside a collection, or between two.

    Equal rows are compared once. More than `max_pairs` pairs are refused. Without a limit, groups of more than 64 equal
    rows are not written with all their pairs: each row is paired with the first of the group, and with the first of any
    near group; the counters `bounded_groups` and `bounded_pairs` say how many groups and pairs that left out.

    >>> rows = Signatures(np.array([0b1111, 0b1110, 0b0000], np.uint64))
    >>> pairs = join_blocks(rows, radius=2)
    >>> pairs.a.tolist(), pairs.b.tolist()
    ([0], [1])
    """
    check_join(a, b, radius, a.bits - 1)

    def find(words: U64, split: int) -> Pairs | None:
        return _join(words, split, a.bits, radius, thread_count(threads))

    if b is None and len(a) > 1:  # most collections hold no equal rows; where they do, one is met soon
        pairs = find(a.words, 0)
        if pairs is not None:
            if max_pairs is not None:
                check_pairs(len(pairs), max_pairs)
            counters = {**pairs.counters, "bounded_groups": 0, "bounded_pairs": 0}
            return ordered_pairs(pairs.a, pairs.b, counters, recall=1.0)
    return join_distinct(a, b, find, max_pairs)


def _join(words: U64, split: int, bits: int, radius: int, threads: int) -> Pairs | None:
    """Join distinct rows; None if two rows of one collection turn out to be equal."""
    cut = _choose_cut(words, bits, radius)
    runs = [range(len(cut.headers))[start::threads] for start in range(min(threads, len(cut.headers)))]
    join_tables = _join_one_word if words.shape[1] == 1 and len(words) < 2**31 else _join_several_words
    sought = TableJoin(words, split, radius, cut.masks)
    found = list(ordered_map(lambda run: join_tables(sought, cut, run), runs, threads))
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    pairs = np.concatenate([part[0] for part in parts])
    counters = {"tables": len(cut.headers), "comparisons": sum(part[1] for part in parts)}
    return Pairs(pairs[:, 0], pairs[:, 1], counters, recall=1.0)


def _choose_cut(words: U64, bits: int, radius: int) -> BlockCut:
    """Return the cut that costs least, by the sizes that its groups have in a sample."""
    count = len(words)
    sample = words[np.random.default_rng(0).choice(count, min(count, _SAMPLE), replace=False)]
    best, best_cost = BlockCut.of(bits, radius + 1, 1), math.inf
    for chosen in range(1, bits - radius + 1):
        if math.comb(radius + chosen, chosen) > _TABLES and chosen > 1:
            break
        cut = BlockCut.of(bits, radius + chosen, chosen)
        groups = np.mean([_rows_per_group(sample, cut, table, count) for table in _some(len(cut.headers))])
        cost = len(cut.headers) * count * (_SORT + groups / 2) * words.shape[1]
        if cost >= best_cost:
            break
        best, best_cost = cut, cost
    return best


def _some(tables: int) -> range:
    return range(0, tables, -(-tables // 8))


def _rows_per_group(sample: U64, cut: BlockCut, table: int, count: int) -> float:
    """Estimate with how many rows a row is compared: as by chance, or as the sample shows."""
    _, sizes = np.unique(hash_headers(sample, cut.masks[table]), return_counts=True)
    observed = float(np.sum(sizes * (sizes - 1))) / max(1, len(sample) * (len(sample) - 1))
    return count * max(observed, 2.0 ** -cut.header_bits(table))


def _join_one_word(sought: TableJoin, cut: BlockCut, tables: range) -> tuple[I64, int] | None:
    count = len(sought.words)
    room, pairs = PartRoom.of(count), np.empty((max(count, 2**16), 2), np.int64)
    pieces, work = [pairs[:0]], 0
    for table in tables:
        bits = min(cut.header_bits(table), bits_to_tell(count))
        starts = split_parts(sought.words, _moves(cut, table), bits - bits // 2, room)
        this = sought._replace(masks=sought.masks[: table + 1])
        part = 0
        while part < len(starts) - 1:
            part, found, more, needed = join_parts(starts, room, part, bits // 2, this, pairs)
            if found == EQUAL:
                return None
            work += more
            pieces.append(pairs[:found].copy())
            if needed > len(pairs):
                pairs = np.empty((needed, 2), np.int64)
    return np.concatenate(pieces), work


def _moves(cut: BlockCut, table: int) -> I64:
    """Return the moves (from bit, width, to bit) that bring a table's header to the top of a word."""
    chosen = cut.headers[table]
    others = [block for block in range(len(cut.edges) - 1) if block not in chosen]
    top, moves = 64, [[0, 0, 0]]
    for block in [*reversed(chosen), *reversed(others)]:
        start, width = int(cut.edges[block]), int(cut.edges[block + 1] - cut.edges[block])
        top -= width
        if start + width == moves[-1][0]:  # it goes on below the block before it, as it was
            moves[-1] = [start, moves[-1][1] + width, top]
        else:
            moves.append([start, width, top])
    return np.array(moves[1:], np.int64)


def _join_several_words(sought: TableJoin, cut: BlockCut, tables: range) -> tuple[I64, int] | None:
    count = len(sought.words)
    pairs = np.empty((max(count, 2**16), 2), np.int64)
    pieces, work, bits = [pairs[:0]], 0, bits_to_tell(count)
    for table in tables:
        keys, rows = sort_by_top_bits(hash_headers(sought.words, cut.masks[table]), np.arange(count), bits)
        near = sought.words[rows]
        this = sought._replace(masks=sought.masks[: table + 1])
        place = 0
        while place < count:
            place, found, more = join_groups(keys, rows, bits, near, place, this, pairs)
            if found == EQUAL:
                return None
            work += more
            pieces.append(pairs[:found].copy())
    return np.concatenate(pieces), work
