"""Parallel text that anyone may have written: a named error or pairs that add up, whatever is in it; see engine.py."""

import pytest
from tests.fuzz.engine import seed_of_run, trials_of_run, worker
from tests.fuzz.targets import PARALLEL


@pytest.fixture(scope="module")
def started():
    with worker() as made:
        yield made


@pytest.mark.parametrize("name", PARALLEL)
def test_a_named_error_or_pairs_that_add_up(name, started):
    tally = started.fuzz(name, seed_of_run(), trials_of_run(40), most=1)
    assert not tally.failures, "\n\n".join(tally.failures)
