"""What else Sosie wrote, damaged or crafted with right checksums: a named error or an answer; see engine.py."""

import pytest
from tests.fuzz.engine import seed_of_run, trials_of_run, worker
from tests.fuzz.targets import ARTEFACTS


@pytest.fixture(scope="module")
def started():
    with worker() as made:
        yield made


@pytest.mark.parametrize("name", ARTEFACTS)
def test_a_named_error_or_an_answer(name, started):
    tally = started.fuzz(name, seed_of_run(), trials_of_run(40), most=1)
    assert not tally.failures, "\n\n".join(tally.failures)
