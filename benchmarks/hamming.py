"""Searching and joining bits beside FAISS, in one process, one thread each: rows 3 to 6 of the table of speeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import faiss
import numpy as np

from benchmarks.measure import Row, best, row
from sosie.arrays import read_only
from sosie.index.blocks import BlockIndex
from sosie.index.flat import FlatIndex
from sosie.index.multi import MultiIndex
from sosie.kernels.planes.ranges import Asked, near_each
from sosie.kernels.planes.weighed import stages_of, weigh
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.types import Matches, Signatures

_SEED = 20


def rows() -> list[Row]:
    """Measure every job and return it beside its peer."""
    faiss.omp_set_num_threads(1)
    _warm()
    return [
        *search_wide(),
        *search_narrow(),
        *search_multi(),
        *search_multi_wide(),
        *within_near(),
        *join_near(),
        *join_wide(),
    ]


def search_wide(count: int = 500_000, bits: int = 1024) -> list[Row]:
    """Top-10 of clustered signatures, as texts on few topics have them; the queries are rows held out."""
    words = clustered(count + 64, bits)
    ours, peer, same = _search(words[64:], words[:64], bits)
    job = f"exhaustive top-10, {bits} bits, batch of 64"
    return [row(job, "FAISS IndexBinaryFlat", ours, peer, 3.5, f"{count:,} clustered rows; same distances: {same}")]


def search_narrow(count: int = 4_000_000) -> list[Row]:
    """Top-10 of random 64-bit signatures, for a batch and for one query."""
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0, 2**64, (count, 1), dtype=np.uint64)
    queries = _flip(words[rng.choice(count, 64, replace=False)], 6, rng)
    table = []
    for name, asked, goal in (("batch of 64", queries, 3.5), ("single", queries[:1], 1.8)):
        ours, peer, same = _search(words, asked, 64)
        detail = f"{count:,} random rows; same distances: {same}"
        table.append(row(f"exhaustive top-10, 64 bits, {name}", "FAISS IndexBinaryFlat", ours, peer, goal, detail))
    return table


def search_multi(count: int = 1 << 22) -> list[Row]:
    """Multi-index hashing of 64 bits beside FAISS's and beside a scan; the peer is extrapolated."""
    words, few = clustered(count + 64, 64), 8
    rows, queries, one = words[64:], Signatures(words[:64]), Signatures(words[:1])
    index, flat = MultiIndex(Signatures(rows)), FlatIndex(Signatures(rows))
    peer = faiss.IndexBinaryMultiHash(64, 4, 16)
    peer.add(_bytes(rows))
    truth, same = flat.search(queries, 10).distances.reshape(-1, 10), False
    while not same and peer.nflip < 3:  # as few flipped bits as find the same
        peer.nflip += 1
        same = np.array_equal(peer.search(_bytes(words[:few]), 10)[0], truth[:few])
    ours = best(lambda: index.search(queries, 10, threads=1), 7)
    theirs = best(lambda: peer.search(_bytes(words[:few]), 10), 1) * len(queries) / few
    job = "top-10 of 64 bits, multi-index, batch of 64"
    name = f"FAISS IndexBinaryMultiHash(64, 4, 16), nflip={peer.nflip}"
    detail = f"{count:,} clustered rows, {index.tables} tables; peer from {few} queries; same distances: {same}"
    return [
        row(job, name, ours, theirs, None, detail),
        _beside_scan(job, index, flat, lambda asked: asked.search(queries, 10, threads=1)),
        _beside_scan(f"{job[:-11]}single", index, flat, lambda asked: asked.search(one, 10, threads=1)),
        _beside_scan(f"within 10 {job[7:]}", index, flat, lambda asked: asked.within(queries, 10, threads=1)),
    ]


