"""Constants of the machine: what single steps take, measured once, or as they are on a usual machine.

Each constant is nanoseconds per unit, on one thread; those that depend on the width of signatures are measured at some
widths and interpolated between them. No constant of cost stands anywhere else.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sosie.errors import StorageError
from sosie.planner.constants.cluster import CLUSTER
from sosie.planner.constants.constant import Constant
from sosie.planner.constants.documents import DOCUMENTS
from sosie.planner.constants.joins import JOINS
from sosie.planner.constants.search import SEARCH

PROGRAM = 250_000_000  # bytes that the program itself takes, with the libraries that a job loads
VERSION = 1  # of what the constants mean


CONSTANTS: dict[str, Constant] = {
    "threads": Constant("how many times faster two threads are than one", 1.9),
    **SEARCH,
    **JOINS,
    **DOCUMENTS,
    **CLUSTER,
}


@dataclass(frozen=True)
class Machine:
    """What single steps take on one machine: its processor's name, when it was measured, and the constants.

    >>> Machine().ns("threads")
    1.9
    """

    cpu: str = ""
    measured: str | None = None
    constants: Mapping[str, float | Mapping[int, float]] = field(default_factory=dict)

    def ns(self, name: str, bits: int | None = None) -> float:
        """Return a constant; at a width that was not measured, as on a line through the widths beside it (log-log)."""
        value = self.constants.get(name, CONSTANTS[name].usual)
        if not isinstance(value, Mapping):
            return float(value)
        assert bits is not None, name
        widths = sorted(value)
        if bits in value or len(widths) == 1:
            return float(value.get(bits, value[widths[0]]))
        low = max([width for width in widths[:-1] if width <= bits], default=widths[0])
        high = widths[widths.index(low) + 1]
        slope = math.log(value[high] / value[low]) / math.log(high / low)
        return float(value[low] * (bits / low) ** slope)

    def speedup(self, threads: int) -> float:
        """Return how many times faster so many threads are than one: what two gain goes on, as far as there are cores.

        >>> Machine().speedup(1), round(Machine().speedup(2), 2)
        (1.0, 1.9)
        """
        gain = self.ns("threads") - 1
        return 1 + gain * (max(threads, 1) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the machine as JSON."""
        kept = {
            name: value if not isinstance(value, Mapping) else {str(bits): each for bits, each in value.items()}
            for name, value in self.constants.items()
        }
        return {"version": VERSION, "cpu": self.cpu, "measured": self.measured, "constants": kept}


def machine_path() -> Path:
    """Return the file in the user's cache folder that holds what was measured."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder) / "sosie" / "machine.json"


def cpu_name() -> str:
    """Return the name of the processor, as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    import platform

    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def load_machine(path: Path | None = None) -> Machine:
    """Return what was measured on this machine; the usual constants where nothing was, or it was another processor."""
    try:
        said = json.loads((path or machine_path()).read_text("utf-8"))
    except FileNotFoundError:
        return Machine(cpu_name())
    except (OSError, ValueError) as error:
        raise StorageError(f"{path or machine_path()}: {error}: remove it, and run sosie plan --machine") from error
    return _checked(said) or Machine(cpu_name())


def _checked(said: Any) -> Machine | None:
    """Return the constants of a file if they are of this processor and of this version, and numbers all of them."""
    if not isinstance(said, dict) or said.get("version") != VERSION or said.get("cpu") != cpu_name():
        return None
    constants: dict[str, float | Mapping[int, float]] = {}
    for name, value in said["constants"].items():
        if name in CONSTANTS:
            by_width = isinstance(value, dict)
            constants[name] = {int(bits): float(each) for bits, each in value.items()} if by_width else float(value)
    return Machine(said["cpu"], said["measured"], constants)
