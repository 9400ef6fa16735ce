"""What single steps of joins take on this machine: the joins themselves, on generated signatures, and lines through it.

Each is joined with more and with less of what is to be measured; the difference is what it takes. Processor time is
measured, of one thread, and the least of a few repeats is taken: other work on the machine only ever adds to it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sosie.index.block_run import BlockCut
from sosie.jobs.planning.measure_stores import measure_stores
from sosie.jobs.planning.timed import Family, drawn, least, positive
from sosie.kernels.tables.equal import hash_rows
from sosie.kernels.tables.word_join import move_words
from sosie.matches.block_tables import BlockTables
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.matches.chunks import Window
from sosie.matches.scan import Scan
from sosie.matches.window import join_window
from sosie.planner.constants.joins import JOINS, WINDOW_MARGIN
from sosie.types import U64, Signatures

_WIDE = {64: 8, 256: 64, 1024: 340}  # bits and a radius: all planes are counted, and chance finds nothing
_BEYOND = 5.0  # times as fast, or as slow, as a usual machine
_HASHED = (128, 256, 1024)


def measure(threads: int) -> Family:
    """Return the constants of joins, by name, in nanoseconds; what threads gain is measured elsewhere."""
    brute = _brute()
    pair = brute["brute pair"]
    assert isinstance(pair, dict)
    found = {**brute, **_words(), **_hashed(), **_windows(pair), **_equal(), **measure_stores()}
    return {name: _likely(value, JOINS[name].usual) for name, value in found.items()}


def _likely(value: float | dict[int, float], usual: float | Mapping[int, float]) -> float | dict[int, float]:
    """Return what was measured, as far as it is not beyond any machine: what a difference of two times may be."""
    if not isinstance(value, dict):
        assert not isinstance(usual, Mapping)
        return min(max(value, usual / _BEYOND), usual * _BEYOND)
    assert isinstance(usual, Mapping)
    return {size: min(max(each, usual[size] / _BEYOND), usual[size] * _BEYOND) for size, each in value.items()}


def _brute() -> Family:
    """Measure pairs over bit planes: with few rows and many, which tells rows from pairs."""
    pair, row = {}, {}
    for (bits, radius), many in zip(_WIDE.items(), (16_000, 12_000, 6_000), strict=True):
        counts, rows = (many, many // 6), drawn(many, bits)
        taken = [least(lambda: join_brute(rows.take(np.arange(count)), None, radius, 1)) for count in counts]  # noqa: B023
        lines = np.array([[count * (count - 1 + WINDOW_MARGIN) / 2, count] for count in counts])
        pair[bits], row[bits] = map(positive, np.linalg.solve(lines, np.array(taken)))
    rows = drawn(16_000, 64)
    early = least(lambda: join_brute(rows, None, 3, 1)) - len(rows) * row[64]
    pair[32] = min(positive(early / (len(rows) * (len(rows) - 1 + WINDOW_MARGIN) / 2)), pair[64])
    near, found = drawn(6000, 64), join_brute(drawn(6000, 64), None, 21, 1)
    alone = least(lambda: join_brute(near, None, 21, 1)) - least(lambda: join_brute(near, None, 8, 1))
    return {"brute pair": pair, "brute row": row, "brute found": positive(alone / len(found))}


def _words() -> Family:
    """Measure block tables of one word: with wide headers, and with narrow ones, which compare more."""
    rows, small = drawn(1 << 18, 64), drawn(64, 64)
    row, compared = _table(rows, BlockCut.of(64, 4, 1))
    slow, many = _table(rows, BlockCut.of(64, 7, 1))
    pair = positive((slow - row) / max(many - compared, 1e-9))
    begun = least(lambda: BlockTables(Scan.of(small), BlockCut.of(64, 4, 1), 3, 1).join(ignore)) / 4
    near = [least(lambda: join_blocks(each, None, 3, 1)) for each in (_twins(1 << 17), drawn(1 << 17, 64))]  # noqa: B023
    met = 4 * (1 - 2 / 64) ** 16  # tables in which two rows agree that differ in two bits
    moves = np.array([[0, 64, 0]], np.int64)
    return {
        "join": least(lambda: join_brute(small, None, 3, 1)),
        "block table": begun,
        "word row": positive(row - pair * compared),
        "word pair": pair,
        "word scan": positive(least(lambda: move_words(rows.words, moves)) / len(rows)),
        **dict.fromkeys(("block hit", "block found"), positive((near[0] - near[1]) / (1 << 16) / (met + 1))),
    }


def _hashed() -> Family:
    """Measure block tables of several words."""
    row, pair, scan = {}, {}, {}
    for bits in _HASHED:
        rows = drawn(1 << 17, bits)
        cut = BlockCut.of(bits, 4, 1)
        row[bits], compared = _table(rows, cut)
        narrow = BlockCut.of(bits, bits // 10, 1)
        slow, many = _table(rows, BlockCut(narrow.edges, narrow.headers[:2], narrow.masks[:2]))
        pair[bits] = positive((slow - row[bits]) / max(many - compared, 1e-9))
        scan[bits] = positive(least(lambda: hash_rows(rows.words)) / len(rows))  # noqa: B023
    return {"hashed row": row, "hashed pair": pair, "hashed scan": scan}


def _windows(pair: Mapping[int, float]) -> Family:
    """Measure orders of a window: a narrow one, less what blocks are compared beyond it; and pairs that it finds."""
    row, by = {}, Window(tables=2, window=10)
    for bits, radius in _WIDE.items():
        rows = drawn((1 << 22) // bits, bits)
        taken = least(lambda: join_window(rows, None, radius, 1, by=by))  # noqa: B023
        row[bits] = positive(taken / (by.tables * len(rows)) - pair[bits] * (WINDOW_MARGIN + by.window))
    apart, near = drawn(1 << 13, 64), _twins(1 << 13)

    def more(tables: int) -> float:
        """Return what it takes that there are pairs."""
        taken = [least(lambda: join_window(each, None, 8, 1, by=Window(tables, 10))) for each in (near, apart)]  # noqa: B023
        return taken[0] - taken[1]

    few, many, pairs = more(12), more(36), len(near) // 2
    found = positive((many - few) / (24 * pairs))
    return {"window row": row, "window found": found, "window told": positive(few / pairs - 12 * found)}


def _equal() -> Family:
    """Measure rows that equal others: a few, for which all are looked at, and many."""
    words, taken = drawn(1 << 16, 64).words, []
    for copies in (0, 1 << 10, 1 << 14):
        some = Signatures(np.concatenate([words[: len(words) - copies], words[:copies]]))
        taken.append(least(lambda: join_blocks(some, None, 3, 1, max_pairs=1 << 20)))  # noqa: B023
    pair = positive((taken[2] - taken[1]) / ((1 << 14) - (1 << 10)))
    row = positive((taken[1] - taken[0] - pair * (1 << 10)) / len(words))
    return {"equal row": row, "equal pair": pair}


def _table(rows: Signatures, cut: BlockCut) -> tuple[float, float]:
    """Return what a row takes in a table of a cut, and with how many rows it is compared there."""
    join = BlockTables(Scan.of(rows), cut, 1, 1)
    each, compared = len(rows) * len(cut.headers), join.join(ignore)
    assert compared is not None, "drawn rows are distinct"
    return least(lambda: join.join(ignore)) / each, compared / each


def _twins(count: int) -> Signatures:
    """Return random signatures, each with another that differs in two bits."""
    words = drawn(count // 2, 64, seed=1).words
    return Signatures(np.concatenate([words, words ^ np.uint64(5)]))


def ignore(pairs: U64) -> None:
    """Take pairs that nobody wants."""
