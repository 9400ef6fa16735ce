"""What single steps of matching a batch with a store take on this machine, by the tiles that a store streams past."""

from __future__ import annotations

import numpy as np

from sosie.index.block_run import BlockCut
from sosie.jobs.planning.timed import Family, drawn, least, positive
from sosie.matches.store.by_blocks import block_tiles
from sosie.matches.store.by_probes import probe_tiles, probing
from sosie.matches.store.run import StoreRun
from sosie.matches.store.streaming import Streaming
from sosie.planner.methods.blocks import address_bits
from sosie.types import Signatures

_ROWS = {64: 1 << 19, 256: 1 << 16, 1024: 1 << 14}  # of a store, by bits
_WIDTHS = tuple(_ROWS)
_COMPARED = 0.5  # a comparison in a list cannot be told from the look-up that leads there
_BATCHES = {1 << 16: 1 << 10, 1 << 20: 1 << 14, 1 << 23: 1 << 17}  # rows of a batch, by about the bytes of its tables
_FAR = {1 << 26: 2.4, 1 << 28: 4.0}  # beyond what is quick to measure: times as long as in tables of 2^23 bytes
_RADIUS, _CUT = 3, (4, 1)


def measure_stores() -> Family:
    """Return the constants of stores, by name, in nanoseconds."""
    return {**_tables(), **_probes()}


def _tables() -> Family:
    lookup, header, filled = {}, {}, {}
    for bits in _WIDTHS:
        run, cut = _run(bits), BlockCut.of(bits, *_CUT)
        for size, count in _BATCHES.items() if bits == 64 else [(1 << 16, 1 << 10)]:
            batch = drawn(count, bits, seed=1)
            made = least(lambda: list(block_tiles(batch, cut, _RADIUS)))  # noqa: B023
            both = least(lambda: _stream(block_tiles(batch, cut, _RADIUS), run))  # noqa: B023
            each = (both - made) / (len(run) * len(cut.headers))
            compared = count * 2.0 ** -min(address_bits(count), bits // _CUT[0])
            if bits == 64:
                lookup[size] = positive(each - compared * _COMPARED)
            if count == 1 << 10:
                header[bits] = positive(each - compared * _COMPARED - lookup[1 << 16])
        batch = drawn(1 << 15, bits, seed=1)
        filled[bits] = positive(
            least(lambda: list(block_tiles(batch, cut, _RADIUS))) / (len(batch) * len(cut.headers))  # noqa: B023
        )
    lookup |= {size: factor * max(lookup.values()) for size, factor in _FAR.items()}
    return {
        "store lookup": lookup,
        "store header": header,
        "store filled": filled,
        "store compared": _COMPARED,
    }


def _probes() -> Family:
    """Measure probes: none but the rows as they are, which reads the store; and many, with and without knowledge."""
    read = {}
    for bits in _WIDTHS:
        run, one = _run(bits), drawn(16, bits, seed=1)
        read[bits] = positive(least(lambda: _probe(one, run, 0)) / len(run))  # noqa: B023
    run, batch = _run(64), drawn(1 << 13, 64, seed=1)
    known = Signatures(batch.words, 64, volatility=_volatility(len(batch), 64))
    many = [least(lambda: _probe(each, run, 31)) - read[64] * len(run) for each in (batch, known)]  # noqa: B023
    pieces = [drawn(1 << 17, 1024), drawn(1 << 12, 1024, seed=1)]
    wide = StoreRun.of(pieces[0], 0, None)
    again = least(lambda: _probe(pieces[1], wide, 31)) - read[1024] * len(wide)
    probes = 32 * len(batch)
    looked_up = positive((again / (32 * len(pieces[1])) - many[0] / probes) / 3)  # met in four pieces instead of one
    return {
        "store read": read,
        "store made": positive(many[0] / probes - looked_up),
        "store likely": positive((many[1] - many[0]) / probes),
        "store probe": looked_up,
    }


def _run(bits: int) -> StoreRun:
    return StoreRun.of(drawn(_ROWS[bits], bits), 0, None)


def _probe(batch: Signatures, run: StoreRun, probes: int) -> None:
    search = probing(run.bits, len(run), _RADIUS, probes, None)
    _stream(probe_tiles(batch, search, len(run), 1), run)


def _stream(tiles: object, run: StoreRun) -> None:
    Streaming(threads=1).past(tiles, [run])  # type: ignore[arg-type]


def _volatility(count: int, bits: int) -> np.ndarray:
    return np.abs(np.random.default_rng(2).standard_normal((count, bits))).astype(np.float32)
