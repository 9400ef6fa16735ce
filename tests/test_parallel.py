"""Work on threads: in order, bounded, and errors come through."""

import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.errors import UsageError
from sosie.parallel import ordered_map, spans, thread_count


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_spans_cover_all_rows_once(sizes, size):
    offsets = np.cumsum([0, *sizes])
    cuts = spans(offsets, size)
    assert [start for start, _ in cuts] == [0, *(stop for _, stop in cuts)][: len(cuts)]
    assert sum(stop - start for start, stop in cuts) == len(sizes)
    for start, stop in cuts:
        assert stop > start and (stop == start + 1 or offsets[stop - 1] - offsets[start] < size)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_come_in_the_order_of_the_items(threads):
    gate = threading.Barrier(threads)

    def slow(item: int) -> int:
        if item < threads:
            gate.wait(30)  # the first ones are under way together, or this breaks
        return item * item

    assert list(ordered_map(slow, range(50), threads)) == [item * item for item in range(50)]


def test_a_stream_is_not_read_far_ahead():
    taken = []

    def items():
        for item in range(1000):
            taken.append(item)
            yield item

    for ahead, most in ((1, 4), (2, 6), (5, 12)):
        taken.clear()
        results = ordered_map(lambda item: item, items(), threads=2, ahead=ahead)
        assert next(results) == 0 and len(taken) <= most
        results.close()
        assert len(taken) <= most


def test_results_that_are_let_go_wait_for_nobody():
    """The garbage collector may let them go while this thread holds what the others need to end."""
    release, busy, ended = threading.Event(), threading.Event(), threading.Event()

    def work(item: int) -> int:
        if item:
            busy.set()
            release.wait(30)
            ended.set()
        return item

    results = ordered_map(work, range(8), threads=2)
    assert next(results) == 0 and busy.wait(30)
    results.close()
    assert not ended.is_set()
    release.set()
    assert ended.wait(30)


@pytest.mark.parametrize("threads", [2, 5])
def test_after_an_error_no_thread_is_at_work(threads):
    under_way = set()

    def work(item: int) -> None:
        under_way.add(item)
        if item == 0:
            raise LookupError("item 0")
        threading.Event().wait(0.05)
        under_way.remove(item)

    with pytest.raises(LookupError, match="item 0"):
        list(ordered_map(work, range(40), threads))
    assert under_way == {0}


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_through_after_the_results_before_it(threads):
    def work(item: int) -> int:
        if item == 5:
            raise LookupError("item 5")
        return item

    done = []
    with pytest.raises(LookupError, match="item 5"):
        for result in ordered_map(work, range(100), threads):
            done.append(result)
    assert done == [0, 1, 2, 3, 4]


def test_thread_counts():
    assert thread_count(3) == 3 and thread_count(None) >= 1
    for wrong in (0, -1):
        with pytest.raises(UsageError, match="threads"):
            thread_count(wrong)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that signal")
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_computed_apart_is_not_waited_for(threads):
    begun, ends = threading.Event(), threading.Event()

    def stuck(item: int) -> int:
        begun.set()
        assert ends.wait(60)
        return item

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            list(ordered_map(stuck, range(9), threads, apart=True))
        assert begun.is_set()
    finally:
        signal.signal(signal.SIGALRM, before)
        ends.set()


def test_results_computed_apart_come_in_order_and_errors_come_through():
    assert list(ordered_map(lambda x: x * x, range(50), 3, apart=True)) == [x * x for x in range(50)]
    assert list(ordered_map(lambda x: x * x, range(50), 1, apart=True)) == [x * x for x in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda x: 1 // x, [1, 0, 1], 2, apart=True))
