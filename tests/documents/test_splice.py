"""Values as text: what the standard library writes and reads, value by value."""

import csv
import io
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents.splice import csv_fields, json_literals, quoted

KINDS = {
    pa.bool_(): st.booleans(),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1e16, 1e-5]),
    pa.string(): st.text() | st.text('"\\\n\r\t\x00\x1f\x7f,/ab'),
    pa.large_string(): st.text(),
}


@st.composite
def columns(draw):
    kind = draw(st.sampled_from(list(KINDS)))
    values = draw(st.lists(st.none() | KINDS[kind], max_size=12))
    start = draw(st.integers(0, len(values)))
    return pa.array(values, kind)[start:], values[start:]


@given(columns())
def test_json(column):
    array, values = column
    assert json_literals(array).to_pylist() == [json.dumps(value, ensure_ascii=False) for value in values]


@pytest.mark.parametrize("delimiter", [b",", b"\t"])
@given(column=columns())
def test_csv(column, delimiter):
    array, values = column
    plain = ["" if v is None else json.dumps(v) if isinstance(v, bool) else str(v) for v in values]
    fields = csv_fields(array, delimiter).to_pylist()
    assert fields == [quoted(value, delimiter).decode() for value in plain]
    if values and not any("\x00" in value for value in plain):
        record = f"x{delimiter.decode()}" + delimiter.decode().join(fields)
        assert list(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter.decode())) == [["x", *plain]]
