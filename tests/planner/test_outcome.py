"""What was expected beside what happened."""

import json

from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.machine import PROGRAM
from sosie.planner.outcome import Outcome


def test_what_is_not_known_is_not_said():
    expected = Estimate(recall=1.0, seconds=0.0042, bytes=Bytes(heap=750_000_000, disk=9))
    outcome = Outcome.of(Candidate(method="flat", parameters={"width": 16}, estimate=expected), 1.0)
    assert str(outcome) == "asked 1, predicted 1; predicted 4.2 ms; predicted 1.0 GB"
    outcome = Outcome.of(
        Candidate(method="flat", parameters={"width": 16}, estimate=expected),
        0.9,
        measured=1.0,
        seconds=3700,
        bytes=10**9,
    )
    assert outcome.predicted_bytes == PROGRAM + 750_000_000
    assert (
        outcome.sentence()
        == "asked .9, predicted 1, measured 1; predicted 4.2 ms, took 62 min; predicted 1.0 GB, held 1.0 GB"
    )
    assert json.loads(json.dumps(outcome.to_dict()))["parameters"] == {"width": 16}
    assert Outcome(method="brute").sentence() == "asked 1"
