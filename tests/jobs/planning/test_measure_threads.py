"""What two threads gain is between nothing and all, and is not told where there is one."""

from sosie.jobs.planning import measure_threads
from sosie.planner.machine import checked_constant


def test_what_threads_gain(monkeypatch):
    monkeypatch.setattr(measure_threads, "ROWS", 1 << 10)
    monkeypatch.setattr(measure_threads, "QUERIES", 1 << 7)
    assert measure_threads.measure(1) == {}
    assert measure_threads.measure(2).keys() == {"threads"}
    times = {1: 3.0, 2: 2.0}
    monkeypatch.setattr(measure_threads, "_best", lambda index, queries, threads: times[threads])
    assert checked_constant("threads", measure_threads.measure(2)["threads"]) == 1.5
    times[2] = 9.0
    assert measure_threads.measure(4) == {"threads": 1.0}
    times[2] = 0.1
    assert measure_threads.measure(4) == {"threads": 2.0}
