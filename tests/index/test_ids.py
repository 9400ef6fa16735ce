"""The ids of rows: looked up by hashes, whatever these are, and never all of them for a change of one."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.errors import MismatchError
from sosie.index import ids as module
from sosie.index.ids import RowIds
from sosie.storage.ids import hash_ids


def test_a_change_of_one_id_hashes_one(monkeypatch):
    hashed = []
    monkeypatch.setattr(module, "hash_ids", lambda ids: hashed.append(len(ids)) or hash_ids(ids))
    ids = RowIds().added(pa.array([f"d{row}" for row in range(5000)]), numbered=False)
    assert sum(hashed) == 0  # nobody asked for an id yet
    ids = ids.added(pa.array(["first"]), numbered=False)
    hashed.clear()
    for row in range(50):
        ids = ids.added(pa.array([f"e{row}"]), numbered=False)
        ids, rows = ids.without([f"e{row}"])
        assert rows.tolist() == [5001 + row]
    assert max(hashed) == 1 and len(ids) == 5051 and ids.present_count == 5001


@settings(deadline=None, max_examples=100)
@given(
    pieces=st.lists(st.lists(st.integers(0, 30), max_size=6, unique=True), max_size=6),
    modulus=st.sampled_from((1, 3, 2**60)),
    kind=st.sampled_from((pa.int64(), pa.int16(), pa.uint64(), pa.string(), pa.large_string(), pa.binary())),
)
def test_ids_that_share_a_hash_are_told_apart(pieces, modulus, kind):
    texts = not pa.types.is_integer(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "hash_ids", lambda ids: hash_ids(ids) % np.uint64(modulus))
        ids, known = RowIds(), {}
        for piece in pieces:
            named = [f"d{each}" for each in piece] if texts else piece
            given_ids = pa.array([each.encode() for each in named] if kind == pa.binary() else named, kind)
            values = given_ids.to_pylist()
            again = [each for each in values if each in known]
            if again:
                with pytest.raises(MismatchError, match="is in the index already"):
                    ids.added(given_ids, numbered=False)
                ids, gone = ids.without(pa.array(again, kind))
                assert gone.tolist() == [known.pop(each) for each in again]
            known.update(zip(values, range(len(ids), len(ids) + len(values)), strict=True))
            ids = ids.added(given_ids, numbered=False)
            assert ids.rows(list(known)).tolist() == list(known.values())
            assert ids.present.to_pylist() == sorted(known, key=known.get)


def test_numbers_beyond_a_narrow_type_are_refused():
    ids = RowIds().added(pa.array(list(range(100)), pa.int8()), numbered=False)
    with pytest.raises(MismatchError, match="int8 can number"):
        ids.added(pa.array(range(100)), numbered=True)
