"""The column that decides who stays, in every format: the same values in the same order as plain Python sorts them."""

import csv
import io
import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sosie.clusters.keep import keep_rank
from sosie.documents import Source, blocks
from sosie.documents.order import Order, decode_order, join_orders, order_value
from sosie.errors import DataError, UsageError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX, NEWEST = Order("key", "max"), Order("key", "newest")


def write_jsonl(values, path):
    absent = [json.dumps({"text": "t"} if value is None else {"text": "t", "key": value}) for value in values]
    path.write_text("".join(line + "\n" for line in [json.dumps({"text": "t", "key": None}), *absent]))


def write_csv(values, path):
    sheet = io.StringIO()
    shown = ["" if value is None else value for value in [None, *values]]
    csv.writer(sheet, delimiter="\t" if path.suffix == ".tsv" else ",").writerows(
        [("text", "key"), *(("t", value) for value in shown)]
    )
    path.write_text(sheet.getvalue(), newline="")


def as_table(values):
    if any(isinstance(value, str) for value in values):
        values = [None if value is None else str(value) for value in values]
    return pa.table({"text": ["t"] * (len(values) + 1), "key": pa.array([None, *values])})


FORMATS = {
    "jsonl": lambda values, path: write_jsonl(values, path) or path,
    "csv": lambda values, path: write_csv(values, path) or path,
    "tsv": lambda values, path: write_csv(values, path) or path,
    "parquet": lambda values, path: pq.write_table(as_table(values), path) or path,
    "arrow": lambda values, path: as_table(values),
}


def read_order(source, order, **options):
    """Return the order of all documents after the first, which has none."""
    batches = [batch for batch in source.batches(1, order, **options) if len(batch)]
    assert all(len(batch.order) == len(batch) for batch in batches)
    return join_orders([batch.order for batch in batches])


def expected_rank(keys):
    """Sort by key, the greatest first, None last, stable."""
    rows = sorted(range(len(keys)), key=lambda row: (keys[row] is None, -(keys[row] or 0)))
    return [rows.index(row) for row in range(len(keys))]


integers = st.integers(-(2**63), 2**63 - 1) | st.integers(2**53 - 2, 2**53 + 2)
floats = st.floats(-1e15, 1e15, allow_nan=False).map(lambda x: x + 0.0)
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28))
zones = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))
zoned = st.builds(lambda moment, zone: moment.replace(tzinfo=zone), moments, zones)


def microseconds(moment):
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("block", [1 << 20, 40])
@given(values=st.lists(st.none() | integers, max_size=8) | st.lists(st.none() | floats, max_size=8))
@example(values=[2**53, 2**53 + 1, None, 2**53 + 1, 2**63 - 1, -(2**63)])
@settings(max_examples=15)
def test_numbers(tmp_path_factory, form, block, values):
    path = tmp_path_factory.mktemp("order") / f"a.{form}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        order = read_order(Source(FORMATS[form](values, path)), MAX)
    assert order.to_pylist() == [None, *values]
    assert keep_rank("max:key", order, order).tolist() == expected_rank([None, *values])


@pytest.mark.parametrize("form", FORMATS)
@given(
    moments=st.lists(st.none() | moments, max_size=8) | st.lists(st.none() | zoned, max_size=8),
    separator=st.sampled_from(["T", " "]),
)
@settings(max_examples=25)
def test_times_as_text(tmp_path_factory, form, moments, separator):
    path = tmp_path_factory.mktemp("order") / f"a.{form}"
    texts = [None if moment is None else moment.isoformat(separator).replace("+00:00", "Z") for moment in moments]
    order = read_order(Source(FORMATS[form](texts, path)), NEWEST)
    keys = [None, *(None if moment is None else microseconds(moment) for moment in moments)]
    assert order.to_pylist() == keys
    assert keep_rank("newest:key", order, order).tolist() == expected_rank(keys)


