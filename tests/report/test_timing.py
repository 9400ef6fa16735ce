"""What stages took: measured for what ran and only that, and without touching what the host measures itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sosie.report import timing as module
from sosie.report.timing import Timing
from sosie.storage.resident import physical_memory, resident_bytes

HELD = 1 << 28
linux = pytest.mark.skipif(resident_bytes() is None, reason="the system does not say how much memory is used")


def held(size: int = HELD) -> np.ndarray:
    return np.ones(size, np.uint8)


def test_stages_measure_what_ran_and_only_that():
    timing = Timing()
    with timing.stage("one"), pytest.raises(ZeroDivisionError), timing.stage("broken"):
        1 / 0  # noqa: B018
    assert [cost.stage for cost in timing.finished] == ["one"]
    assert timing.finished[0].seconds >= 0
    assert 0 < timing.finished[0].peak_memory_bytes < physical_memory()
    assert timing.described() == [vars(timing.finished[0])]


@linux
def test_a_library_call_leaves_the_peak_memory_of_its_host_as_it_is():
    """In a process of its own: what it has used before is the highest, and stays so."""
    code = (
        "import numpy as np, pyarrow as pa, sosie\n"
        "from sosie.report.timing import _highest\n"
        "texts = pa.table({'text': ['one two three four', 'one two three four five']})\n"
        "sosie.dedup(texts)\n"
        f"np.ones({HELD}, np.uint8)\n"
        "before = _highest()\n"
        "result = sosie.dedup(texts)\n"
        "assert _highest() >= before, (_highest(), before)\n"
        f"assert all(0 < stage.peak_memory_bytes < before - {HELD // 2} for stage in result.report.stages)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@linux
def test_a_stage_has_its_own_peak():
    """The highest so far where a stage raises it, and what was seen where an earlier one was higher."""
    timing = Timing()
    with timing.stage("large"):
        held(4 * HELD)
    with timing.stage("small"):
        block = held()
        module.time.sleep(10 * module.INTERVAL)
        del block
    with timing.stage("none"):
        pass
    large, small, none = (cost.peak_memory_bytes for cost in timing.finished)
    assert large > small + 2 * HELD and small > none + HELD // 2
