"""Pages of mapped files are given back near the limit; what is read stays right."""

import mmap
import time

import numpy as np
import pytest

from sosie.storage import resident
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.resident import mapping_of, physical_memory, resident_bytes, within

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


MACHINE = physical_memory("/nowhere", "/nowhere")
UNLIMITED = 9_223_372_036_854_771_712  # how version 1 says that there is no limit


@pytest.mark.parametrize(
    ("listed", "limits", "expected"),
    [
        pytest.param(None, {}, None, id="no control groups"),
        pytest.param("0::/", {}, None, id="nothing that can be read"),
        pytest.param("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "max", "memory.max": "max"}, None, id="max"),
        pytest.param("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "5000"}, 5000, id="the group around it"),
        pytest.param("0::/a/b", {"a/b/memory.max": "4000", "a/memory.max": "5000"}, 4000, id="its own group"),
        pytest.param("0::/a/b", {"a/b/memory.max": "6000", "memory.max": "5000"}, 5000, id="the outermost"),
        pytest.param("0::/a", {"a/memory.max": "5000", "a/memory.high": "3000"}, 3000, id="high is lower"),
        pytest.param("0::/", {"memory.max": "7000", "memory.high": "max"}, 7000, id="a container sees its own group"),
        pytest.param("0::/../c", {"memory.max": "7000", "../c/memory.max": "1"}, 7000, id="a path that leads out"),
        pytest.param("0::/host/path", {"memory.max": "7000"}, 7000, id="a path of the host"),
        pytest.param("4:memory:/d", {"memory/d/memory.limit_in_bytes": "8000"}, 8000, id="version 1"),
        pytest.param("9:cpu,memory:/d", {"memory/memory.limit_in_bytes": "8000"}, 8000, id="version 1 in a container"),
        pytest.param("4:memory:/d", {"memory/d/memory.limit_in_bytes": str(UNLIMITED)}, None, id="version 1, no limit"),
        pytest.param("4:memory:/d", {"memory/d/memory.limit_in_bytes": "much"}, None, id="no number"),
        pytest.param(
            "4:memory:/d\n1:name=systemd:/d\n0::/e",
            {"memory/d/memory.limit_in_bytes": "8000", "unified/e/memory.max": "6000"},
            6000,
            id="both versions",
        ),
        pytest.param("3:cpuset:/d", {"memory/d/memory.limit_in_bytes": "8000"}, None, id="not a group of memory"),
        pytest.param("0::/a", {"a/memory.max": str(MACHINE * 2)}, None, id="more than the machine has"),
    ],
)
def test_memory_is_that_of_the_container(tmp_path, listed, limits, expected):
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    proc.mkdir()
    groups.mkdir()
    if listed is not None:
        (proc / "cgroup").write_text(listed + "\n")
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(limit + "\n")
    assert physical_memory(proc, groups) == (MACHINE if expected is None else expected)


def test_memory_where_a_limit_is_a_folder(tmp_path):
    (tmp_path / "cgroup").write_text("0::/\nnonsense\n")
    (tmp_path / "memory.max").mkdir()
    assert physical_memory(tmp_path, tmp_path) == MACHINE
    assert 0 < physical_memory() <= MACHINE
