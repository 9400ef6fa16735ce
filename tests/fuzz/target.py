"""What is fuzzed: a target prepares valid seeds, writes one wrong case after another, and says what became of each."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

SAME, ACCEPTED = "same", "accepted"  # what a judge answers; named errors are raised, and all else is a failure


@dataclass(frozen=True)
class Case:
    """One case as it lies on the disk: a file or a folder, and whether its checksums are right."""

    path: Path
    crafted: bool = False


class Target(Protocol):
    """One kind of input; everything happens in the worker's process."""

    def prepare(self, folder: Path) -> None:
        """Make the seeds, and what they give, in an empty folder."""

    def write(self, random: Random, folder: Path) -> Case:
        """Write a case to an empty folder; the same numbers make the same case."""

    def judge(self, case: Case, random: Random) -> str:
        """Use a case as a user would: return SAME or ACCEPTED, or raise."""


def emptied(folder: Path) -> Path:
    """Return a folder that is there and empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
