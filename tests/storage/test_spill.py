import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import StorageError
from sosie.storage import Spill


@given(parts=st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=9), max_size=9), memory=st.integers(0, 200))
def test_a_spill_is_the_concatenation_wherever_it_lives(tmp_path_factory, parts, memory):
    folder = tmp_path_factory.getbasetemp()
    before = set(os.listdir(folder))
    expected = [value for part in parts for value in part]
    with Spill(folder, np.int32, memory) as spill:
        for part in parts:
            spill.append(np.array(part, np.int32))
        assert len(spill) == len(expected)
        array = spill.array()
        assert array.tolist() == expected and array.dtype == np.int32 and not array.flags.writeable
        assert spill.on_disk or 4 * len(expected) < max(memory, 1)
        assert not spill.on_disk or 4 * len(expected) >= memory
    assert array.tolist() == expected
    assert set(os.listdir(folder)) == before


def test_appending_goes_on_after_the_array_was_taken(tmp_path):
    for memory in (0, 1 << 20):
        with Spill(tmp_path, np.uint8, memory) as spill:
            values = np.array([1, 2], np.uint8)
            spill.append(values)
            values[:] = 9
            first = spill.array()
            spill.append(np.array([3], np.uint8))
            assert first.tolist() == [1, 2] and spill.array().tolist() == [1, 2, 3]


def test_the_disk_copy_is_a_map(tmp_path):
    with Spill(tmp_path, np.float64, 0) as spill:
        spill.append(np.arange(3.0))
        assert isinstance(spill.array(), np.memmap)


def test_other_dtypes_and_shapes_are_refused(tmp_path):
    spill = Spill(tmp_path, np.int64)
    for wrong in (np.arange(3, dtype=np.int32), np.zeros((2, 2), np.int64)):
        with pytest.raises(ValueError, match="flat int64"):
            spill.append(wrong)


def test_a_full_disk_is_named_and_loses_nothing(tmp_path, monkeypatch):
    real = os.pwrite

    def full(descriptor, data, offset):
        if offset >= 16:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:8], offset)

    with Spill(tmp_path, np.int64, 24) as spill:
        spill.append(np.arange(2))
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(StorageError, match=r"spill: .*No space left"):
            spill.append(np.arange(5))
        assert len(spill) == 2
        monkeypatch.setattr(os, "pwrite", real)
        assert spill.array().tolist() == [0, 1]
        spill.append(np.array([7]))
        assert spill.array().tolist() == [0, 1, 7]


def test_a_failed_move_keeps_the_memory(tmp_path, monkeypatch):
    def full(descriptor, data, offset):
        raise OSError(28, "No space left on device")

    with Spill(tmp_path, np.int64, 24) as spill:
        spill.append(np.arange(2))
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            with pytest.raises(StorageError):
                spill.append(np.arange(5))
        assert spill.array().tolist() == [0, 1] and not spill.on_disk
        assert not list(tmp_path.iterdir())


def test_a_file_cut_short_is_noticed_before_it_is_mapped(tmp_path):
    with Spill(tmp_path, np.int64, 0) as spill:
        spill.append(np.arange(10))
        os.truncate(next(tmp_path.iterdir()), 8)
        with pytest.raises(StorageError, match="cut short"):
            spill.array()


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(StorageError, match="nowhere"):
        Spill(tmp_path / "nowhere", np.int64, 0).append(np.arange(1))


def test_a_file_that_is_kept_outlives_the_spill_and_its_descriptor(tmp_path):
    with Spill(tmp_path, np.int64, 0, keep=True) as spill:
        spill.append(np.arange(5))
        array = spill.array()
    (file,) = tmp_path.iterdir()
    assert np.fromfile(file, np.int64).tolist() == array.tolist() == [0, 1, 2, 3, 4] and not spill.on_disk
