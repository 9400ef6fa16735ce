"""What single steps of searching take on this machine: indexes of generated rows are built and asked, and timed.

Times are those of the thread, so that other work on the machine matters less. What a step takes is the difference of
two searches that differ in how many of these steps they make, and in little else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sosie.index.blocks import BlockIndex
from sosie.index.flat import FlatIndex
from sosie.index.multi import MultiIndex
from sosie.index.probe_search import ProbeSearch
from sosie.index.probes import ProbeIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex
from sosie.planner.methods.blocks import address_bits, table_bytes
from sosie.planner.methods.probes import held
from sosie.planner.methods.slices import list_bytes
from sosie.planner.models.slices import lists_read, postings_read
from sosie.types import Signatures

Found = dict[str, float | dict[int, float]]
REPEATS = 3
LEAST = 0.01  # ns; what comes out at less is noise
_FEW, _SOME, _MANY = 1 << 13, 1 << 17, 1 << 21  # rows whose tables are in the second cache, in the third, and in none
_BATCH = 2048  # queries
_FRESH = 1 << 25  # bytes


def measure(threads: int) -> Found:
    """Return the constants of searches; every step is timed on one thread, whatever `threads` there are."""
    rng, found = np.random.default_rng(0), dict[str, float | dict[int, float]]()
    for family in (_scans, _blocks, _multi, _probes, _slices):
        found |= family(rng)
    return {name: _positive(value) for name, value in found.items()}


def _scans(rng: np.random.Generator) -> Found:
    one, tiny = _rows(rng, 1, 64), FlatIndex(_rows(rng, 600, 64))
    call = _best(lambda: tiny.search(one, 1, threads=1))
    row, planes, byte = dict[int, float](), dict[int, float](), dict[int, float]()
    query = take = 0.0
    for bits, few, many in ((64, 2048, 1 << 15), (256, 1024, 1 << 13), (1024, 1024, 1 << 13)):
        asked, words = _rows(rng, 64, bits), _rows(rng, many, bits)
        short, long = FlatIndex(words.take(np.arange(few))), FlatIndex(words)
        first, last, ten = (_top(index, asked, k) for index, k in ((short, 1), (long, 1), (long, 10)))
        row[bits] = (last - first) / (many - few)
        planes[bits] = _best(lambda words=words: FlatIndex(words)) / many  # type: ignore[misc]
        if bits == 64:
            query = first - few * row[bits] - call / len(asked)
            take = (ten - last) / (10 * (1 + math.log(many / 10)) - (1 + math.log(many)))
    for count in (_FEW, _SOME, 1 << 19):
        index, wide = FlatIndex(_rows(rng, count, 1024)), _rows(rng, 1, 1024)
        byte[128 * count] = (_top(index, wide, 1) - call) / (128 * count)
    fresh = (_best(lambda: np.empty(_FRESH, np.uint8).fill(1)) - _refilled()) / _FRESH
    return {
        "scan.row": row,
        "scan.byte": byte,
        "scan.query": query,
        "scan.take": take,
        "flat.call": call,
        "planes.row": planes,
        "fresh": fresh,
    }


def _blocks(rng: np.random.Generator) -> Found:
    rows, asked = _rows(rng, _FEW, 64), _rows(rng, _BATCH, 64)
    one, table, tables, lists = (
        asked.take(np.arange(1)),
        *(BlockIndex(rows, 0, blocks=2), BlockIndex(rows), _wide(rows)),
    )
    call = _best(lambda: tables.within(one, 3, threads=1))
    single, four = _near(table, asked, 0), _near(tables, asked, 3)
    step = (four - single) / 3
    query = max(single - step - call / _BATCH, 0.0)
    lookup, fill = {_size(rows, table): step}, {_size(rows, tables): _filled(rows, 4)}
    for count in (_SOME, _MANY):
        more = _rows(rng, count, 64)
        longer = BlockIndex(more, 0, blocks=2)
        lookup[_size(more, longer)] = _near(longer, asked, 0) - query - call / _BATCH
        if count == _SOME:
            fill[_size(more, longer)] = _filled(more, 1)
    of_list = (_near(lists, asked, 8) - query - 9 * step) / (9 * len(rows) / (1 << 7))
    match = _near(tables, rows.take(np.arange(_BATCH)), 3) - four
    flat = FlatIndex(rows)
    scan = _best(lambda: flat.search(one, 1, threads=1))
    tiny = FlatIndex(rows.take(np.arange(600)))
    own = scan - _best(lambda: tiny.search(one, 1, threads=1))
    return {
        "blocks.call": call,
        "blocks.query": query,
        "blocks.lookup": lookup,
        "blocks.row": of_list,
        "blocks.fill": fill,
        "match": match,
        "scan.call": _best(lambda: tables.search(one, 1, threads=1)) - call - own,
    }


def _multi(rng: np.random.Generator) -> Found:
    lookup, asked = dict[int, float](), _rows(rng, 256, 64)
    one, call, query, of_list = asked.take(np.arange(1)), 0.0, 0.0, 0.0
    for count, tables in ((_FEW, 5), (_SOME, 4), (_MANY, 4)):
        rows = _rows(rng, count, 64)
        index = MultiIndex(rows, tables)
        width = -(-64 // tables)
        if count == _FEW:
            call = _best(lambda index=index: index.within(one, 0, threads=1))  # type: ignore[misc]
            query = _near(index, asked, 0) - call / len(asked)
            longer = MultiIndex(_rows(rng, _SOME, 64), 8)  # lists of 512 rows
            first = MultiIndex(rows, 8)  # lists of 32
            of_list = (_near(longer, asked, 7) - _near(first, asked, 7)) / (8 * (_SOME - _FEW) / (1 << 8))
        radius = 2 * tables - 1
        looked_up = tables * width + tables
        work = _near(index, asked, radius) - query - call / len(asked)
        lookup[table_bytes(count, width)] = (work - looked_up * count / (1 << width) * of_list) / looked_up
    fetch = dict[int, float]()
    for bits in (256, 1024):
        rows, wide = _rows(rng, 20_000, bits), _rows(rng, 64, bits)
        index, flat = MultiIndex(rows), FlatIndex(rows)
        counted = index.search(wide, 1, threads=1).counters  # all are given up, when some rows were fetched
        read = counted["comparisons"] / len(wide) - len(rows)
        fetch[bits] = (_top(index, wide, 1) - _top(flat, wide, 1) - query - call / len(wide)) / max(read, 1)
    return {
        "multi.call": call,
        "multi.query": query,
        "multi.lookup": lookup,
        "multi.row": of_list,
        "multi.fetch": fetch,
    }


def _probes(rng: np.random.Generator) -> Found:
    asked = _rows(rng, _BATCH, 64)
    sums = rng.standard_normal((_BATCH, 64), np.float32)
    volatile, one = Signatures(asked.words, volatility=sums), asked.take(np.arange(1))
    probe, call, query, likely = dict[int, float](), 0.0, 0.0, 0.0
    for count in (_FEW, _SOME, _MANY):
        index = ProbeIndex(_rows(rng, count, 64))
        few, many = (_near(index, asked, 3, ProbeSearch(flips)) for flips in (0, 60))
        probe[held(count, 64, 30).disk] = (many - few) / 60
        if count == _FEW:
            call = _best(lambda index=index: index.within(one, 3, threads=1))  # type: ignore[misc]
            query = few - call / _BATCH - (many - few) / 60
            known, alike = (_near(index, some, 3, ProbeSearch(250)) for some in (volatile, asked))
            likely = (known - alike) / 250
    row, sort = dict[int, float](), dict[int, float]()
    for bits in (64, 256, 1024):
        rows, wide = _rows(rng, _FEW, bits), _rows(rng, _BATCH, bits)
        short, full = ProbeIndex(rows, header=8), ProbeIndex(rows, header=12)
        lists = (_near(each, wide, 0, ProbeSearch(0)) for each in (short, full))
        row[bits] = (next(lists) - next(lists)) / (_FEW / 2**8 - _FEW / 2**12)
        sort[bits] = _best(lambda rows=rows: ProbeIndex(rows)) / _FEW  # type: ignore[misc]
    return {
        "probes.call": call,
        "probes.query": query,
        "probes.probe": probe,
        "probes.likely": likely,
        "probes.row": row,
        "probes.sort": sort,
    }


def _slices(rng: np.random.Generator) -> Found:
    every, posting, invert = dict[int, float](), dict[int, float](), dict[int, float]()
    asked, few = _rows(rng, 64, 64), _rows(rng, _FEW, 64)
    tiny = SliceIndex(few, 16)
    one = asked.take(np.arange(1))
    call = _best(lambda: tiny.within(one, 0, threads=1))
    query = _near(tiny, asked, 0) - call / len(asked)
    for bits, width, breadth in ((64, 16, 2), (1024, 16, 1), (256, 20, 1)):
        index, wide = SliceIndex(_rows(rng, 1024, bits), width), _rows(rng, 64, bits)
        near, far = (_top(index, wide, 1, SliceSearch(each, 10)) for each in (0, breadth))
        every[list_bytes(1024, bits, width)] = (far - near) / (
            lists_read(bits, width, breadth) - lists_read(bits, width, 0)
        )
    passed = candidate = 0.0
    for count, width in ((_FEW, 8), (_SOME, 12), (1 << 20, 14)):
        rows = _rows(rng, count, 64)
        index = SliceIndex(rows, width)
        built = _best(lambda rows=rows, width=width: SliceIndex(rows, width), 1)  # type: ignore[misc]
        invert[4 * count + (4 << width)] = built / (count * index.slices)
        near, far = (_top(index, asked, 1, SliceSearch(each, 10)) for each in (1, 2))
        more = postings_read(count, 64, width, 2) - postings_read(count, 64, width, 1)
        lists = (lists_read(64, width, 2) - lists_read(64, width, 1)) * min(every.values())
        posting[2 * count] = max(far - near - lists, 0.0) / more
        if count == 1 << 20:
            read = postings_read(count, 64, width, 1) * posting[2 * count]
            passed = (near - query - read - lists_read(64, width, 1) * min(every.values())) / count
    compared = dict[int, float]()
    for bits in (64, 256, 1024):
        rows, wide = _rows(rng, _FEW, bits), _rows(rng, 64, bits)
        index = SliceIndex(rows, 8)
        candidate = _top(index, wide, 1, SliceSearch(1, 1000)) - _top(index, wide, 1, SliceSearch(1, 100))
        compared[bits] = candidate / 900
    return {
        "slices.call": call,
        "slices.query": query,
        "slices.list": every,
        "slices.posting": posting,
        "slices.pass": passed,
        "slices.candidate": compared,
        "slices.invert": invert,
    }


def _wide(rows: Signatures) -> BlockIndex:
    """Return an index with nine tables of long lists."""
    return BlockIndex(rows, 8, header=1)


def _filled(rows: Signatures, tables: int) -> float:
    """Return what a row takes in a table, beside its planes."""
    options: dict[str, Any] = {"radius": 3} if tables == 4 else {"radius": 0, "blocks": 2}
    both, planes = _best(lambda: BlockIndex(rows, **options)), _best(lambda: FlatIndex(rows))
    return (both - planes) / (tables * len(rows))


def _size(rows: Signatures, index: BlockIndex) -> int:
    """Return the bytes of a table of an index."""
    (run,) = index._state.stored.runs
    return table_bytes(len(rows), min(address_bits(len(rows)), run.cut.header_bits(0)))


def _near(index: Any, asked: Signatures, radius: int, effort: Any = None) -> float:
    """Return the nanoseconds of a query within a radius, in a batch."""
    return _best(lambda: index.within(asked, radius, effort=effort, threads=1)) / len(asked)


def _top(index: Any, asked: Signatures, k: int, effort: Any = None) -> float:
    """Return the nanoseconds of a query for the nearest rows, in a batch."""
    return _best(lambda: index.search(asked, k, effort=effort, threads=1)) / len(asked)


def _best(job: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the shortest time of a job in nanoseconds; it runs once before."""
    job()
    times = []
    for _ in range(repeats):
        begin = time.thread_time_ns()
        job()
        times.append(time.thread_time_ns() - begin)
    return float(min(times))


def _refilled() -> float:
    """Return what it takes to write to memory that was used before."""
    memory = np.empty(_FRESH, np.uint8)
    return _best(lambda: memory.fill(1))


def _rows(rng: np.random.Generator, count: int, bits: int) -> Signatures:
    return Signatures(rng.integers(0, 2**64, (count, bits // 64), dtype=np.uint64), bits)


def _positive(value: float | dict[int, float]) -> float | dict[int, float]:
    if isinstance(value, dict):
        return {at: max(each, LEAST) for at, each in value.items()}
    return max(value, LEAST)
