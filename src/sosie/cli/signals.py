"""What ends a command from outside, beside Ctrl-C: SIGTERM of a scheduler, SIGHUP of a terminal that is closed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
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
    replaced = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in replaced if handler.last is None else ():
            signal.signal(number, signal.SIG_DFL)


class _Handler:
    """Raises, and once more only if that came to nothing."""

    last: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.last is None or now - self.last > _PATIENCE:
            self.last = now
            raise Terminated(number)
