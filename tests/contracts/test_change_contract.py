"""One suite over every index, of signatures and of keys: what adding and removing promise."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.kinds import EVERY, answers

import sosie
from sosie.errors import MismatchError, UsageError
from sosie.index import blocks, multi, probes, words
from sosie.index.files import load_index
from sosie.index.registry import KINDS
from sosie.search.files import load_text_index

VALUES = np.random.default_rng(5).integers(0, 2**63, 400, dtype=np.uint64)
QUERIES = np.concatenate([VALUES[::40], VALUES[:5] ^ np.uint64(3 << 20)])
HOME = Path(sosie.__file__).parent
FAULTY = [str(HOME / part) for part in ("index", "storage/ids.py", "runs.py", "arrays.py", "kernels/tables/keys.py")]

pytestmark = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY.keys())


@pytest.fixture(autouse=True, scope="module")
def few_rows_have_tables():
    with pytest.MonkeyPatch.context() as patch:
        for module in (blocks, multi, probes, words):
            patch.setattr(module, "SHORT", 16)
        yield


def test_the_suite_has_every_kind(kind):
    assert EVERY.keys() == KINDS.keys()


def rows_and_ids(kind, index, value):
    found = kind.asks(index, [value])[0]
    return [pair for pair in zip(found.rows.tolist(), found.ids.to_pylist(), strict=True)][:1]


def test_an_id_that_is_given_is_what_it_says(kind):
    index = kind.index(VALUES[:3], ids=[100, 200, 300])
    index.add(kind.rows(VALUES[3:4], ids=[0]))
    assert index.ids.to_pylist() == [100, 200, 300, 0]
    assert rows_and_ids(kind, index, VALUES[3]) == [(3, 0)]
    index.remove([0])
    index.add(kind.rows(VALUES[4:5], ids=[0]))
    assert rows_and_ids(kind, index, VALUES[4]) == [(4, 0)]
    index.add(kind.rows(VALUES[5:7]))  # by their rows
    assert index.ids.to_pylist() == [100, 200, 300, 0, 0, 5, 6]
    index.add(kind.rows(VALUES[7:8], ids=[9]))
    with pytest.raises(MismatchError, match="the id 9 is in the index"):
        index.add(kind.rows(VALUES[8:11]))
    assert len(index) == 7 and len(index.ids) == 8


def test_a_number_is_a_known_id(kind):
    index = kind.index(VALUES[:3])
    with pytest.raises(MismatchError, match="the id 0 is in the index already"):
        index.add(kind.rows(VALUES[:1], ids=[0]))
    index.remove([1])
    index.add(kind.rows(VALUES[1:2], ids=[1]))
    assert index.ids.to_pylist() == [0, 1, 2, 1]
    assert rows_and_ids(kind, index, VALUES[1]) == [(3, 1)]
    index.remove([1, 2])
    assert index.row_ids.present.to_pylist() == [0]


def test_ids_that_count_up_are_ids_all_the_same(kind, tmp_path):
    index = kind.index(VALUES[:3], ids=[0, 1, 2])
    with pytest.raises(MismatchError, match="the id 1 is in the index already"):
        index.add(kind.rows(VALUES[:1], ids=[1]))
    index.save(tmp_path / "a")
    for again in (load_index(tmp_path / "a"), load_text_index(tmp_path / "a").index):
        with pytest.raises(MismatchError, match="the id 1 is in the index already"):
            again.add(kind.rows(VALUES[:1], ids=[1]))
        again.remove([1])
        again.add(kind.rows(VALUES[5:6], ids=[1]))
        assert again.ids.to_pylist() == [0, 1, 2, 1]


@pytest.mark.parametrize("load", (load_index, lambda folder: load_text_index(folder).index))
def test_numbers_go_on_when_an_index_is_loaded(kind, load, tmp_path):
    kind.index(VALUES[:3]).save(tmp_path / "a")
    loaded = load(tmp_path / "a")
    assert kind.held(loaded).numbered
    with pytest.raises(MismatchError, match="the id 0 is in the index already"):
        loaded.add(kind.rows(VALUES[:1], ids=[0]))
    loaded.add(kind.rows(VALUES[3:5]))
    assert loaded.ids.to_pylist() == [0, 1, 2, 3, 4] and loaded.row_ids.numbered
    loaded.remove([4])
    assert not kind.held(loaded).numbered


def test_ids_are_of_one_type(kind):
    index = kind.index(VALUES[:3], ids=list("abc"))
    for rows in (kind.rows(VALUES[:1], ids=[7]), kind.rows(VALUES[:1])):
        with pytest.raises(MismatchError, match="int64 added to an index whose ids are string"):
            index.add(rows)
    for ids in ([5], ["a", 5], pa.array([5]), [None]):
        with pytest.raises(MismatchError, match=r"no row has the id (5: the ids of the index are string|None)"):
            index.remove(ids)
    narrow = kind.index(VALUES[:3], ids=pa.array([5, 6, 7], pa.int8()))
    narrow.remove(pa.array([6], pa.uint64()))
    with pytest.raises(MismatchError, match="no row has the id 600"):
        narrow.remove([600])
    assert len(index) == 3 and len(narrow) == 2


def test_rows_of_one_space_meet_and_others_do_not(kind, tmp_path):
    index = kind.index(VALUES[:3], digest="german", space="both")
    index.add(kind.rows(VALUES[3:5], digest="english", space="both"))
    index.add(kind.rows(VALUES[5:6]))
    index.save(tmp_path / "a")
    loaded = load_index(tmp_path / "a")
    for one in (index, loaded):
        assert (one.digest, one.space) == ("german", "both")
        with pytest.raises(MismatchError, match="of spec german do not fit an index of space both"):
            one.add(kind.rows(VALUES[:1], digest="german"))
    same = kind.index(VALUES[:3], digest="german")
    with pytest.raises(MismatchError, match="of spec x do not fit an index of spec german: "):
        same.add(kind.rows(VALUES[:1], digest="x"))
    assert len(index) == 6 and same.space == "german"


@settings(deadline=None, max_examples=60)
@given(data=st.data(), text=st.booleans())
def test_ids_are_as_in_a_dictionary(kind, data, text):
    """Whatever is added, removed, refused: the ids are those of a dict, and rows count up."""
    item = st.sampled_from("abcdef") if text else st.integers(0, 9)
    index, known, ever = kind.index([]), {}, []
    for _ in range(data.draw(st.integers(1, 8))):
        ids = data.draw(st.lists(item, max_size=4))
        if data.draw(st.booleans()):
            allowed = len(set(ids)) == len(ids) and not known.keys() & set(ids)
            if not allowed:
                with pytest.raises(MismatchError):
                    index.add(kind.rows(VALUES[: len(ids)], ids))
            else:
                index.add(kind.rows(VALUES[len(ever) : len(ever) + len(ids)], ids if ids else None))
                known.update((each, len(ever) + place) for place, each in enumerate(ids))
                ever += ids
        elif known.keys() >= set(ids) and len(set(ids)) == len(ids):
            index.remove(ids)
            for each in ids:
                del known[each]
        else:
            with pytest.raises((MismatchError, UsageError)):
                index.remove(ids)
        assert index.ids.to_pylist() == ever and len(index) == len(known)
        assert index.row_ids.present.to_pylist() == [
            each for each, _ in sorted(known.items(), key=lambda pair: pair[1])
        ]
        assert index.row_ids.rows(list(known)).tolist() == list(known.values())
        rows = np.array(data.draw(st.lists(st.integers(0, len(ever) - 1), max_size=5)) if ever else [], np.int64)
        assert index.row_ids.of(rows).to_pylist() == [ever[row] for row in rows]


class Fault:
    """Lets the nth line of the library's own code fail, in whatever function that is called by a change."""

    def __init__(self, number, error):
        self.left, self.error = number, error

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_filename
        if not any(name.startswith(part) for part in FAULTY) or name.endswith("index/base.py"):
            return None
        return self.line

    def line(self, frame, event, arg):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise self.error
        return self.line


