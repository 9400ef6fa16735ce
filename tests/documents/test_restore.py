"""What a reading knows can be written down, and another reading of the same inputs knows it without reading them."""

import json
import os
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents import Source
from sosie.documents.batch import Reject
from sosie.documents.rejects import RejectSpill
from sosie.documents.workplace import identity, why_unrepeatable
from sosie.storage.checkpoint import key_of
from sosie.storage.room import Room

BAD = ["", "{", '{"text": 5}', '{"other": "x"}', "", "[]"]


def lines(rows):
    """JSON lines between blank and broken ones."""
    made = [line for place, row in enumerate(rows) for line in (*BAD[: place % 7], json.dumps(row))]
    return "\n".join(made) + "\n"


@pytest.fixture(params=["made", "strings", "integers", "mixed", "empty"])
def inputs(request, tmp_path):
    ids = {"strings": lambda i: {"id": "n\u00b0" * (i % 3) + str(i)}, "integers": lambda i: {"id": i - 7}}
    make = ids.get(request.param, lambda i: {})
    rows = [{"text": f"text {i}", **make(i)} for i in range(40)]
    if request.param == "empty":
        (tmp_path / "a.jsonl").write_text("")
        return [tmp_path / "a.jsonl"]
    (tmp_path / "a.jsonl").write_text(lines(rows[:17]), "utf-8")
    (tmp_path / "b.jsonl").write_text("\n\n", "utf-8")
    pq.write_table(pa.Table.from_pylist(rows[17:30]), tmp_path / "c.parquet")
    (tmp_path / "d.jsonl").write_text(lines(rows[30:]), "utf-8")
    if request.param == "mixed":
        (tmp_path / "e").mkdir()
        for name in ("x.txt", "y.txt", "z.md"):
            (tmp_path / "e" / name).write_text(name)
    return sorted(tmp_path.iterdir())


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_a_restored_reading_knows_what_the_first_one_found(inputs, batch_size):
    source = Source(inputs, on_error="skip", batch_size=batch_size)
    first = source.batches()
    found = list(first)
    state = {name: np.array(array) for name, array in first.state().items()}
    for array in state.values():
        array.flags.writeable = False
    second = source.batches()
    second.restore(state)
    rows = np.random.default_rng(1).permutation(first.documents)
    assert second.ids.take(rows).equals(first.ids.take(rows))
    assert second.ids.places(rows) == first.ids.places(rows)
    assert (second.documents, second.rejected, second.finished) == (first.documents, first.rejected, True)
    assert second.counts.tolist() == first.counts.tolist() and second.expected == first.expected
    assert second.rejected == sum(len(batch.rejects) for batch in found)
    again = {name: array.tolist() for name, array in second.state().items()}
    assert again == {name: array.tolist() for name, array in state.items()}


@given(
    st.lists(
        st.builds(
            Reject,
            st.integers(0, 2**40),
            st.text(),
            st.integers(1, 2**40),
            st.text(),
            st.none() | st.text(st.characters(exclude_categories=())),
        )
    ),
    st.integers(0, 5),
    st.sampled_from((0, 100, 1 << 20)),
)
def test_rejects_are_kept_as_they_were(rejects, cut, memory):
    with tempfile.TemporaryDirectory() as folder:
        with RejectSpill(Room(folder, memory)) as spill:
            spill.append(rejects[:cut])
            spill.append(rejects[cut:])
            kept = spill.rejects()
        assert os.listdir(folder) == []
    assert list(kept) == rejects and len(kept) == len(rejects) and kept[:2] == rejects[:2]
    assert kept.rows.tolist() == [reject.row for reject in rejects]


def key(source):
    return key_of(identity(source, source.batches()))


def test_the_identity_of_a_source_covers_its_options_and_files(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"text": "a", "body": "b", "id": "1"}\n')
    text = tmp_path / "texts" / "c.txt"
    text.write_text("c")
    a, b, texts = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), str(tmp_path / "texts")
    sources = [
        Source([a, b]),
        Source([b, a]),
        Source(a),
        Source([a, b], text_column="body"),
        Source([a, b], id_column="body"),
        Source([a, b], on_error="skip"),
        Source([a, texts]),
    ]
    keys = [key(source) for source in sources]
    assert len(set(keys)) == len(keys) and keys == [key(source) for source in sources]
    assert key(Source([a, b], batch_size=1)) == keys[0]
    os.utime(text, ns=(1, 1))
    assert key(sources[-1]) != keys[-1] and key(sources[0]) == keys[0]
    with open(b, "a") as file:
        file.write(" ")
    assert key(sources[0]) != keys[0] and key(sources[2]) == keys[2]


def test_a_relative_path_is_another_file_in_another_folder(tmp_path, monkeypatch):
    keys = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("a")
        os.utime(tmp_path / name / "a.txt", ns=(1, 1))
        monkeypatch.chdir(tmp_path / name)
        keys.append(key(Source("a.txt")))
    assert keys[0] != keys[1]


def test_what_cannot_be_told_from_its_outside(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    assert why_unrepeatable(Source(tmp_path / "a.txt").batches()) is None
    assert why_unrepeatable(Source(pa.table({"text": ["a"]})).batches()) == "Arrow data in memory"