def search_multi_wide(count: int = 1 << 17) -> list[Row]:
    """Multi-index hashing of 1024 bits beside a scan: near rows are looked up, the nearest are too far away."""
    words, job = clustered(count + 64, 1024), "of 1024 bits, multi-index, batch of 64"
    index, flat, queries = MultiIndex(Signatures(words[64:])), FlatIndex(Signatures(words[64:])), Signatures(words[:64])
    return [
        _beside_scan(f"within 20 {job}", index, flat, lambda asked: asked.within(queries, 20, threads=1)),
        _beside_scan(f"top-10 {job}", index, flat, lambda asked: asked.search(queries, 10, threads=1)),
    ]


def _beside_scan(job: str, index: MultiIndex, flat: FlatIndex, ask: Callable[[FlatIndex], Matches]) -> Row:
    found, truth = ask(index), ask(flat)
    same = np.array_equal(found.rows, truth.rows) and np.array_equal(found.distances, truth.distances)
    ours, theirs = zip(*((best(lambda: ask(index), 2), best(lambda: ask(flat), 2)) for _ in range(3)), strict=True)
    detail = f"{len(flat):,} clustered rows, {found.counters['scanned']} of {len(found)} queries scanned; same: {same}"
    return row(job, "FlatIndex", min(ours), min(theirs), None, detail)


def within_near(count: int = 1 << 24, radius: int = 3, asked: int = 20_000) -> list[Row]:
    """All rows within 3 bits of each query, among random 64-bit signatures; half of the queries have a near row."""
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0, 2**64, (count, 1), dtype=np.uint64)
    queries = rng.integers(0, 2**64, (asked, 1), dtype=np.uint64)
    queries[::2] = _flip(words[: len(queries[::2])], radius, rng)
    index, signed = BlockIndex(Signatures(words), radius), Signatures(queries)
    peer = faiss.IndexBinaryMultiHash(64, radius + 1, 16)
    peer.nflip = 0
    peer.add(_bytes(words))
    ours, theirs = [], []
    for _ in range(3):  # in turns; the radius of the peer is exclusive
        ours.append(best(lambda: index.within(signed, radius, threads=1), 3))
        theirs.append(best(lambda: peer.range_search(_bytes(queries), radius + 1), 1))
    same = np.array_equal(peer.range_search(_bytes(queries), radius + 1)[0], index.within(signed, radius).offsets)
    name = f"FAISS IndexBinaryMultiHash(64, {radius + 1}, 16)"
    detail = f"{count:,} random rows, {asked:,} queries; same numbers of matches: {same}"
    return [row(f"within {radius} bits, 64 bits, batch", name, min(ours), min(theirs), 100, detail)]


def join_near(count: int = 1_000_000, radius: int = 3, asked: int = 50_000) -> list[Row]:
    """All pairs within 3 bits of random 64-bit signatures, 1 % of which have a near one; the peer is extrapolated."""
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0, 2**64, (count, 1), dtype=np.uint64)
    planted = count // 100
    words[-planted:] = _flip(words[:planted], radius, rng)
    signatures = Signatures(words)
    pairs = join_blocks(signatures, radius=radius, threads=1)
    ours = best(lambda: join_blocks(signatures, radius=radius, threads=1), 7)
    index = faiss.IndexBinaryMultiHash(64, radius + 1, 16)
    index.nflip = 0
    index.add(_bytes(words))
    sample = _bytes(words)[:asked]
    peer = best(lambda: index.range_search(sample, radius + 1), 3) * count / asked  # its radius is exclusive
    limits = index.range_search(sample, radius + 1)[0]
    within = int(np.sum((pairs.a < asked) | (pairs.b < asked)) + np.sum((pairs.a < asked) & (pairs.b < asked)))
    detail = f"{len(pairs):,} pairs; peer from {asked:,} queries; same pairs there: {int(limits[-1]) - asked == within}"
    name = f"FAISS IndexBinaryMultiHash(64, {radius + 1}, 16)"
    return [row(f"all pairs within {radius} bits, {count:,} x 64 bits", name, ours, peer, 80, detail)]


