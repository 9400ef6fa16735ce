"""Signatures and joins on Spark are those of one machine, pair for pair."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.corpus import corpus, sorted_table

import sosie
from sosie.spark import window

TEXTS = corpus(160)
IDS = TEXTS["id"].to_pylist()


def frame_of(spark, table, partitions=2):
    """Return a table as a DataFrame in no order."""
    order = np.random.default_rng(0).permutation(len(table))
    return spark.createDataFrame(table.take(order)).repartition(partitions)


def words_frame(spark, words, first=0):
    """Return signatures made elsewhere as a DataFrame."""
    rows = pa.array([row.tolist() for row in words.view(np.int64)], pa.list_(pa.int64()))
    return frame_of(spark, pa.table({"id": np.arange(first, first + len(words)), "words": rows}))


def near(count, bits, seed, crowds=8):
    """Return signatures some of which are near each other, and some equal."""
    random = np.random.default_rng(seed)
    centres = random.integers(0, 2, (crowds, bits))
    flips = random.random((count, bits)) < random.choice([0, 0.02, 0.3], count)[:, None]
    planes = (centres[random.integers(0, crowds, count)] + flips) % 2
    padded = np.pad(planes, ((0, 0), (0, -bits % 64))).astype(np.uint8)
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def pairs_of(found, a_ids=None, b_ids=None):
    """Return pairs of rows as ids."""
    a = found.a if a_ids is None else np.array(a_ids)[found.a]
    b = found.b if b_ids is None else np.array(b_ids)[found.b]
    return sorted(zip(a.tolist(), b.tolist(), strict=True))


def pairs_in(joined):
    table = joined.pairs.toArrow()
    return sorted(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


@pytest.mark.parametrize("spec", [sosie.Simhash(bits=100), sosie.Minhash(minima=64, rows=4)])
def test_documents_are_signed_as_by_one_machine(spark, spec):
    for keys in (False, True):
        if ("keys" if keys else "signatures") not in spec.makes:
            continue
        made = spec.fit().keys(TEXTS["text"]) if keys else spec.fit().sign(TEXTS["text"])
        rows = made.values if keys else made.words
        wanted = dict(zip(np.array(IDS)[made.ids.to_numpy()].tolist(), rows.view(np.int64).tolist(), strict=True))
        table = sosie.spark.sign(frame_of(spark, TEXTS), spec, keys=keys).toArrow()
        got = dict(zip(table["id"].to_pylist(), table["keys" if keys else "words"].to_pylist(), strict=True))
        assert sorted(got) == sorted(IDS)
        assert {key: value for key, value in got.items() if value is not None} == wanted


def test_equal_keys(spark):
    spec = sosie.Minhash(minima=32, rows=4)
    wanted = pairs_of(sosie.join(spec.fit().keys(TEXTS["text"], ids=TEXTS["id"])), *[_signed_ids(spec)] * 2)
    signed = sosie.spark.sign(frame_of(spark, TEXTS), spec, keys=True)
    with sosie.spark.join(signed) as found:
        assert pairs_in(found) == wanted and len(found) == len(wanted) > 20
    half = len(TEXTS) // 2
    one, other = TEXTS.slice(0, half), TEXTS.slice(half)
    across = [spec.fit().keys(side["text"]) for side in (one, other)]
    wanted = sosie.join(*across)
    sides = [sosie.spark.sign(frame_of(spark, side), spec, keys=True) for side in (one, other)]
    ids = [np.array(side["id"])[keys.ids.to_numpy()] for side, keys in zip((one, other), across, strict=True)]
    with sosie.spark.join(*sides) as found:
        assert pairs_in(found) == pairs_of(wanted, *ids)
    with pytest.raises(sosie.UsageError, match="more than the 3 that are listed"):
        sosie.spark.join(signed, max_pairs=3)


def _signed_ids(spec):
    return np.array(IDS)[spec.fit().keys(TEXTS["text"]).ids.to_numpy()]


@pytest.mark.parametrize(("bits", "radius", "method"), [(64, 3, "blocks"), (100, 12, "brute"), (130, 2, "blocks")])
def test_signatures_within_a_radius(spark, bits, radius, method):
    words, other = near(200, bits, 0), near(150, bits, 0)[::2].copy()
    signatures, others = sosie.Signatures(words, bits), sosie.Signatures(other, bits)
    frame, second = words_frame(spark, words), words_frame(spark, other)
    frame, second = (_of_bits(each, bits) for each in (frame, second))
    with sosie.spark.join(frame, radius=radius, method=method) as found:
        assert pairs_in(found) == pairs_of(sosie.join(signatures, radius=radius)) and found.recall == 1.0
    with sosie.spark.join(frame, second, radius=radius, method=method) as found:
        assert pairs_in(found) == pairs_of(sosie.join(signatures, others, radius=radius))


def _of_bits(frame, bits):
    return frame.withMetadata("words", {"sosie": {"bits": bits}})


@pytest.mark.parametrize("chunk", [1000, 60, 7])
def test_a_sliding_window_in_chunks(spark, monkeypatch, chunk):
    if chunk == 60:
        monkeypatch.setattr(window, "SENT", 1)  # a job for each table
    bits, by = 70, sosie.Window(tables=12 if chunk != 60 else 3, window=9, chunk=chunk)
    words, other = near(220, bits, 1), near(90, bits, 1)
    wanted = sosie.join(sosie.Signatures(words, bits), radius=9, method=by)
    with sosie.spark.join(_of_bits(words_frame(spark, words), bits), radius=9, method=by) as found:
        assert pairs_in(found) == pairs_of(wanted) and len(wanted) > 100
        assert found.recall == wanted.recall and found.interval == wanted.interval
        names = ("comparisons", "window_comparisons", "brute_comparisons", "tables")
        assert [found.counters[name] for name in names] == [wanted.counters[name] for name in names]
    if chunk == 60:
        return
    sides = sosie.Signatures(words, bits), sosie.Signatures(other, bits)
    frames = [_of_bits(words_frame(spark, each), bits) for each in (words, other)]
    with sosie.spark.join(*frames, radius=9, method=by) as found:
        assert pairs_in(found) == pairs_of(sosie.join(*sides, radius=9, method=by))


def test_documents_above_a_threshold(spark):
    wanted = sosie.join(TEXTS, threshold=0.6)
    with sosie.spark.join(frame_of(spark, TEXTS), threshold=0.6) as found:
        assert sorted_table(found.pairs) == sorted_table(wanted.table)
        pairs = found.pairs.toArrow()
    some = pa.table({"a": pairs["b"], "b": pairs["a"]})
    high = [row for row in pairs.to_pylist() if row["similarity"] >= 0.8]
    with sosie.spark.verify(frame_of(spark, some), frame_of(spark, TEXTS), threshold=0.8) as found:
        assert sorted_table(found.pairs) == sorted(high, key=repr) and len(high) < len(pairs)
    half = len(TEXTS) // 2
    sides = TEXTS.slice(0, half), TEXTS.slice(half)
    wanted = sosie.join(*sides, threshold=0.6)
    with sosie.spark.join(*(frame_of(spark, side) for side in sides), threshold=0.6) as found:
        assert sorted_table(found.pairs) == sorted_table(wanted.table) and len(wanted) > 10
