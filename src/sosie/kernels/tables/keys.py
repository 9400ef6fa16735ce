"""Rows by key: found in sorted tables with a directory, and grouped with those that have the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.machine.sort import sort_values
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.tables.hits import Hits
from sosie.kernels.tables.sort_rows import bits_to_tell, gather_equal, sort_by_top_bits


class KeyTables(NamedTuple):
    """Rows by key: in table t, the rows whose mixed key has top bits d lie from `directory[t, d]` to `[t, d + 1]`."""

    keys: U64
    rows: I64
    directory: I64
    bits: int


def build_tables(values: U64, first: int, bits: int) -> KeyTables:
    """Sort the keys of rows `first` and up, table by table; the directory tells so many leading bits apart."""
    count, tables = values.shape
    made = KeyTables(
        np.empty((tables, count), np.uint64),
        np.empty((tables, count), np.int64),
        np.empty((tables, (1 << bits) + 1), np.int64),
        bits,
    )
    for table in range(tables):
        mixed = _mix(read_only(np.ascontiguousarray(values[:, table])))
        made.keys[table], made.rows[table] = sort_by_top_bits(mixed, np.arange(first, first + count), bits)
        _fill_directory(made.keys[table], bits, made.directory[table])
    return KeyTables(read_only(made.keys), read_only(made.rows), read_only(made.directory), bits)


@kernel
def _mix(keys: U64) -> U64:
    """Return keys spread over all bits; the mixing is a bijection, so equal ones stay equal and others do not."""
    mixed = np.empty(keys.size, np.uint64)
    for i in range(keys.size):
        mixed[i] = splitmix64(keys[i])
    return mixed


@kernel
def _fill_directory(keys: U64, bits: int, directory: I64) -> None:
    shift = np.uint64(64 - bits)
    place = 0
    for entry in range(directory.size - 1):
        directory[entry] = place
        while place < keys.size and np.int64(keys[place] >> shift) == entry:
            place += 1
    directory[directory.size - 1] = place


@kernel
def most_found(found_by: KeyTables, queries: U64) -> I64:
    """Return for each query how many rows it can find at most."""
    shift = np.uint64(64 - found_by.bits)
    most = np.zeros(queries.shape[0], np.int64)
    for query in range(queries.shape[0]):
        for table in range(queries.shape[1]):
            entry = np.int64(splitmix64(queries[query, table]) >> shift)
            most[query] += found_by.directory[table, entry + 1] - found_by.directory[table, entry]
    return most


@kernel
def find_rows(found_by: KeyTables, queries: U64, first: int, hits: Hits) -> int:
    """Write each query's rows once, with the number of tables that do not agree, rows in order; return their number.

    The rows of the tables are `first` and up. It has a counter for each of them: for queries that find many.
    """
    tables = queries.shape[1]
    shift = np.uint64(64 - found_by.bits)
    agree = np.zeros(found_by.keys.shape[1], np.int32)
    total = 0
    for query in range(queries.shape[0]):
        begin = total
        for table in range(tables):
            key = splitmix64(queries[query, table])
            entry = np.int64(key >> shift)
            for place in range(found_by.directory[table, entry], found_by.directory[table, entry + 1]):
                if found_by.keys[table, place] == key:
                    row = found_by.rows[table, place] - first
                    if agree[row] == 0:
                        hits.rows[total] = row
                        total += 1
                    agree[row] += 1
        sort_values(hits.rows[begin:total])
        for i in range(begin, total):
            row = hits.rows[i]
            hits.queries[i] = query
            hits.distances[i] = tables - agree[row]
            hits.rows[i] = row + first
            agree[row] = 0
    return total


@kernel
def find_few_rows(found_by: KeyTables, queries: U64, hits: Hits) -> int:
    """Do what `find_rows` does, for queries that find few: no row is touched that is not found.

    There has to be room for what is found in every table.
    """
    tables = queries.shape[1]
    shift = np.uint64(64 - found_by.bits)
    total = 0
    for query in range(queries.shape[0]):
        end = total
        for table in range(tables):
            key = splitmix64(queries[query, table])
            entry = np.int64(key >> shift)
            for place in range(found_by.directory[table, entry], found_by.directory[table, entry + 1]):
                if found_by.keys[table, place] == key:
                    hits.rows[end] = found_by.rows[table, place]
                    end += 1
        sort_values(hits.rows[total:end])
        last = np.int64(-1)
        for i in range(total, end):
            row = hits.rows[i]
            if row == last:
                hits.distances[total - 1] -= 1
                continue
            hits.queries[total], hits.rows[total], hits.distances[total] = query, row, tables - 1
            last = row
            total += 1
    return total


def group_by_key(keys: U64) -> tuple[I64, I64]:
    """Return the groups of at least two rows with equal keys as `offsets, members`, members in order.

    >>> offsets, members = group_by_key(np.array([5, 9, 5, 7], np.uint64))
    >>> offsets.tolist(), members.tolist()
    ([0, 2], [0, 2])
    """
    bits = bits_to_tell(len(keys))
    mixed, rows = sort_by_top_bits(_mix(read_only(keys)), np.arange(len(keys)), bits)
    gather_equal(mixed, rows, bits)
    return _shared_only(mixed, rows)


@kernel
def _shared_only(keys: U64, rows: I64) -> tuple[I64, I64]:
    """Drop the rows that are alone with their key."""
    offsets, members = np.zeros(keys.size + 1, np.int64), np.empty(keys.size, np.int64)
    groups, filled = 0, 0
    begin = 0
    while begin < keys.size:
        end = begin + 1
        while end < keys.size and keys[end] == keys[begin]:
            end += 1
        if end - begin > 1:
            for at in range(begin, end):
                members[filled] = rows[at]
                filled += 1
            groups += 1
            offsets[groups] = filled
        begin = end
    return offsets[: groups + 1].copy(), members[:filled].copy()


@kernel
def count_pairs(offsets: I64, members: I64, split: int, limit: int) -> int:
    """Return the number of pairs inside groups of at most `limit` rows."""
    total = 0
    for group in range(offsets.size - 1):
        size = offsets[group + 1] - offsets[group]
        if size > limit:
            continue
        if split == 0:
            total += size * (size - 1) // 2
        else:
            first = 0
            for place in range(offsets[group], offsets[group + 1]):
                first += members[place] < split
            total += first * (size - first)
    return total


@kernel
def write_pairs(offsets: I64, members: I64, split: int, limit: int, pairs: U64) -> None:
    """Write the pairs inside groups of at most `limit` rows, packed: a in the upper, b in the lower 32 bits.

    Rows from `split` on are the second collection; with a split of 0 there is only one.
    """
    count = 0
    for group in range(offsets.size - 1):
        begin, end = offsets[group], offsets[group + 1]
        if end - begin > limit:
            continue
        middle = begin
        while middle < end and members[middle] < split:
            middle += 1
        for i in range(begin, end if split == 0 else middle):
            for j in range(max(i + 1, middle), end):
                pairs[count] = np.uint64(members[i]) << np.uint64(32) | np.uint64(members[j])
                count += 1


@kernel
def count_parts(keys: U64, bits: int, counts: I64) -> None:
    """Add how many keys belong to each part, which is told by the top bits of the mixed key."""
    shift = np.uint64(64 - bits)
    for i in range(keys.size):
        counts[np.int64(splitmix64(keys[i]) >> shift)] += 1


@kernel
def select_parts(keys: U64, first: int, bits: int, span: tuple[int, int], mixed: U64, rows: I64, count: int) -> int:
    """Append the mixed keys of the parts of a span, and their rows, to those that there are; return how many there are.

    The keys are those of rows `first` and up.
    """
    shift = np.uint64(64 - bits)
    for i in range(keys.size):
        key = splitmix64(keys[i])
        part = np.int64(key >> shift)
        if span[0] <= part and part < span[1]:
            mixed[count] = key
            rows[count] = first + i
            count += 1
    return count


@kernel
def fill_pairs(offsets: I64, members: I64, split: int, place: I64, pairs: U64) -> int:
    """Write the pairs inside groups as `write_pairs` does, as far as there is room; return their number.

    `place` (group, member) is where to begin, and becomes where to go on. There has to be room for a pair of each
    member of a group.
    """
    count = 0
    for group in range(place[0], offsets.size - 1):
        begin, end = offsets[group], offsets[group + 1]
        middle = begin
        while middle < end and members[middle] < split:
            middle += 1
        for i in range(max(begin, place[1]), end if split == 0 else middle):
            others = max(i + 1, middle)
            if count + end - others > pairs.size:
                place[0], place[1] = group, i
                return count
            for j in range(others, end):
                pairs[count] = np.uint64(members[i]) << np.uint64(32) | np.uint64(members[j])
                count += 1
    place[0] = offsets.size - 1
    return count
