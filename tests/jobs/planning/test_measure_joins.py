"""What is measured of joins is what the planner asks for, and of the kind that its table says."""

from collections.abc import Mapping

from sosie.jobs.planning.measure_joins import measure
from sosie.planner.constants.joins import JOINS
from sosie.planner.machine import checked_constant


def test_every_constant_of_joins_is_measured():
    found = measure(1)
    assert found.keys() == JOINS.keys()
    for name, value in found.items():
        usual = JOINS[name].usual
        if isinstance(usual, Mapping):
            assert checked_constant(name, value).keys() == usual.keys()
        else:
            assert checked_constant(name, value) > 0
