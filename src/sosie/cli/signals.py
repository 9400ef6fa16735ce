"""What ends a command from outside, beside Ctrl-C: SIGTERM of a scheduler, SIGHUP of a terminal that is closed."""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
LONGEST = 1.5  # seconds until a signal is answered at once, if it was not
_PATIENCE = 5.0  # seconds in which another signal does not disturb what cleans up; schedulers and shells send several


class Terminated(KeyboardInterrupt):
    """The process is asked to end: everything that cleans up after Ctrl-C does so here, too."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def terminated() -> Iterator[None]:
    """Let signals that end a process raise `Terminated` in it, so that it cleans up; those that are ignored stay so.

    Handlers belong to the main thread. They are put back, as this may be the command line inside of a program, unless
    a signal came: then the process is ending.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Handler()
    watch = _Watch()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *SIGNALS)}
    replaced = [number for number in before if before[number] in (signal.SIG_DFL, signal.default_int_handler)]
    for number in replaced:
        signal.signal(number, handler)
    try:
        yield
    finally:
        watch.stop()
        for number in replaced if handler.last is None else ():
            signal.signal(number, before[number])


class _Watch:
    """A thread that ends the process if a signal came and it has not ended by itself: Python looks for signals only
    between its own steps, and a kernel may take long. What would be removed in the end is removed then.
    """

    def __init__(self) -> None:
        self._signals, self._told = os.pipe()
        os.set_blocking(self._told, False)
        self._before = signal.set_wakeup_fd(self._told, warn_on_full_buffer=False)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True, name="sosie-signals")
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the main thread
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def stop(self) -> None:
        """Watch no longer: whatever came was answered."""
        self._done.set()
        signal.set_wakeup_fd(self._before)
        os.close(self._told)
        self._thread.join()
        os.close(self._signals)

    def _wait(self) -> None:
        while came := os.read(self._signals, 1):
            if came[0] in (signal.SIGINT, *SIGNALS) and not self._done.wait(LONGEST):
                end_at_once(came[0])


def end_at_once(number: int) -> None:
    """Remove what this process would remove when it ends, and end it."""
    weakref.finalize._exitfunc()  # type: ignore[attr-defined]  # temporary and working folders
    with suppress(OSError):
        os.write(2, b"\x1b[?25h" * os.isatty(2) + b"Interrupted.\n" if number == signal.SIGINT else b"Terminated.\n")
    os._exit(128 + number)


class _Handler:
    """Raises, and once more only if that came to nothing."""

    last: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.last is None or now - self.last > _PATIENCE:
            self.last = now
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
