"""Indexes of texts from Python: what the command line is made of."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

import sosie
from sosie.documents.source import Source
from sosie.errors import MismatchError, UsageError
from sosie.index.registry import KINDS, check_kind, effort_of, kind_of, make_index
from sosie.search.entries import Entries, Form, sign_entries
from sosie.search.files import load_text_index
from sosie.search.text_index import TextIndex
from sosie.search.windows import Windows
from sosie.storage.room import Room
from sosie.types import Keys, Signatures

TEXTS = ["the cat sat on the mat", "", "a dog ran off into the woods", "the cat sat on the hat"]


def entries(form, tmp_path, batch_size=100, memory=1 << 20, signer=None):
    source = Source(pa.table({"id": list("abcd"), "text": TEXTS}), batch_size=batch_size)
    return sign_entries(source.batches(), signer or sosie.Simhash().fit(), form, Room(tmp_path, memory))


@pytest.mark.parametrize("batch_size", [1, 3, 100])
@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_entries_do_not_depend_on_batches_or_memory(tmp_path, batch_size, memory):
    made = entries(Form(texts=True), tmp_path, batch_size, memory)
    assert made.signed.ids.to_pylist() == ["a", "c", "d"] and made.unsigned == 1 and made.places is None
    assert [made.texts.text(row) for row in range(3)] == [TEXTS[0], TEXTS[2], TEXTS[3]]
    cut = entries(Form(texts=True, windows=Windows(4, 2)), tmp_path, batch_size, memory)
    assert cut.signed.ids.to_pylist() == ["a#0", "a#1", "c#0", "c#1", "c#2", "d#0", "d#1"] and cut.unsigned == 1
    for row, name in enumerate(cut.signed.ids.to_pylist()):
        text = TEXTS["abcd".index(name[0])]
        assert cut.texts.text(row) == text[cut.places.starts[row] : cut.places.ends[row]]
        assert len(cut.texts.text(row).split()) == 4
    whole = sosie.Simhash().fit().sign([cut.texts.text(row) for row in range(7)])
    assert np.array_equal(whole.words, cut.signed.words)


def test_an_index_is_saved_with_all_its_parts(tmp_path):
    signer = sosie.Simhash(weighting="tf-idf").fit(TEXTS)
    made = entries(Form(texts=True, windows=Windows(4, 2)), tmp_path, signer=signer)
    index = TextIndex.build(made, signer, "blocks", {"radius": 2})
    index.save(tmp_path / "index")
    again = load_text_index(tmp_path / "index")
    assert again.signer.digest == signer.digest and kind_of(again.index) == "blocks" and len(again) == 7
    assert again.form == Form(windows=Windows(4, 2), texts=True)
    found = again.search(again.sign(["Sat on the mat!"]), k=1)
    assert found.ids.to_pylist() == ["a#1"] and found.distances.tolist() == [0]
    assert load_text_index(tmp_path / "index", texts=False).texts is None


def test_rows_and_queries_have_to_be_alike(tmp_path):
    signer = sosie.Simhash().fit()
    index = TextIndex.build(entries(Form(), tmp_path), signer)
    with pytest.raises(MismatchError, match="the index holds signatures, and these are keys"):
        index.search(Entries(Keys(np.zeros((1, 2), np.uint64))))
    with pytest.raises(MismatchError, match="bits"):
        index.search(Entries(Signatures(np.zeros((1, 2), np.uint64))))
    with pytest.raises(MismatchError, match="not by the signer"):
        TextIndex(index.index, sosie.Simhash(seed=1).fit())
    with pytest.raises(UsageError, match="give signatures"):
        _ = TextIndex(index.index).signer
    with pytest.raises(MismatchError, match="passages"):
        index.add(entries(Form(windows=Windows(4, 2)), tmp_path))
    assert len(index) == 3


def test_the_effort_of_a_search_is_that_of_the_kind():
    rows = Signatures(np.arange(9, dtype=np.uint64))
    index = make_index("slices", rows, {"slice_width": 8})
    assert index.width == 8 and index.effort == sosie.SliceSearch()
    assert effort_of(index, {"breadth": 5, "candidates": 7, "stop": None}) == sosie.SliceSearch(5, candidates=7)
    assert effort_of(index, {"breadth": None}) is None
    few = TextIndex(index).search(Entries(rows), 1, effort=sosie.SliceSearch(1)).counters["lists"]
    assert few < TextIndex(index).search(Entries(rows), 1).counters["lists"] and index.effort == sosie.SliceSearch()
    assert effort_of(make_index("probes", rows, {"probes": 3}), {"probes": 5}) == sosie.ProbeSearch(5)
    assert make_index("probes", rows, {"probes": 3}).effort == sosie.ProbeSearch(3)
    with pytest.raises(UsageError, match="breadth must be at least 0"):
        effort_of(index, {"breadth": -1})
    with pytest.raises(UsageError, match="--breadth is for an index of the kind slices, not flat"):
        effort_of(make_index("flat", rows, {}), {"breadth": 5})
    with pytest.raises(UsageError, match="FlatIndex is exact"):
        TextIndex(make_index("flat", rows, {})).within(Entries(rows), 1, effort=sosie.SliceSearch())
    with pytest.raises(UsageError, match="index of keys"):
        TextIndex(sosie.KeyIndex(Keys(np.ones((2, 2), np.uint64)))).search(
            Entries(Keys(np.ones((2, 2), np.uint64))), effort=sosie.SliceSearch()
        )


def test_queries_bring_the_sums_behind_their_bits_where_a_kind_wants_them(tmp_path, monkeypatch):
    index = TextIndex.build(entries(Form(), tmp_path), sosie.Simhash().fit())
    assert index.sign(["one two"]).signed.volatility is None
    monkeypatch.setitem(KINDS, "flat", KINDS["flat"]._replace(volatility=True))
    assert index.sign(["one two"]).signed.volatility.shape == (1, 64) and not index.form.volatility
    projection = sosie.RandomProjection(bits=100).fit()
    wide = TextIndex(sosie.ProbeIndex(projection.sign(["one two three"])), projection)
    assert wide.sign(["one two"]).signed.volatility.shape == (1, 100)
    minhash = sosie.Minhash(minima=64).fit()
    bits = TextIndex(sosie.FlatIndex(minhash.sign(["one two"])), minhash)
    assert bits.sign(["one two"]).signed.volatility is None


def test_every_option_of_a_kind_is_a_parameter_of_its_class():
    for kind in KINDS.values():
        taken = inspect.signature(kind.load().__init__).parameters
        searched = {option.name for option in kind.effort}
        assert {option.parameter or option.name for option in kind.options} <= {*taken, *searched}
        if kind.search is not None:
            assert "effort" in taken and searched <= {field.name for field in fields(kind.search.load())}
        assert bool(searched) == (kind.search is not None)


def test_a_kind_holds_what_it_can():
    for name in KINDS:
        check_kind(name, holds=KINDS[name].holds, options={})
        with pytest.raises(UsageError, match=name):
            check_kind(name, holds="keys" if name != "keys" else "signatures", options={})


def test_numbers_can_be_removed_as_they_are_written():
    index = TextIndex(sosie.FlatIndex(Signatures(np.arange(4, dtype=np.uint64))))
    assert index.remove(["2", 3]) == 2 and index.index.row_ids.present.to_pylist() == [0, 1]
    with pytest.raises(MismatchError, match="no row has the id 2"):
        index.remove(["2"])
    index.add(Entries(Signatures(np.array([9], np.uint64), ids=pa.array([2], pa.int32()))))
    assert index.index.row_ids.present.to_pylist() == [0, 1, 2]
    assert index.search(Entries(Signatures(np.array([9], np.uint64))), 1).rows.tolist() == [4]


def test_ids_of_documents_that_are_cut_are_strings(tmp_path):
    index = TextIndex.build(entries(Form(texts=True, windows=Windows(4, 2)), tmp_path), sosie.Simhash().fit())
    for ids in ([5], ["a", 5], [None]):
        with pytest.raises(MismatchError, match=r"no document has the id (5|None): the ids of .* are strings"):
            index.remove(ids)
    with pytest.raises(MismatchError, match=r"no document has the id 'x' \(1 of 2 are unknown"):
        index.remove(["a", "x"])
    assert len(index) == 7 and index.remove(["a"]) == 2


def test_what_is_refused_leaves_texts_and_places(tmp_path, monkeypatch):
    index = TextIndex.build(entries(Form(texts=True, windows=Windows(4, 2)), tmp_path), sosie.Simhash().fit())
    more = index.sign(["an owl sat in the old oak tree"], ids=["e"])
    for error in (MemoryError(), KeyboardInterrupt()):
        with monkeypatch.context() as patch, pytest.raises(type(error)):
            patch.setattr(type(index.index), "_appended", lambda *args, error=error: (_ for _ in ()).throw(error))
            index.add(more)
        assert len(index) == len(index.texts) == len(index.places) == 7
    index.add(more)
    assert len(index) == len(index.texts) == len(index.places) == 7 + len(more)
    found = index.search(index.sign(["an owl sat in"]), 1)
    assert found.ids.to_pylist() == ["e#0"] and index.texts.text(int(found.rows[0])) == "an owl sat in"