@pytest.mark.parametrize("form", FORMATS)
def test_seconds_since_1970_and_dates_are_times(tmp_path, form):
    values = [1714557600, 0, None, -1, 1714557600.5] if form != "arrow" else [1714557600.0, 0.0, None, -1.0, 1.5]
    order = read_order(Source(FORMATS[form](values, tmp_path / f"a.{form}")), NEWEST)
    assert order.to_pylist() == [None, *(None if value is None else round(value * 10**6) for value in values)]
    assert order.type == pa.int64()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([date(2024, 5, 1), None, date(1, 1, 1)], pa.date32()),
        ([date(2024, 5, 1), None, date(1950, 1, 1)], pa.date64()),
        *(([datetime(2024, 5, 1, 10), None, datetime(1950, 1, 1)], pa.timestamp(unit)) for unit in ("s", "ms", "us")),
        ([datetime(2024, 5, 1, 10, 0, 0, 1), None, datetime(1950, 1, 1)], pa.timestamp("ns")),
        ([datetime(2024, 5, 1, 10, tzinfo=UTC), None], pa.timestamp("us", "Europe/Paris")),
    ],
    ids=str,
)
def test_dates_and_timestamps_of_arrow(values, kind):
    order, problems = decode_order(pa.array(values, kind), NEWEST)
    moments = [v if v is None or isinstance(v, datetime) else datetime(v.year, v.month, v.day) for v in values]
    assert order.to_pylist() == [None if moment is None else microseconds(moment) for moment in moments]
    assert not problems
    far = decode_order(pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()), NEWEST)[0]
    assert far[0].as_py() > far[1].as_py()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([True, False, None]), [1, 0, None]),
        (pa.array([Decimal("1.50"), Decimal("3.00"), None]), [1.5, 3.0, None]),
        (pa.array([Decimal(2**60 + 1), Decimal(2**60)], pa.decimal128(38, 0)), [2**60 + 1, 2**60]),
        (pa.array([2**64 - 1, 5], pa.uint64()), [float(2**64 - 1), 5.0]),
        (pa.array([1.5, 2], pa.float32()), [1.5, 2.0]),
        (pa.array(["7", " 8.0 ", "", None, "+9e0"]).dictionary_encode(), [7, 8, None, None, 9]),
        (pa.array([None, None], pa.null()), [None, None]),
        (pa.array([math.inf, -math.inf]), [math.inf, -math.inf]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_numbers_of_arrow(array, expected):
    order, problems = decode_order(array, MAX)
    assert order.to_pylist() == expected and not problems
    assert all(isinstance(a, type(b)) for a, b in zip(order.to_pylist(), expected, strict=True))


texts = st.from_regex(r"[ ]?[+-]?[0-9]{0,20}(\.[0-9]{0,3})?([eE][+-]?[0-9]{1,3})?[ ]?", fullmatch=True)
stamps = st.from_regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]"
    r"([T ][0-2][0-9](:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?)?(Z|[+-][0-2][0-9](:?[0-6][0-9])?)?)?",
    fullmatch=True,
)
others = st.sampled_from(["0x1F", "nan", "inf", "1_000", "٣", "soon", "2024-W18-3", "20240501", "0000-01-01", "1."])


@given(values=st.lists(texts | stamps | others, max_size=4), order=st.sampled_from([MAX, NEWEST]))
@settings(max_examples=400)
def test_arrow_never_reads_another_value(values, order):
    one_by_one = [order_value(value, order) for value in values]
    read, problems = decode_order(pa.array(values, pa.string()), order)
    assert problems == {place: value for place, value in enumerate(one_by_one) if isinstance(value, str)}
    usable = [None if isinstance(value, str) else value for value in one_by_one]
    if any(isinstance(value, float) for value in usable):  # then all are
        usable = [None if value is None else float(value) for value in usable]
    assert read.to_pylist() == usable


