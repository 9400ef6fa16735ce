"""Files that anyone may have written: a named error or documents that add up, whatever is in them; see engine.py."""

import pytest
from tests.fuzz.engine import seed_of_run, trials_of_run, worker
from tests.fuzz.targets import DOCUMENTS


@pytest.fixture(scope="module")
def started():
    with worker() as made:
        yield made


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_named_error_or_documents_that_add_up(name, started):
    tally = started.fuzz(name, seed_of_run(), trials_of_run(40), most=1)
    assert not tally.failures, "\n\n".join(tally.failures)