def join_wide(count: int = 100_000, bits: int = 1000, radius: int = 400, window: int = 2000) -> list[Row]:
    """All pairs of random 1000-bit rows within 400 bits, by brute force and by a window, for each comparison made."""
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0, 2**64, (count, 16), dtype=np.uint64)
    words[:, -1] &= np.uint64(2 ** (bits % 64) - 1)
    signatures, asked = Signatures(words, bits), 256
    peer = faiss.IndexBinaryFlat(1024)
    peer.add(_bytes(words))
    stages = stages_of(bits, radius)
    rows, place = weigh(words, bits, stages), np.arange(count)
    sliding = Asked(read_only(words), read_only(np.maximum(place - window, 0)), read_only(place))
    brute, detected, ranged, top = [], [], [], []
    for _ in range(3):  # in turns; the radius of the peer is exclusive
        brute.append(best(lambda: join_brute(signatures, radius=radius, threads=1), 1))
        detected.append(best(lambda: list(near_each(rows, sliding, stages, radius)), 1))
        ranged.append(best(lambda: peer.range_search(_bytes(words[:asked]), radius + 1), 2))
        top.append(best(lambda: peer.search(_bytes(words[:asked]), 10), 2))
    compared = count * (count - 1) / 2
    each, slid = min(brute) / compared, min(detected) / int((sliding.last - sliding.first).sum())
    theirs, nearest = min(ranged) / (asked * count), min(top) / (asked * count)
    name = "FAISS IndexBinaryFlat, range_search, each comparison"
    detail = (
        f"{count:,} random rows, within {radius}; {{:.2f}} ns a comparison beside {1e9 * theirs:.2f} (search of the top"
        f" ten {1e9 * nearest:.2f}; the paper's 28)"
    )
    return [
        row(f"brute-force join, {bits} bits", name, each, theirs, 3, detail.format(1e9 * each)),
        row(f"window detection, {bits} bits, B = {window}", name, slid, theirs, 3, detail.format(1e9 * slid)),
    ]


def _search(words: Any, queries: Any, bits: int, k: int = 10) -> tuple[float, float, bool]:
    index, asked = FlatIndex(Signatures(words, bits)), Signatures(queries, bits)
    peer = faiss.IndexBinaryFlat(bits)
    peer.add(_bytes(words))
    truth = peer.search(_bytes(queries), k)[0]
    same = np.array_equal(index.search(asked, k, threads=1).distances.reshape(-1, k), truth)
    ours, theirs = [], []
    for _ in range(3):  # in turns, so that a busy machine is unfair to both
        ours.append(best(lambda: index.search(asked, k, threads=1), 3))
        theirs.append(best(lambda: peer.search(_bytes(queries), k), 3))
    return min(ours), min(theirs), same


def clustered(count: int, bits: int) -> Any:
    """Return rows around random centres, with 10 to 35 % of a centre's bits flipped, in random order."""
    rng = np.random.default_rng(_SEED)
    centres = rng.integers(0, 2**64, (2000, bits // 64), dtype=np.uint64)
    words = np.empty((count, bits // 64), np.uint64)
    for start in range(0, count, 20_000):
        part = words[start : start + 20_000]
        noise = rng.integers(0, 256, (len(part), bits), dtype=np.uint8) < rng.integers(26, 90, (len(part), 1))
        flips = np.packbits(noise, axis=1, bitorder="little").view(np.uint64)
        part[:] = centres[rng.integers(0, len(centres), len(part))] ^ flips
    return words


def _flip(words: Any, times: int, rng: np.random.Generator) -> Any:
    flipped = words.copy()
    for _ in range(times):
        flipped ^= np.uint64(1) << rng.integers(0, 64, words.shape).astype(np.uint64)
    return flipped


def _bytes(words: Any) -> Any:
    return words.view(np.uint8).reshape(len(words), -1)


def _warm() -> None:
    few = Signatures(np.arange(2000, dtype=np.uint64))
    FlatIndex(few).search(few, 2, threads=1)
    join_blocks(few, radius=3, threads=1)
    BlockIndex(few).within(few, 3, threads=1)


if __name__ == "__main__":
    for each in rows():
        print(
            f"{each['job']}: {each['ratio']:.1f}x (goal {each['goal']}) {each['ours_s']:.4f} s, {each['peer_s']:.4f} s"
        )
        print(f"    {each['peer']}; {each['detail']}")
