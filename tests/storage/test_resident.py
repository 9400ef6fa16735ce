"""Pages of mapped files are given back near the limit; what is read stays right."""

import mmap
import time

import numpy as np
import pytest

from sosie.storage import resident
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.resident import mapping_of, resident_bytes, within

SIZE = 1 << 26


@pytest.fixture
def mapped(tmp_path):
    np.arange(SIZE // 8, dtype=np.uint64).tofile(tmp_path / "array")
    return np.memmap(tmp_path / "array", np.uint64, "r")


def test_a_view_knows_its_map(mapped):
    assert isinstance(mapping_of(np.asarray(mapped)[5:9]), mmap.mmap)
    assert mapping_of(np.arange(4)) is None


@pytest.mark.skipif(resident_bytes() is None, reason="the system does not say how much memory is used")
def test_mapped_pages_are_given_back(mapped):
    expected = int(mapped.sum())
    before = resident_bytes()
    with within(1, [mapped, np.arange(3)]):
        deadline = time.monotonic() + 20
        while resident_bytes() > before - SIZE // 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert resident_bytes() <= before - SIZE // 2
        assert int(mapped.sum()) == expected


@pytest.mark.parametrize("limit", [None, 1 << 60])
def test_without_need_nothing_is_given_back(mapped, limit, monkeypatch):
    monkeypatch.setattr(resident, "INTERVAL", 0.001)
    int(mapped.sum())
    before = resident_bytes() or 0
    with within(limit, [mapped]):
        time.sleep(0.05)
        assert (resident_bytes() or 0) > before - SIZE // 2


@pytest.mark.skipif(resident_bytes() is None, reason="the system does not say how much memory is used")
def test_a_checkpoint_of_a_mapped_array_takes_no_memory(tmp_path):
    np.arange(SIZE // 8, dtype=np.uint64).tofile(tmp_path / "spill")
    mapped = np.memmap(tmp_path / "spill", np.uint64, "r")
    before = resident_bytes()
    write_artefact(tmp_path / "saved", "checkpoint", {"features": mapped}, moved={"features": tmp_path / "spill"})
    assert resident_bytes() < before + SIZE // 2
    assert np.array_equal(read_artefact(tmp_path / "saved", "checkpoint")[1]["features"], mapped)
