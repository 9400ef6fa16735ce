"""A run of consecutive rows of a probe index: one sorted copy of their signatures, and where each header begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.index.files import check_array, check_starts
from sosie.index.untrusted import check_each_once
from sosie.kernels.machine.lanes import LANES
from sosie.kernels.tables.probes import ProbeTable, empty_table, fill_probe_table
from sosie.planner.methods.probes import header_bits
from sosie.types import I64, U64


@dataclass(frozen=True, eq=False)
class ProbeHeader:
    """The bits that are probed: bit i of a header is bit `places[i]` of a signature; `moves` bring them there."""

    places: I64
    moves: U64

    @staticmethod
    def of(places: I64) -> ProbeHeader:
        """Return how bits come to a header, neighbours together.

        >>> ProbeHeader.of(np.array([62, 63, 64, 7])).moves.tolist()
        [[0, 62, 3, 0], [1, 0, 1, 2], [0, 7, 1, 3]]
        """
        moves: list[tuple[int, int, int, int]] = []
        for at, place in enumerate(places.tolist()):
            word, down = divmod(place, 64)
            if moves and moves[-1][0] == word and down == moves[-1][1] + moves[-1][2].bit_length():
                moves[-1] = word, moves[-1][1], 2 * moves[-1][2] + 1, moves[-1][3]
            else:
                moves.append((word, down, 1, at))
        return ProbeHeader(read_only(places), read_only(np.array(moves, np.uint64)))

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class ProbeRun:
    """Rows `first` and up, sorted by the leading bits of their headers."""

    first: int
    table: ProbeTable

    @staticmethod
    def of(words: U64, first: int, header: ProbeHeader) -> ProbeRun:
        """Sort rows; as many bits lead as tell them apart, but no more than the header has."""
        bits = min(len(header), header_bits(len(words)))
        made = empty_table(len(words), words.shape[1], bits)
        fill_probe_table(read_only(words), first, header.moves, len(header), made)
        return ProbeRun(first, _frozen(made))

    def __len__(self) -> int:
        return len(self.table.rows)

    def put_rows(self, rows: U64, begin: int) -> None:
        """Write the signatures to the places of their rows, of which `begin` is the first there."""
        rows[self.table.rows - np.uint32(begin)] = self.table.words[: len(self)]

    def squares(self) -> int:
        """Return the sum of the squares of how many rows share each address."""
        sizes = np.diff(self.table.starts).astype(np.int64)
        return int(sizes @ sizes)

    def arrays(self) -> dict[str, Any]:
        """Return what `restored` needs."""
        return self.table._asdict()

    @staticmethod
    def restored(first: int, count: int, shape: tuple[int, int], arrays: Mapping[str, Any]) -> ProbeRun:
        """Return a run from arrays that were read from a file: `shape` is the bits of a header and words of a row."""
        words, rows, starts = (arrays[name] for name in ProbeTable._fields)
        bits = min(shape[0], max(1, (starts.size - 1).bit_length() - 1))
        check_array(words, np.uint64, (-(-count // LANES) * LANES, shape[1]))
        check_array(rows, np.uint32, (count,))
        check_array(starts, np.uint32, ((1 << bits) + 1,))
        check_starts(starts[None], count)
        check_each_once(rows, first, count)
        return ProbeRun(first, _frozen(ProbeTable(words, rows, starts)))


def _frozen(table: ProbeTable) -> ProbeTable:
    return ProbeTable(*(read_only(array) for array in table))
