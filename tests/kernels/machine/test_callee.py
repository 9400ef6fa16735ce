"""Kernels that kernels call: the same answers, called by Python before or after, compiled now or loaded."""

import os
import subprocess
import sys

import pytest

# A kernel of every kind that another one may call: with a loop, with an error, with a constant, with itself.
KERNELS = """
import numpy as np
from sosie.kernels.machine.compile import kernel

@kernel
def power(base, exponent):
    return base if exponent <= 1 else base * power(base, exponent - 1)

@kernel
def total(values, start):
    found = 0
    for i in range(start, values.size):
        if values[i] < 0:
            raise ValueError("at", i, "of", values.size)
        found += values[i]
    return found

@kernel
def totals(values):
    count, at = 0, 0
    while at < values.size:
        count += total(values, 0) + total(values, at)
        at += 1
    return count, power(values.size, 3)
"""
CALLS = """
import numpy as np
from numbers_of import power, total, totals

def failed(call):
    try:
        call()
    except ValueError as error:
        return error.args

print(totals(np.arange(4)), failed(lambda: totals(np.array([1, 2, -3]))))
print(total(np.arange(4), 1), power(2, 5), failed(lambda: total(np.array([-1]), 0)))
print([sum(each.stats.cache_misses.values()) for one in (total, totals, power) for each in (one, one.callee)])
"""
RIGHT = ["(44, 64) ('at', 2, 'of', 3)", "6 32 ('at', 0, 'of', 1)"]


@pytest.fixture
def run(tmp_path):
    (tmp_path / "numbers_of.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "SOSIE_COMPILE_NOTICE": "0"}

    def run(code):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_kernels_are_the_same_whoever_calls_them(run):
    # A constant and a number are one callee. `totals` has no callee: nothing calls it.
    assert run(CALLS) == [*RIGHT, "[1, 1, 1, 0, 1, 1]"]
    assert run(CALLS) == [*RIGHT, "[0, 0, 0, 0, 0, 0]"]


def test_what_only_kernels_call_has_no_machine_code_and_python_may_call_it_later(run, tmp_path):
    first = "import numpy as np\nfrom numbers_of import totals\nprint(totals(np.arange(4)))"
    assert run(first) == ["(44, 64)"]
    files = (path.name for path in tmp_path.rglob("*.nbi"))
    kept = sorted(name.partition("-")[0] + ".callee" * (".callee." in name) for name in files)
    assert kept == ["numbers_of.power.callee", "numbers_of.total.callee", "numbers_of.totals"]
    assert run(CALLS) == [*RIGHT, "[1, 0, 0, 0, 1, 0]"]


def test_a_kernel_that_calls_kept_callees_is_compiled_from_them(run, tmp_path):
    before = run(CALLS)
    for path in tmp_path.rglob("numbers_of.*"):
        if path.suffix != ".py" and ".callee." not in path.name:
            path.unlink()
    assert run(CALLS)[:2] == before[:2]


def test_a_damaged_callee_is_compiled_again(run, tmp_path):
    run(CALLS)
    for path in tmp_path.rglob("numbers_of.*.nbc"):
        if ".callee." in path.name:
            path.write_bytes(path.read_bytes()[:-9])
        else:
            path.unlink()
    assert run(CALLS)[:2] == RIGHT


def test_a_pickled_kernel_is_a_kernel(run):
    (pickled,) = run("import pickle\nfrom numbers_of import total\nprint(pickle.dumps(total).hex())")
    code = f"import pickle, numpy\ntotal = pickle.loads(bytes.fromhex('{pickled}'))\nprint(total(numpy.arange(4), 1))"
    assert run(code) == ["6"]
