import json

import numpy as np
import pytest

from sosie.documents import Source
from sosie.features.collect import collect, load_collection, save_collection
from sosie.features.shingles import Shingles
from sosie.features.tags import draw_key
from sosie.kernels.sets.distinct import distinct_tagged
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.room import Room
from sosie.text.column import as_column
from sosie.types import Features


@pytest.fixture
def source(tmp_path):
    rows = [{"id": f"d{i}", "text": f"the number {i} and the number {i // 2} " * (i % 4)} for i in range(50)]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines[:20], "{", *lines[20:], lines[0]]))
    return Source(tmp_path / "in.jsonl", on_error="skip")


@pytest.mark.parametrize("in_memory", [0, 1 << 20])
def test_a_collection_that_was_saved_is_the_same_when_it_is_loaded(source, tmp_path, in_memory):
    (tmp_path / "working" / "scratch").mkdir(parents=True)
    checkpoints = Checkpoints(tmp_path / "working" / "checkpoints", "key", forced=True)
    reading, again = source.batches(), source.batches()
    assert load_collection(checkpoints, again) is None
    room = Room(tmp_path / "working" / "scratch", in_memory, keep=True)
    collection = collect(reading, Shingles(), room, key=draw_key())
    save_collection(checkpoints, reading, collection)
    assert not list((tmp_path / "working" / "scratch").iterdir())
    loaded = load_collection(checkpoints, again, tags=True)
    for name in ("documents", "lengths"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(collection, name))
        assert getattr(loaded, name).flags.writeable  # kernels are compiled for one kind of array
    for name in ("hashes", "offsets", "tags"):
        np.testing.assert_array_equal(getattr(loaded.features, name), getattr(collection.features, name))
    assert list(loaded.rejects) == list(collection.rejects) and len(loaded.rejects) == 2
    assert again.documents == 52 and again.ids.take([0, 51]).equals(reading.ids.take([0, 51]))


def test_tags_are_those_of_the_features_whatever_is_on_disk(source, tmp_path):
    key = draw_key()
    texts = [f"the number {i} and the number {i // 2} " * (i % 4) for i in range(50)]
    column = as_column(texts)
    one = Features(*distinct_tagged(*Shingles().tagged(column, 0, 50, key)))
    for memory in (0, 1 << 20):
        found = collect(source.batches(), Shingles(), Room(tmp_path, memory), key=key).features
        assert (found.hashes.tolist(), found.tags.tolist()) == (one.hashes.tolist(), one.tags.tolist())
        assert found.tags.dtype == np.uint32 and not found.tags.flags.writeable
    assert collect(source.batches(), Shingles(), Room(tmp_path)).features.tags is None


def test_the_words_of_a_reference_without_tags_are_unknown(source, tmp_path):
    stored = Shingles().extract(["one two three four", "five"])
    reference = (stored, np.arange(2), np.zeros(2, np.bool_))
    found = collect(source.batches(), Shingles(), Room(tmp_path), key=draw_key(), reference=reference).features
    assert found.tags[:3].tolist() == [0, 0, 0] and found.tags[3:].min() >= 2


def test_what_was_saved_without_tags_is_not_what_is_wanted(source, tmp_path):
    checkpoints, reading = Checkpoints(tmp_path / "checkpoints", "key", forced=True), source.batches()
    save_collection(checkpoints, reading, collect(reading, Shingles(), Room(tmp_path)))
    assert load_collection(checkpoints, source.batches(), tags=True) is None
    assert load_collection(checkpoints, source.batches()) is not None


def test_nothing_is_written_where_it_is_not_worth_it(source, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key")
    reading = source.batches()
    save_collection(checkpoints, reading, collect(reading, Shingles(), Room(tmp_path)))
    assert not checkpoints.folder.exists()


def test_a_collection_that_does_not_fit_is_read_again(source, tmp_path, caplog):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key", forced=True)
    reading = source.batches()
    save_collection(checkpoints, reading, collect(reading, Shingles(), Room(tmp_path)))
    arrays, _ = checkpoints.load("read")
    whole = {name: np.array(array) for name, array in arrays.items()}
    for name, array in whole.items():
        longer, other = np.concatenate([array, array[:1]]), array.astype(np.float32)
        for made in [longer, other, array[:-1]] if array.size else [other, np.zeros(3, array.dtype)]:
            checkpoints.save("read", whole | {name: made})
            caplog.clear()
            again = source.batches()
            if load_collection(checkpoints, again) is None:
                assert "its work is done again" in caplog.text and again.documents == 0, name
            else:
                assert name in ("features.hashes", "rejects.lines", "id_bytes") and made is longer  # unread
    for name in ("features.offsets", "firsts", "id_offsets", "rejects.ends", "columns.documents"):
        for value in (-1, 2**40):
            changed = whole[name].copy()
            changed[1] = value
            checkpoints.save("read", whole | {name: changed})
            assert load_collection(checkpoints, source.batches()) is None