@given(texts)
def test_numbers_in_text_are_exact_or_the_nearest_float(text):
    value = order_value(text, MAX)
    if isinstance(value, int):
        assert value == Fraction(text.strip())
    elif isinstance(value, float):
        assert value == float(text)
    else:
        assert value is None or "not a number" in value


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("order", "bad"), [(NEWEST, "yesterday"), (MAX, "many"), (MAX, math.nan)])
def test_values_that_cannot_be_read_are_a_problem_of_their_record(tmp_path, form, order, bad):
    good = ["5", "6"] if isinstance(bad, str) else [5.0, 6.0]
    source = FORMATS[form]([good[0], bad, good[1]], tmp_path / f"a.{form}")
    with pytest.raises(
        DataError,
        match=r"(line [34]|row 3|row 2 \(counted from 0\)): .*(key.*yesterday.*time|key.*many.*number|(?i:nan))",
    ):
        list(Source(source).batches(1, order))
    batches = list(Source(source, on_error="skip").batches(1, order))
    assert [row for batch in batches for row in batch.rows.tolist()] == [0, 1, 3]
    scale = 1 if order is MAX else 10**6
    assert join_orders([batch.order for batch in batches]).to_pylist() == [None, 5 * scale, 6 * scale]
    assert [reject.row for batch in batches for reject in batch.rejects] == [2]


@pytest.mark.parametrize("form", FORMATS)
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, form):
    source = FORMATS[form]([1, 2], tmp_path / f"a.{form}")
    with pytest.raises(UsageError, match=r"no column 'date'. The columns are: text, key"):
        Source(source).batches(1, Order("date", "newest"))


@pytest.mark.parametrize("bad", [[1], {"a": 1}, True])
def test_lists_objects_and_truth_values_are_no_times(tmp_path, bad):
    path = FORMATS["jsonl"](["2024-05-01", bad], tmp_path / "a.jsonl")
    with pytest.raises(DataError, match=r"line 3: 'key' is (a list or an object|True), not a time"):
        list(Source(path).batches(1, NEWEST))


def test_columns_of_other_types_and_files_without_columns_are_refused(tmp_path):
    table = pa.table({"text": ["t"], "key": [[1]], "at": pa.array([0], pa.timestamp("s"))})
    with pytest.raises(UsageError, match=r"'key' is list<.*int64>, not times or numbers"):
        Source(table).batches(1, NEWEST)
    with pytest.raises(UsageError, match="'at' is timestamp"):
        Source(table).batches(1, Order("at", "max"))
    (tmp_path / "a.txt").write_text("t")
    with pytest.raises(UsageError, match=r"a\.txt: has no column 'mtime', because it is not a table"):
        Source(tmp_path / "a.txt").batches(1, Order("mtime", "newest"))


@given(
    values=st.lists(st.none() | st.integers(2**53, 2**53 + 3) | st.sampled_from([0.5, 2.0**53]), max_size=12),
    cut=st.integers(0, 12),
    block=st.sampled_from([30, 90, 1 << 20]),
)
@settings(max_examples=60)
def test_the_rank_does_not_depend_on_how_the_input_is_cut(tmp_path_factory, values, cut, block):
    folder = tmp_path_factory.mktemp("cut")
    whole, first, second = folder / "a.jsonl", folder / "b.jsonl", folder / "c.jsonl"
    lines = [json.dumps({"text": "t", "key": value}) + "\n" for value in values]
    whole.write_text("".join(lines))
    first.write_text("".join(lines[:cut]))
    second.write_text("".join(lines[cut:]))
    order = read_order(Source(whole), MAX)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        again = read_order(Source([first, second], batch_size=3), MAX)
    assert keep_rank("max:key", again, again).tolist() == keep_rank("max:key", order, order).tolist()


def test_exponents_of_many_digits():
    values, problems = decode_order(pa.array(["1e99999999999999999999", "-1e99999999999999999999", "3"]), MAX)
    assert values.to_pylist() == [math.inf, -math.inf, 3] and not problems
    assert order_value("1e-99999999999999999999", MAX) == 0
    assert "not a time" in order_value("1e99999999999999999999", NEWEST)