def failing(change, number, error):
    """Return whether a change fails at its nth line; past its last line it does not."""
    tracing = sys.gettrace()
    fault = Fault(number, error)
    sys.settrace(fault)
    try:
        change()
        return False
    except type(error):
        return True
    finally:
        sys.settrace(tracing)


def state_of(kind, index):
    return len(index), index.ids.to_pylist(), index.row_ids.present.to_pylist(), answers(kind, index, QUERIES)


@pytest.mark.parametrize("error", (MemoryError("no room"), KeyboardInterrupt()), ids=("memory", "interrupt"))
@pytest.mark.parametrize("loaded", (False, True))
def test_a_change_that_fails_anywhere_has_changed_nothing(kind, error, loaded, tmp_path):
    names = [f"d{row}" for row in range(400)]
    index = kind.index(VALUES[:40], names[:40])
    index.add(kind.rows(VALUES[40:60], names[40:60]))
    index.remove(["d3", "d41"])
    if loaded:
        index.save(tmp_path / "a")
        index = load_index(tmp_path / "a")
    before, failed = state_of(kind, index), 0
    for change in (
        lambda: index.add(kind.rows(VALUES[60:75], names[60:75])),
        lambda: index.remove(["d7", "d50"]),
        lambda: index.add(kind.rows(VALUES[100:101], ["d3"])),
    ):
        number = 1
        while failing(change, number, error):
            failed += 1
            assert state_of(kind, index) == before
            number += 1
        assert number > 5, "no line of the change was reached"
        now = state_of(kind, index)
        assert now != before
        before = now
    assert failed > 30
    alike = kind.index(VALUES[:60], names[:60])
    alike.remove(["d3", "d41"])
    alike.add(kind.rows(VALUES[60:75], names[60:75]))
    alike.remove(["d7", "d50"])
    alike.add(kind.rows(VALUES[100:101], ["d3"]))
    assert state_of(kind, index) == state_of(kind, alike)
