"""Joins within a room: whatever the memory and the threads, the pairs are those without a limit."""

import itertools
import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle_hamming import pairs_sharing, pairs_within, signatures

from sosie.errors import StorageError, UsageError
from sosie.matches import scan
from sosie.matches.blocks import join_blocks
from sosie.matches.equal.copies import Copies
from sosie.matches.join import join_signatures
from sosie.matches.keys import join_keys
from sosie.storage.resident import mapping_of
from sosie.storage.room import Room
from sosie.types import Keys, Signatures


def listed(pairs):
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


def told(pairs):
    return listed(pairs), dict(pairs.counters), pairs.recall


def roomy(folder, rows, row_bytes, memory=64, **more):
    """Return a room in which a table of one thread holds so many rows."""
    return Room(folder, memory, limit=8 * rows * row_bytes, **more)


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(("random", "clustered", "duplicated")),
    width=st.sampled_from((20, 64, 100)),
    counts=st.tuples(st.integers(0, 400), st.integers(0, 200) | st.none()),
    radius=st.integers(0, 6),
    memory=st.integers(200, 9000),
    share=st.sampled_from((1, 2, 5)),
    listing=st.sampled_from((None, 10**6)),
)
def test_signatures_within_any_memory(tmp_path_factory, kind, width, counts, radius, memory, share, listing):
    folder = tmp_path_factory.mktemp("room")
    a = signatures(kind, counts[0], width)
    b = None if counts[1] is None else signatures(kind, counts[1], width, 1 if kind == "random" else 0)
    whole = join_blocks(a, b, radius, 2, max_pairs=listing)
    for threads in (1, 3):
        room = roomy(folder, threads * (sum(filter(None, counts)) // share + 40), 80, memory)
        try:
            found = join_blocks(a, b, radius, threads, max_pairs=listing, room=room)
        except UsageError as error:
            assert "have to be held at once: allow about" in str(error) and share > 1
        else:
            assert told(found) == told(whole)
        assert not list(folder.iterdir())
    assert listed(whole) == pairs_within(a, b, radius) or whole.counters["bounded_groups"]


@settings(deadline=None, max_examples=40)
@given(
    counts=st.tuples(st.integers(0, 200), st.integers(0, 100) | st.none()),
    tables=st.integers(1, 5),
    kinds=st.integers(20, 900),
    memory=st.integers(200, 9000),
    threads=st.integers(1, 3),
)
def test_keys_within_any_memory(tmp_path_factory, counts, tables, kinds, memory, threads):
    folder, rng = tmp_path_factory.mktemp("room"), np.random.default_rng(0)
    a, b = (None if n is None else rng.integers(0, kinds, (n, tables), dtype=np.uint64) for n in counts)
    keys = Keys(a), None if b is None else Keys(b)
    room = roomy(folder, threads * (sum(filter(None, counts)) // 3 + 20), 80, memory)
    equal = 0 if not len(a) else int((a[:, None] == (a if b is None else b)[None]).sum())
    comparisons = (equal - a.size) // 2 if b is None else equal
    expected = pairs_sharing(a, b), {"comparisons": comparisons}, None
    assert told(join_keys(*keys, threads=threads, room=room)) == expected
    assert not list(folder.iterdir())


@pytest.mark.parametrize("width", [64, 128])
def test_a_table_is_built_in_pieces_and_pairs_spill(tmp_path, monkeypatch, width):
    rows, cuts, steps = signatures("clustered", 1000, width), [], []
    whole = join_blocks(rows, None, 6, max_pairs=10**7)
    assert len(whole) > 2000
    real = scan.cut_parts

    def cut(counts, most):
        cuts.append(real(counts, most))
        return cuts[-1]

    monkeypatch.setattr("sosie.matches.block_tables.cut_parts", cut)
    room = roomy(tmp_path, 450, 12 if width == 64 else 80, 8000, tell=lambda done, total: steps.append((done, total)))
    found = join_blocks(rows, None, 6, 1, max_pairs=10**7, room=room)
    assert told(found) == told(whole)
    cuts = cuts[-found.counters["tables"] :]  # where rows are equal, it begins again
    assert all(len(spans) > 1 for spans in cuts)
    assert mapping_of(found.a) is not None and not list(tmp_path.iterdir())
    assert sum(done for done, _ in steps[-sum(map(len, cuts)) :]) == steps[-1][1]


def test_rows_of_mapped_files_are_joined(tmp_path):
    rows = signatures("clustered", 500, 64)
    rows.words.tofile(tmp_path / "words")
    mapped = Signatures(np.memmap(tmp_path / "words", np.uint64, "r").reshape(-1, 1))
    assert told(join_blocks(mapped, None, 3)) == told(join_blocks(rows, None, 3))
    keys = Keys(np.memmap(tmp_path / "words", np.uint64, "r").reshape(-1, 5) % np.uint64(90))
    whole = listed(join_keys(keys))
    assert whole and listed(join_keys(keys, room=roomy(tmp_path, 200, 80))) == whole


@pytest.mark.parametrize("memory", [300, 3000, 10**5])
@pytest.mark.parametrize("most", [None, 10**7])
def test_large_groups_of_equal_rows_are_written_out_in_pieces(tmp_path, memory, most):
    words = np.concatenate([np.repeat([7, 6, 2**40, 2**41], 90), np.repeat([5, 2**41 + 1], 30), [1]]).astype(np.uint64)
    rows = Signatures(np.random.default_rng(0).permutation(words))
    room = Room(tmp_path, memory, limit=10**6)
    for other in (None, Signatures(words[::3].copy())):
        assert told(join_blocks(rows, other, 2, max_pairs=most, room=room)) == told(
            join_blocks(rows, other, 2, max_pairs=most)
        )
    assert not list(tmp_path.iterdir())


@given(values=st.lists(st.integers(0, 30), max_size=80), width=st.integers(1, 2), pieces=st.integers(1, 3))
@settings(deadline=None)
def test_copies_are_the_rows_that_equal_an_earlier_one(tmp_path_factory, values, width, pieces):
    words = np.array(values, np.uint64).repeat(width).reshape(-1, width)
    room = roomy(tmp_path_factory.mktemp("room"), len(values) // pieces + 30, 64, 100)
    copies = Copies.found(words, 1, room)
    expected = [(values.index(value), row) for row, value in enumerate(values) if values.index(value) < row]
    assert [(int(p) >> 32, int(p) & 2**32 - 1) for p in copies.of_first] == sorted(expected)
    firsts = sorted({values.index(value) for value in values})
    groups = copies.groups(np.array(firsts, np.int64))
    equal = [[row for row, value in enumerate(values) if value == values[first]] for first in firsts]
    assert groups.rows.tolist() == list(itertools.chain(*equal)) and groups.sizes.tolist() == list(map(len, equal))
    marked = np.zeros(4, np.uint64)
    copies.mark(marked, 9)
    bits = np.unpackbits(marked.view(np.uint8), bitorder="little")
    assert np.flatnonzero(bits).tolist() == sorted(9 + row for _, row in expected)


def test_too_many_pairs_are_refused_within_a_room(tmp_path):
    rows = signatures("clustered", 300, 64)
    count, room = len(join_blocks(rows, None, 6)), Room(tmp_path, 100, limit=10**6)
    assert len(join_blocks(rows, None, 6, max_pairs=count, room=room)) == count
    with pytest.raises(UsageError, match=f"^{count:,} pairs are similar"):
        join_blocks(rows, None, 6, max_pairs=count - 1, room=room)
    keys = Keys(np.array([[1, i, 3] for i in range(8)] + [[2, 3, 4], [3, 3, 5]], np.uint64))
    assert len(join_keys(keys, max_pairs=31, room=room)) == 31
    for most in (30, 27, 5):
        with pytest.raises(UsageError, match=f"more than the {most} that are listed at most"):
            join_keys(keys, max_pairs=most, room=room)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_held_is_refused_with_what_it_takes(tmp_path):
    alike = Signatures(np.arange(3000, dtype=np.uint64))  # all begin alike
    with pytest.raises(UsageError, match=r"rows begin alike in a table .* allow about 0\.\d GB|400\.\d MB"):
        join_blocks(alike, None, 3, 1, room=Room(tmp_path, 64, limit=8 * 12 * 100))
    with pytest.raises(UsageError, match="begin alike"):
        join_keys(Keys(np.ones((300, 1), np.uint64)), room=Room(tmp_path, 64, limit=8 * 80 * 100))
    with pytest.raises(UsageError, match="comparing all with all takes about"):
        join_signatures(alike, radius=3, method="brute", room=Room(tmp_path, limit=10**6))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("join", ["signatures", "keys"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interrupt_leaves_nothing(tmp_path, monkeypatch, join, error):
    rows, real, lock = signatures("clustered", 2000, 64), os.pwrite, threading.Lock()
    written = 0

    def fails(descriptor, data, offset):
        nonlocal written
        with lock:
            written += len(data)
        if written > 4000:
            raise error
        return real(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", fails)
    kind = StorageError if isinstance(error, OSError) else KeyboardInterrupt
    room = roomy(tmp_path, 2000, 80, 500)
    with pytest.raises(kind, match="No space left.*Check space" if kind is StorageError else None):
        if join == "signatures":
            join_blocks(rows, None, 6, 2, room=room)
        else:
            join_keys(Keys(rows.words % np.uint64(700)), threads=2, room=room)
    assert written > 4000 and not list(tmp_path.iterdir())
