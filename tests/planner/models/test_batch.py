"""The models of batches against the steps that they count, taken one by one."""

import math
from bisect import bisect_left

import numpy as np
import pytest

from sosie.planner.models.batch import (
    Latency,
    blocks_batch,
    blocks_latency,
    probes_batch,
    probes_latency,
    read_seconds,
    throughput,
)


def test_rows_with_the_header_of_a_look_up_are_as_many_as_equation_14_says():
    rng = np.random.default_rng(0)
    rows, bits, (chosen, radius) = 1 << 14, 16, (1, 1)
    header = chosen * bits // (chosen + radius)
    signatures = rng.integers(0, 1 << bits, rows)
    compared = 0
    for shift in (0, header):  # two tables: either half of the bits is the header
        headers = np.sort(signatures >> shift & (1 << header) - 1)
        asked = rng.integers(0, 1 << header, 3000)
        compared += np.mean([bisect_left(headers, a + 1) - bisect_left(headers, a) for a in asked.tolist()])
    assert blocks_latency(rows, bits, (1, 1), Latency(compare=1)) == pytest.approx(compared, rel=0.03)
    assert blocks_latency(rows, bits, (1, 1), Latency(permute=1)) == 2
    assert blocks_latency(rows, bits, (1, 1), Latency(access=1)) == 2 * header
    assert blocks_latency(100, 64, (2, 3), Latency(access=1)) == pytest.approx(10 * math.log2(100))


def test_probes_compare_as_many_rows_as_equation_19_says():
    rng = np.random.default_rng(1)
    rows, header, probes = 1 << 14, 9, 7
    headers = np.sort(rng.integers(0, 1 << header, rows))
    asked = rng.integers(0, 1 << header, (2000, probes)).ravel().tolist()
    compared = np.mean([bisect_left(headers, a + 1) - bisect_left(headers, a) for a in asked]) * probes
    assert probes_latency(rows, header, probes, Latency(compare=1)) == pytest.approx(compared, rel=0.03)
    assert probes_latency(rows, 30, probes, Latency(compare=1)) == probes  # one row at least is looked at


def test_a_batch_is_its_parts():
    of = Latency(permute=2, access=50, compare=1, flip=3, sort=4)
    made, looked_up = 4 * 2**16 * (2 + 4 * 16), 10**7 * blocks_latency(2**16, 64, (1, 3), of)
    assert blocks_batch(10**7, 2**16, 64, (1, 3), of) == pytest.approx(made + looked_up)
    made, looked_up = 2**16 * 16 * 3 * 4, 10**7 * probes_latency(2**16, 16, 16, of)
    assert probes_batch(10**7, 2**16, 16, 16, of) == pytest.approx(made + looked_up + 2**16 * 4 * 16)


def test_larger_batches_gain_with_probes_and_hardly_with_tables():
    """PSM 7.4: the rate of block tables stays what it is, that of probes rises nearly as the batch does."""
    of = Latency(permute=1, access=1, compare=1, flip=1, sort=1)
    small, large = 2**23, 2**26
    rate = {m: throughput(m, 0, blocks_batch(60_000_000, m, 64, (1, 3), of)) for m in (small, large)}
    assert rate[large] / rate[small] < 1.5
    alone = of._replace(flip=0, sort=0)  # as the paper has it, without what is done once for the batch
    rate = {m: throughput(m, 0, probes_batch(60_000_000, m, round(np.log2(m)), 16, alone)) for m in (small, large)}
    assert rate[large] / rate[small] > 7


def test_reading_bounds_the_rate():
    assert throughput(10, read=read_seconds(8000, 64, 64_000), worked=0.1) == 10
