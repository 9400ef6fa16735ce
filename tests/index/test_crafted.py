"""Indexes whose files were made up, with right checksums: a named error, or an answer; no array is left."""

import numpy as np
import pytest
from tests.index import crafted
from tests.trials import SEED, run_trials, trials

import sosie
from sosie.errors import StorageError
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.ids import RowIds


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crafted") / "bases"
    folder.mkdir()
    crafted.make_indexes(folder)
    return folder


def test_whatever_files_say_has_an_answer_or_a_name(bases):
    count = trials(150)
    outcomes, wrong = run_trials("tests.index.crafted", bases.parent, count)
    assert not wrong, f"{len(wrong)} of {count} trials from SOSIE_FUZZ_SEED={SEED} on, by their numbers"
    assert outcomes.total() == count and outcomes["named"] and outcomes["opened"]


def test_whole_files_are_opened(bases, tmp_path):
    for base in sorted(bases.iterdir()):
        if base.name.startswith("texts-"):
            assert crafted.use_texts(sosie.load_text_index(base), tmp_path) == "opened"
        else:
            assert crafted.use(load_index(base), tmp_path) == "opened"


def changed(folder, target, parameters=None, **changes):
    """Copy an index with other arrays, made from those it has, or other parameters; with right checksums."""
    manifest, arrays = crafted.read(folder)
    target.mkdir()
    manifest["parameters"] |= parameters or {}
    crafted.write(target, manifest, {**arrays, **{name: change(arrays[name]) for name, change in changes.items()}})
    return target


def twice(rows):
    """Name the row of the first place again at the last one."""
    rows[..., -1] = rows[..., 0]
    return rows


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("keys", "run0_rows"),
        ("blocks", "run0_rows"),
        ("multi", "run0_rows"),
        ("probes", "run0_rows"),
        ("slices", "list_rows"),
    ],
)
def test_a_row_that_a_table_names_twice(name, array, bases, tmp_path):
    target = changed(bases / name, tmp_path / "index", **{array: twice})
    with pytest.raises(StorageError, match=r"index.*a table names a row twice"):
        load_index(target)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("wide-flat", "planes"),
        ("wide-blocks", "words"),
        ("wide", "run0_words"),
        ("flips", "run0_words"),
        ("wide-slices", "words"),
    ],
)
def test_bits_beyond_those_of_a_signature(name, array, bases, tmp_path):
    def fill(values):
        values[:] = 2**64 - 1
        return values

    target = changed(bases / name, tmp_path / "index", **{array: fill})
    with pytest.raises(StorageError, match="signatures of more than 70 bits"):
        load_index(target)


@pytest.mark.parametrize("value", [1.5, True, -1, 2**62, 10**30, None, float("nan"), float("inf"), "64", [64]])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("flat", "bits"), ("keys", "tables"), ("blocks", "radius"), ("probes", "probes"), ("slices", "width")],
)
def test_numbers_that_are_none(name, parameter, value, bases, tmp_path):
    target = changed(bases / name, tmp_path / "index", {parameter: value})
    if parameter == "probes" and value in (2**62, 10**30):  # all of them, which is what it is then
        assert load_index(target).effort.probes == value
        return
    with pytest.raises(StorageError, match=str(target)):
        load_index(target)


@pytest.mark.parametrize("rows", [-1, 2**40, 10**30, 1.5, True, "7", None, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["flat", "keys", "slices", "words", "probes"])
def test_numbers_of_rows_that_are_none(name, rows, bases, tmp_path):
    """Nothing is made for rows before their arrays were looked at: a bit for each of 2^40 would be 128 GiB."""
    target = changed(bases / name, tmp_path / "index")
    manifest, arrays = crafted.read(target)
    crafted.write(target, manifest | {"rows": rows}, arrays)
    with pytest.raises(StorageError, match=str(target)):
        load_index(target)


def test_rows_of_a_file_are_marked_when_they_are_asked_for():
    ids = RowIds.restored(70, None, np.array([1]))
    assert ids._live is None and ids.present_count == 69
    assert ids.live[:2].tolist() == [2**64 - 3, 2**6 - 1] and ids.live is ids.live


def test_headers_that_would_take_hours_are_refused():
    rows = sosie.Signatures(np.zeros((1, 157), np.uint64), bits=10_000)
    with pytest.raises(
        sosie.UsageError, match="9999 of 10000 blocks make more than 10,000 tables, or too wide headers"
    ):
        BlockIndex(rows, radius=1, blocks=10_000, header=9_999)
