"""The sliding window join: pairs that are near each other in the order of permuted bits (Charikar 2002; NFL 4.3)."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from sosie.errors import UsageError
from sosie.matches.check import check_join, check_pairs
from sosie.matches.chunks import Detected, Window, WindowJoin
from sosie.matches.collected import PairRuns
from sosie.matches.recaptured import Recaptured
from sosie.parallel import ordered_map, thread_count
from sosie.planner.constants.joins import JOIN_PROGRAM
from sosie.planner.methods.window import held_bytes
from sosie.storage.room import Room
from sosie.storage.size import show_size
from sosie.types import U64, Pairs, Signatures


def join_window(
    a: Signatures,
    b: Signatures | None = None,
    radius: int = 3,
    threads: int | None = None,
    *,
    by: Window | None = None,
    max_pairs: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return the pairs at most `radius` apart that are within the window in some table; their recall is estimated.

    Of two collections only pairs of different sides are compared.

    >>> import numpy as np
    >>> rows = Signatures(np.array([0b1111, 0b1110, 0b0000], np.uint64))
    >>> join_window(rows, radius=1, by=Window(tables=3, window=2)).b.tolist()
    [1]
    """
    check_join(a, b, radius, a.bits)
    by = by or Window()
    join = WindowJoin([a.words] if b is None else [a.words, b.words], a.bits, radius, by)
    _check_room(join, room, threads)
    tally, again = _Tally(), Recaptured(by.tables)
    with PairRuns(room) as runs:
        orders = ordered_map(join.order, range(by.tables if join.brute else 0), threads, ahead=1)

        def keep(table: int, pairs: U64) -> None:
            runs.add_packed(pairs)
            again.add(table, pairs)

        chunks = chain.from_iterable(map(join.chunks, orders))
        for found in ordered_map(lambda chunk: join.detect(chunk, keep), chunks, threads):
            tally.add(found)
            if max_pairs is not None:
                check_pairs(tally.pairs_of_table, max_pairs)
            if room is not None:
                room.tell(found.rows, by.tables * join.rows)
        pairs = runs.pairs(tally.counters(join.brute))
    if max_pairs is not None:
        check_pairs(len(pairs), max_pairs)
    if b is not None:
        pairs = replace(pairs, b=pairs.b - len(a))
    if by.window + 1 >= join.rows:
        return replace(pairs, recall=1.0)
    share = again.share(join.distances, join.bits)
    return pairs if share is None else replace(pairs, recall=share.recall, interval=share.interval)


def _check_room(join: WindowJoin, room: Room | None, threads: int | None) -> None:
    """Refuse what does not fit: the orders of tables that are under way, and the rows and planes of their chunks."""
    if room is None or room.limit is None:
        return
    workers = thread_count(threads)
    held = held_bytes(join.rows, join.bits, join.by.window, workers, join.by.chunk)
    needed = JOIN_PROGRAM + held + room.memory
    if needed > room.limit:
        raise UsageError(
            f"a window over {join.rows:,} rows, {join.by.chunk:,} at a time, takes about {show_size(needed)} of memory:"
            " make the chunks smaller (--chunk), use fewer threads, or allow more (--memory, memory=)"
        )


class _Tally:
    """What a join has done so far: comparisons, and seconds of a processor."""

    def __init__(self) -> None:
        self.table, self.pairs_of_table, self.tables, self.chunks = -1, 0, 0, 0
        self.comparisons, self.across, self.making, self.detecting = 0, 0, 0.0, 0.0

    def add(self, found: Detected) -> None:
        """Count what was done for one chunk."""
        if found.table != self.table:
            self.table, self.pairs_of_table, self.tables = found.table, 0, self.tables + 1
        self.pairs_of_table += found.pairs
        self.chunks += 1
        self.comparisons += found.comparisons
        self.across += found.across
        self.making += found.making
        self.detecting += found.detecting

    def counters(self, brute: int) -> dict[str, int]:
        """Return what was counted; making the chunks as the comparisons that took as long (NFL 6.1).

        The relative cost is `comparisons` and `making_chunks` together, of `brute_comparisons`.
        """
        making = round(self.across * self.making / self.detecting) if self.detecting else 0
        return {
            "comparisons": self.across,
            "window_comparisons": self.comparisons,
            "brute_comparisons": brute,
            "making_chunks": making,
            "chunks": self.chunks,
            "tables": self.tables,
        }
