"""A run of consecutive rows of a block index, with tables of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import StorageError
from sosie.index.cut import Cut
from sosie.index.files import check_array, check_starts
from sosie.kernels.machine.lanes import LANES
from sosie.kernels.tables.blocks import Addresses, BlockTables, Store, fill_table, find_near
from sosie.kernels.tables.hits import Hits
from sosie.parallel import ordered_map
from sosie.types import U64


@dataclass(frozen=True, eq=False)
class BlockRun:
    """Rows `first` and up, `count` of them, by their headers."""

    first: int
    count: int
    cut: Cut
    tables: BlockTables

    @staticmethod
    def of(words: U64, first: int, cut: Cut, address_bits: int | None = None) -> BlockRun:
        """Sort rows into their tables, side by side on threads; addresses follow from the rows, unless given."""
        count, tables = len(words), len(cut.headers)
        addresses = cut.addresses(address_bits or _address_bits(count))
        near = np.empty((tables, count + LANES), np.uint64)
        rows = np.empty((tables, count), np.uint32)
        starts = np.empty((tables, (1 << addresses.bits) + 1), np.uint32)
        made = BlockTables(addresses, cut.columns(), near, rows, starts)
        for _ in ordered_map(lambda table: fill_table(read_only(words), first, table, made), range(tables)):
            pass
        return BlockRun(first, count, cut, _frozen(made))

    def find(self, store: Store, queries: U64, radius: int, first: bool) -> tuple[Hits, int]:
        """Return the matches of each query and how many rows were compared; see `find_near`."""
        return find_near(self.tables, store, queries, radius, first, max(64, 2 * len(queries)))

    def arrays(self) -> dict[str, Any]:
        """Return what `restored` needs besides the cut."""
        return {"near": self.tables.near, "rows": self.tables.rows, "starts": self.tables.starts}

    @staticmethod
    def restored(
        first: int, count: int, cut: Cut, arrays: Mapping[str, Any], address_bits: int | None = None
    ) -> BlockRun:
        """Return a run from its arrays, which were read from a file and are not trusted."""
        addresses, tables = cut.addresses(address_bits or _address_bits(count)), len(cut.headers)
        near, rows, starts = (arrays[name] for name in ("near", "rows", "starts"))
        check_array(near, np.uint64, (tables, count + LANES))
        check_array(rows, np.uint32, (tables, count))
        check_array(starts, np.uint32, (tables, (1 << addresses.bits) + 1))
        check_starts(starts, count)
        if count and (rows.min() < first or rows.max() >= first + count):
            raise StorageError("a table names a row that is not in it")
        return BlockRun(first, count, cut, _frozen(BlockTables(addresses, cut.columns(), near, rows, starts)))


def run_bytes(count: int, tables: int) -> int:
    """Return how much memory tables of so many rows take."""
    return tables * (12 * count + 4 * (1 << _address_bits(count)))


def _address_bits(count: int) -> int:
    """Return the bits of an address: one or two rows share an address by chance."""
    return max(1, count.bit_length() - 1)


def _frozen(tables: BlockTables) -> BlockTables:
    moves, masks, bits = tables.addresses
    addresses = Addresses(read_only(moves), read_only(masks), bits)
    return BlockTables(addresses, *(read_only(array) for array in tables[1:]))
