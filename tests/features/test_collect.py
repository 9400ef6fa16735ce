import json

import numpy as np
import pytest

from sosie.documents import Source
from sosie.features.collect import collect, load_collection, save_collection
from sosie.features.shingles import Shingles
from sosie.storage.checkpoint import Checkpoints
from sosie.storage.room import Room


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
    collection = collect(reading, Shingles(), Room(tmp_path / "working" / "scratch", in_memory, keep=True))
    save_collection(checkpoints, reading, collection)
    assert not list((tmp_path / "working" / "scratch").iterdir())
    loaded = load_collection(checkpoints, again)
    for name in ("documents", "lengths"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(collection, name))
        assert getattr(loaded, name).flags.writeable  # kernels are compiled for one kind of array
    for name in ("hashes", "offsets"):
        np.testing.assert_array_equal(getattr(loaded.features, name), getattr(collection.features, name))
    assert list(loaded.rejects) == list(collection.rejects) and len(loaded.rejects) == 2
    assert again.documents == 52 and again.ids.take([0, 51]).equals(reading.ids.take([0, 51]))


def test_nothing_is_written_where_it_is_not_worth_it(source, tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints", "key")
    reading = source.batches()
    save_collection(checkpoints, reading, collect(reading, Shingles(), Room(tmp_path)))
    assert not checkpoints.folder.exists()
