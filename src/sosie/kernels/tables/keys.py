"""Rows found by key: sorted tables with a directory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.arrays import I64, U64, read_only
from sosie.kernels.machine.compile import kernel
from sosie.kernels.sign.mix import splitmix64
from sosie.kernels.tables.hits import Hits
from sosie.kernels.tables.sort_rows import sort_by_top_bits


class KeyTables(NamedTuple):
    """Rows by key: in table t, the rows whose mixed key has top bits d lie from `directory[t, d]` to `[t, d + 1]`."""

    keys: U64
    rows: I64
    directory: I64
    bits: int


def build_tables(values: U64, first: int) -> KeyTables:
    """Sort the keys of rows `first` and up, table by table."""
    count, tables = values.shape
    bits = directory_bits(count)
    made = KeyTables(
        np.empty((tables, count), np.uint64),
        np.empty((tables, count), np.int64),
        np.empty((tables, (1 << bits) + 1), np.int64),
        bits,
    )
    for table in range(tables):
        mixed = _mix_column(values, table)
        made.keys[table], made.rows[table] = sort_by_top_bits(mixed, np.arange(first, first + count), bits)
        _fill_directory(made.keys[table], bits, made.directory[table])
    return KeyTables(read_only(made.keys), read_only(made.rows), read_only(made.directory), bits)


def directory_bits(count: int) -> int:
    """Return how many leading bits the directory of so many keys tells apart."""
    return max(1, (count // 2).bit_length())


@kernel
def _mix_column(values: U64, table: int) -> U64:
    """Return the keys of a table spread over all bits, by a bijection."""
    mixed = np.empty(values.shape[0], np.uint64)
    for row in range(values.shape[0]):
        mixed[row] = splitmix64(values[row, table])
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
        hits.rows[begin:total].sort()
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
        hits.rows[total:end].sort()
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
