"""Progress on a terminal, with rate and remaining time; nothing where nobody looks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sosie.report.bars import shown
from sosie.report.timing import Progress, Silent


@contextmanager
def notices(quiet: bool) -> Iterator[None]:
    """Let what Sosie has to say go to standard error; nothing with `quiet`."""
    log = logging.getLogger("sosie")
    before = log.level
    log.setLevel(logging.ERROR if quiet else logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def progress(quiet: bool) -> Iterator[Progress]:
    """Yield a progress for the terminal, silent with `quiet` or where standard error is no terminal."""
    if quiet:
        yield Silent()
        return
    with shown() as bars:
        yield bars
