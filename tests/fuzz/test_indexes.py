"""Indexes that were damaged, or crafted with right checksums: a named error or an answer; see engine.py."""

import pytest
from tests.fuzz.engine import seed_of_run, trials_of_run, worker
from tests.fuzz.targets import INDEXES

from sosie.index.registry import CLASSES


@pytest.fixture(scope="module")
def started():
    with worker() as made:
        yield made


@pytest.mark.parametrize("name", INDEXES)
def test_a_named_error_or_an_answer(name, started):
    tally = started.fuzz(name, seed_of_run(), trials_of_run(40), most=1)
    assert not tally.failures, "\n\n".join(tally.failures)


def test_every_class_of_index_is_a_target():
    from tests.fuzz.artefacts import GOLDEN

    named = {type(index).__name__ for kind, index in GOLDEN.indexes().items() if f"index-{kind}" in INDEXES}
    assert named == CLASSES.keys()
