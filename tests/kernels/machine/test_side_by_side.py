"""Kernels compiled by several processes are all in the cache, whatever becomes of the processes."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from sosie.kernels.machine import side_by_side
from sosie.kernels.machine.side_by_side import Wanted, compile_side_by_side, imported
from sosie.kernels.machine.compile import is_kept

side_by_side.ENOUGH = 0
counts = []
{before}
wanted = [
    Wanted("machine.bits.next_mask", [["int64"], ["bool"]], 1),
    Wanted("sign.mix.splitmix64", [["uint64"]], 2),
    Wanted("sets.cluster.components", [["int64[:]", "int64[:]", "int64[:]"]], 3),
]
compile_side_by_side(wanted, {processes}, counts.append)
kept = [name for name, _, _ in wanted if imported(name) and is_kept(name)]
here = [name for name, _, _ in wanted if imported(name).signatures]
print(json.dumps([sum(counts), kept, here]))
"""


# This process compiles only after another one has, so that all have their part however busy the machine is.
WAIT = """
import time
def wait(*wanted, compile=side_by_side._compile):
    end = time.monotonic() + 120
    while not counts and time.monotonic() < end:
        time.sleep(0.02)
    compile(*wanted)
side_by_side._compile = wait
"""


def run(cache, processes, before=""):
    code = SCRIPT.format(processes=processes, before=before)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return *json.loads(done.stdout), done.stderr


def test_one_process_compiles_everything_itself(tmp_path):
    count, kept, here, said = run(tmp_path, 1)
    assert count == len(kept) == len(here) == 3 and not said


@pytest.mark.parametrize("processes", [2, 9])
def test_others_take_their_part_and_nothing_is_compiled_twice(tmp_path, processes):
    count, kept, here, said = run(tmp_path, processes, WAIT)
    assert count == len(kept) == 3 and not said
    assert len(here) < 3


def test_a_process_that_cannot_run_leaves_its_part_to_this_one(tmp_path):
    count, kept, here, said = run(tmp_path, 2, "sys.executable = '/bin/false'")
    assert count == len(kept) == len(here) == 3
    assert not said or "ended with code 1; this one goes on" in said  # or this one was faster


def test_the_small_kernels_of_a_file_come_first_and_the_large_files():
    from sosie.kernels.machine.side_by_side import Wanted, _by_file

    wanted = [Wanted("a.x.big", [], 5), Wanted("b.y.only", [], 9), Wanted("a.x.small", [], 1)]
    assert [[each.kernel for each in file] for file in _by_file(wanted)] == [["b.y.only"], ["a.x.small", "a.x.big"]]
