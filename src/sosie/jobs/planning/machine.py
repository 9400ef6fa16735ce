"""What single steps take on this machine: measured once by the product's own code, and kept in the user's cache."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from sosie.errors import StorageError, UsageError
from sosie.parallel import thread_count
from sosie.planner.machine import Machine, checked_constant, cpu_name, machine_path, read_machine
from sosie.report.timing import Progress, Silent
from sosie.shown import as_json
from sosie.storage.output_file import output_file

# Each has `measure(threads)`, which returns the constants of its subject by their names.
FAMILIES = tuple(f"sosie.jobs.planning.measure_{subject}" for subject in ("threads", "search", "joins", "documents"))
_log = logging.getLogger("sosie")


def measured_machine(
    *, again: bool = False, threads: int | None = None, progress: Progress | None = None, path: Path | None = None
) -> Machine:
    """Return this machine as it was measured before; measure and keep it where it was not, or `again`.

    A file that cannot be read, or says what cannot be, is written anew.
    """
    if not again:
        try:
            kept = read_machine(path)
        except StorageError as error:
            _log.warning("%s It is measured again.", error)
            kept = None
        if kept is not None:
            return kept
    machine = measure_machine(threads, progress)
    keep_machine(machine, path)
    return machine


def measure_machine(threads: int | None = None, progress: Progress | None = None) -> Machine:
    """Measure all constants, which takes some seconds, and longer where kernels have to be compiled."""
    bars = progress or Silent()
    constants: dict[str, float | Mapping[int, float]] = {}
    bars.start("measure", len(FAMILIES))
    try:
        for family in FAMILIES:
            found: Mapping[str, float | Mapping[int, float]] = import_module(family).measure(thread_count(threads))
            constants |= {name: checked_constant(name, value) for name, value in found.items()}
            bars.advance(1)
    finally:
        bars.finish()
    return Machine(cpu_name(), datetime.now(UTC).isoformat(timespec="seconds"), constants)


def keep_machine(machine: Machine, path: Path | None = None) -> None:
    """Keep what was measured, whole or not at all; where that cannot be, the logger `sosie` says so."""
    file = path or machine_path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with output_file(file, overwrite=True) as hidden:
            hidden.write_text(as_json(machine.to_dict()) + "\n", "utf-8")
    except (OSError, StorageError, UsageError) as error:
        _log.warning("What was measured is not kept: %s", error)
