"""Compile beforehand: what a job will need, or all kernels, side by side.

Which kernels a job needs, and for which types, is in `needs.json`. `tools/kernel_needs.py` writes it: it runs the
commands and looks at what they called. What is not in there is compiled when it is called, as Numba does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sosie.kernels.machine.compile import compiling, is_kept
from sosie.kernels.machine.kept import cache_directory, config
from sosie.kernels.machine.side_by_side import Wanted, compile_side_by_side, imported
from sosie.parallel import thread_count
from sosie.planner.constants.documents import COMPILER_BYTES
from sosie.report.timing import Progress, Silent
from sosie.storage.resident import physical_memory

NEEDS = Path(__file__).with_name("needs.json")


def prepare(*jobs: str, progress: Progress, threads: int | None = None, memory: int | None = None) -> None:
    """Compile what jobs need that no process has compiled yet; usually there is nothing to do.

    Jobs are named as in `needs.json`; of one that is not there nothing is known beforehand. All processes together keep
    to `memory` bytes, those of the machine or of its container by default.
    """
    needs = _needs()
    missing = _missing({name: None for job in jobs for name in needs["jobs"].get(job, ())})
    if missing:
        compiling.say()
        fit = (physical_memory() if memory is None else memory) // COMPILER_BYTES
        _compile(missing, max(1, min(thread_count(threads), fit)), progress)


@dataclass(frozen=True)
class Warmed:
    """How many kernels there are, how many had to be compiled, where they are kept, and what that took."""

    kernels: int
    compiled: int
    folder: str | None
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return dict(vars(self))


def warm(*, threads: int | None = None, progress: Progress | None = None) -> Warmed:
    """Compile every kernel that any command calls, so that nobody waits for it later."""
    start, kernels = time.perf_counter(), _needs()["kernels"]
    missing = _missing(kernels)
    compiling.said = True  # it is what was asked for
    if missing:
        _compile(missing, thread_count(threads), progress or Silent())
    folder = cache_directory()
    kept = None if folder is None else str(folder)
    return Warmed(len(kernels), len(missing), kept, round(time.perf_counter() - start, 1))


def _compile(missing: list[Wanted], processes: int, progress: Progress) -> None:
    """Compile and show how far it is; it is no stage of the job, whose report is the same in every process."""
    progress.start("compile", len(missing))
    try:
        compile_side_by_side(missing, processes, progress.advance)
    finally:
        progress.finish()


def _missing(names: Iterable[str]) -> list[Wanted]:
    """Return the kernels that were not compiled before."""
    if config.DISABLE_JIT:
        return []
    kernels = _needs()["kernels"]
    known = [Wanted(name, kernels[name]["signatures"], kernels[name]["functions"]) for name in names]
    return [each for each in known if imported(each.kernel) is not None and not is_kept(each.kernel)]


@cache
def _needs() -> dict[str, Any]:
    needs: dict[str, Any] = json.loads(NEEDS.read_text("utf-8"))
    return needs
