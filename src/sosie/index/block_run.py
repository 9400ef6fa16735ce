"""Block tables: bits cut into blocks, and a run of rows by the headers that are made of some of the blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import UsageError
from sosie.index.files import check_array, check_starts
from sosie.index.untrusted import check_each_once
from sosie.kernels.machine.lanes import LANES
from sosie.kernels.tables.blocks import Addresses, BlockTables, Store, fill_table, find_near, meet_near
from sosie.kernels.tables.hits import Hits
from sosie.parallel import ordered_map, thread_count
from sosie.planner.methods.blocks import address_bits as fitting_bits
from sosie.types import I64, U64

TABLES = "near", "rows", "starts"  # the arrays of a run
UNCUT = 1, 0  # one block, none in the header
_MOST = 10_000  # tables,
_MOVES = 2_000_000  # and blocks in the headers of all of them


@dataclass(frozen=True, eq=False)
class BlockCut:
    """Bits cut into blocks, block i from `edges[i]` to `edges[i + 1]`, and the blocks of every table's header.

    Signatures that differ in at most as many bits as there are blocks outside a header agree in some header.

    >>> cut = BlockCut.of(bits=64, blocks=5, chosen=2)
    >>> cut.edges.tolist(), len(cut.headers), cut.header_bits(0)
    ([0, 12, 25, 38, 51, 64], 10, 25)
    """

    edges: I64
    headers: list[tuple[int, ...]]
    masks: U64

    @staticmethod
    def of(bits: int, blocks: int, chosen: int) -> BlockCut:
        """Cut bits into blocks of equal width, up to one, with a table for every choice of `chosen` blocks."""
        edges = np.arange(blocks + 1) * bits // blocks
        headers = list(combinations(range(blocks), chosen))
        of_block = np.array([_mask(start, stop, -(-bits // 64)) for start, stop in pairwise(edges.tolist())])
        masks = np.array([np.bitwise_or.reduce(of_block[list(header)]) for header in headers])
        return BlockCut(edges, headers, masks)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of blocks, and how many of them are in a header."""
        return len(self.edges) - 1, len(self.headers[0])

    def header_bits(self, table: int) -> int:
        """Return the number of bits of a table's header."""
        return int(sum(self.edges[block + 1] - self.edges[block] for block in self.headers[table]))

    def addresses(self, bits: int) -> Addresses:
        """Return how headers become addresses of up to `bits` bits: as they are if they fit, else folded by XOR."""
        bits = min(bits, max(map(self.header_bits, range(len(self.headers)))))
        moves = [self._fold(header, bits) for header in self.headers]
        padded = np.zeros((len(moves), max(map(len, moves)), 4), np.uint64)
        for table, steps in enumerate(moves):
            padded[table, : len(steps)] = np.array(steps, np.uint64).reshape(-1, 4)
        return Addresses(padded, self.masks, bits)

    def columns(self) -> I64:
        """Return for each table the word with the fewest bits in its header: it tells rows with equal headers apart."""
        width = np.minimum(64, self.edges[-1] - 64 * np.arange(self.masks.shape[1]))
        return np.asarray(np.argmax(width - np.bitwise_count(self.masks), axis=1))

    def _fold(self, header: tuple[int, ...], bits: int) -> list[tuple[int, int, int, int]]:
        """Return the moves (word, down, mask, up) of a header's bits, each as long as word and address allow."""
        moves, place = [], 0
        for block in header:
            bit, stop = int(self.edges[block]), int(self.edges[block + 1])
            while bit < stop:
                width = min(stop - bit, 64 - bit % 64, bits - place)
                moves.append((bit // 64, bit % 64, (1 << width) - 1, place))
                bit, place = bit + width, (place + width) % bits
        return moves


@dataclass(frozen=True, eq=False)
class BlockRun:
    """Rows `first` and up, `count` of them, by their headers."""

    first: int
    count: int
    cut: BlockCut
    tables: BlockTables

    def __len__(self) -> int:
        return self.count

    @staticmethod
    def of(words: U64, first: int, cut: BlockCut, address_bits: int | None = None) -> BlockRun:
        """Sort rows into their tables, side by side on threads; addresses follow from the rows, unless given."""
        count, tables = len(words), len(cut.headers)
        addresses = cut.addresses(address_bits or fitting_bits(count))
        near = np.empty((tables, count + LANES), np.uint64)
        rows = np.empty((tables, count), np.uint32)
        starts = np.empty((tables, (1 << addresses.bits) + 1), np.uint32)
        made = BlockTables(addresses, cut.columns(), near, rows, starts)
        workers = min(thread_count(None), tables)  # a short run has one table, and starting a thread takes longer
        for _ in ordered_map(lambda table: fill_table(read_only(words), first, table, made), range(tables), workers):
            pass
        return BlockRun(first, count, cut, _frozen(made))

    def find(self, store: Store, queries: U64, radius: int, first: bool) -> tuple[Hits, int]:
        """Return the matches of each query and how many rows were compared; see `find_near`."""
        return find_near(self.tables, store, queries, radius, first, max(64, 2 * len(queries)))

    def meet(self, store: Store, queries: U64, radius: int) -> tuple[Hits, I64]:
        """Return one match of each query that has any, how many rows were compared and how many tables were read."""
        return meet_near(self.tables, store, queries, radius)

    def arrays(self) -> dict[str, Any]:
        """Return what `restored` needs besides the cut."""
        return {name: getattr(self.tables, name) for name in TABLES}

    @staticmethod
    def restored(
        first: int, count: int, cut: BlockCut, arrays: Mapping[str, Any], address_bits: int | None = None
    ) -> BlockRun:
        """Return a run from its arrays, which were read from a file and are not trusted."""
        addresses, tables = cut.addresses(address_bits or fitting_bits(count)), len(cut.headers)
        near, rows, starts = (arrays[name] for name in TABLES)
        check_array(near, np.uint64, (tables, count + LANES))
        check_array(rows, np.uint32, (tables, count))
        check_array(starts, np.uint32, (tables, (1 << addresses.bits) + 1))
        check_starts(starts, count)
        check_each_once(rows, first, count)
        return BlockRun(first, count, cut, _frozen(BlockTables(addresses, cut.columns(), near, rows, starts)))


def _frozen(tables: BlockTables) -> BlockTables:
    moves, masks, bits = tables.addresses
    addresses = Addresses(read_only(moves), read_only(masks), bits)
    return BlockTables(addresses, *(read_only(array) for array in tables[1:]))


def checked_shape(bits: int, radius: int, blocks: int | None, header: int | None) -> tuple[int, int | None, int | None]:
    """Return the radius that the tables guarantee, and blocks and header: both, or neither if none was given."""
    if radius < 0:
        raise UsageError(f"radius must be at least 0, got {radius}")
    if blocks is None and header is None:
        return min(radius, bits - 1), None, None
    if header is None:
        header = (blocks or 0) - radius
    if blocks is None:
        blocks = radius + header
    if not 1 <= header <= blocks <= bits or blocks - header < radius:
        raise UsageError(
            f"{blocks} blocks with {header} in the header do not guarantee radius {radius} of {bits} bits: choose "
            f"at least 1 block in the header, and from header + radius to {bits} blocks"
        )
    if math.comb(blocks, header) > _MOST or header * math.comb(blocks, header) > _MOVES:
        raise UsageError(
            f"{header} of {blocks} blocks make more than {_MOST:,} tables, or too wide headers: choose a smaller header"
        )
    return blocks - header, blocks, header


def _mask(start: int, stop: int, words: int) -> U64:
    return np.frombuffer(((1 << stop) - (1 << start)).to_bytes(8 * words, "little"), np.uint64)
