import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import StorageError
from sosie.storage.ids import id_arrays, ids_of


@given(
    texts=st.lists(st.text(max_size=9), max_size=9),
    cut=st.integers(0, 9),
    kind=st.sampled_from((pa.string(), pa.large_string())),
)
def test_strings_come_back_from_bytes_and_offsets(texts, cut, kind):
    ids = pa.array(texts, kind)[cut:]
    arrays = id_arrays(ids)
    assert arrays["id_bytes"].tobytes() == "".join(texts[cut:]).encode()
    assert arrays["id_offsets"].dtype == np.int64 and arrays["id_offsets"][0] == 0
    assert ids_of(arrays).to_pylist() == texts[cut:]


@pytest.mark.parametrize("kind", (pa.int8(), pa.uint32(), pa.int64(), pa.uint64()))
def test_integers_stay_as_they_are(kind):
    ids = pa.array([3, 1, 100], kind)
    assert ids_of(id_arrays(ids)).equals(ids)


@pytest.mark.parametrize(
    ("offsets", "data"),
    (
        (np.array([], np.int64), b"ab"),
        (np.array([0, 9], np.int64), b"ab"),
        (np.array([0, 2, 1], np.int64), b"ab"),
        (np.array([-1, 1], np.int64), b"ab"),
        (np.array([0, 1], np.int32), b"ab"),
        (np.array([0, 1], np.int64), b"\xff"),
    ),
)
def test_bytes_that_are_no_ids_are_refused(offsets, data):
    with pytest.raises((StorageError, pa.ArrowInvalid)):
        ids_of({"id_offsets": offsets, "id_bytes": np.frombuffer(data, np.uint8)})
