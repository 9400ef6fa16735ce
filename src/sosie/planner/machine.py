"""Constants of the machine: what single steps take, measured once, or as they are on a usual machine.

Each constant is nanoseconds per unit, on one thread; those that depend on the width of signatures are measured at some
widths and interpolated between them. No constant of cost stands anywhere else.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sosie.errors import StorageError
from sosie.planner.constants.cluster import CLUSTER
from sosie.planner.constants.constant import Constant
from sosie.planner.constants.documents import DOCUMENTS
from sosie.planner.constants.joins import JOINS
from sosie.planner.constants.search import SEARCH

PROGRAM = 250_000_000  # bytes that the program itself takes, with the libraries that a job loads
FORMAT, VERSION = "sosie-machine", 1
LARGEST = 1 << 20  # bytes of a file of constants
WIDEST = 1 << 50  # what a constant may depend on: bits of a signature, bytes of a table
MOST = 1e15  # ns: days for one unit
_REMEDY = "Run sosie plan --machine --measure-again."
_log = logging.getLogger("sosie")


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
        """Return the machine as JSON, as it is kept."""
        kept = {
            name: value if not isinstance(value, Mapping) else {str(bits): each for bits, each in value.items()}
            for name, value in self.constants.items()
        }
        said = {"format": FORMAT, "version": VERSION, "table": table_digest(), "cpu": self.cpu}
        return {**said, "measured": self.measured, "constants": kept}


def machine_path() -> Path:
    """Return the file in the user's cache folder that holds what was measured."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder) / "sosie" / "machine.json"


@cache
def cpu_name() -> str:
    """Return the name of the processor, as the system says it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            named = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        named = ""
    return named.partition(":")[2].strip() or platform.processor() or platform.machine()


@cache
def table_digest() -> str:
    """Return what names the table of constants: other names or meanings are another table, and are measured again."""
    named = sorted((name, constant.meaning) for name, constant in CONSTANTS.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16]


def load_machine(path: Path | None = None) -> Machine:
    """Return what was measured on this machine, or the usual constants where nothing was.

    So it is where it was another processor or another table of constants. Where the file cannot be read or says what
    cannot be, too: then the logger `sosie` says so, once in a process.
    """
    try:
        return read_machine(path) or Machine(cpu_name())
    except StorageError as error:
        _warn(str(error))
        return Machine(cpu_name())


def read_machine(path: Path | None = None) -> Machine | None:
    """Return what was measured on this machine, None if nothing was; a file that says what cannot be is an error.

    >>> read_machine(Path("nowhere")) is None
    True
    """
    file = path or machine_path()
    try:
        with open(file, "rb") as opened:
            text = opened.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"{file}: cannot be read ({error.strerror}). {_REMEDY}") from error
    try:
        if len(text) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST:,} bytes")
        return _checked(json.loads(text.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{file}: does not hold what was measured of a machine ({error}). {_REMEDY}") from error


def _checked(said: Any) -> Machine | None:
    """Return the constants of a file; None if they are another processor's, or of another version or table."""
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    if said.get("version") != VERSION or said.get("table") != table_digest() or said.get("cpu") != cpu_name():
        return None
    measured, constants = said.get("measured"), said.get("constants")
    if not isinstance(measured, str) or not isinstance(constants, dict):
        raise ValueError("it does not say when it was measured, or what")
    if unknown := sorted(constants.keys() - CONSTANTS.keys()):
        raise ValueError(f"there is no constant {unknown[0]!r}")
    return Machine(said["cpu"], measured, {name: checked_constant(name, each) for name, each in constants.items()})


def checked_constant(name: str, value: Any) -> float | dict[int, float]:
    """Return a constant as it is kept: a positive number, or some by a size where it depends on that.

    >>> checked_constant("threads", 2)
    2.0
    """
    if not isinstance(CONSTANTS[name].usual, Mapping):
        return _positive(name, value)
    if not isinstance(value, Mapping) or not value:
        raise ValueError(f"{name} is not by size")
    if wrong := [width for width in value if not str(width).isdecimal() or not 0 < int(width) <= WIDEST]:
        raise ValueError(f"{name} is of the size {wrong[0]!r}")
    return {int(width): _positive(name, each) for width, each in value.items()}


def _positive(name: str, value: Any) -> float:
    number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else value
    if not 0 < number < MOST:  # so it is no NaN either
        raise ValueError(f"{name} is {value!r}, not a number above 0")
    return float(number)


@cache
def _warn(problem: str) -> None:
    _log.warning("%s Until then a usual machine's constants are taken.", problem)
