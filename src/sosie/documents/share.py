"""The decisions about one input, and where its documents go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.documents.inputs import Input
from sosie.types import F64

KEPT, DROPPED, REJECTED = np.uint8(0), np.uint8(1), np.uint8(2)
MEMBERS = ("duplicate_of", "similarity")


@dataclass(frozen=True, eq=False)
class Share:
    """States of all records of an input; ids of the kept twins and similarities of its dropped ones, in order."""

    source: Input
    state: NDArray[np.uint8]
    duplicate_of: Any
    similarity: F64
    kept: Path
    dropped: Path

    @property
    def has_dropped(self) -> bool:
        """Whether any document of this input is dropped."""
        return len(self.duplicate_of) > 0

    @property
    def files(self) -> list[Path]:
        """The files that this input becomes; none where it consists of text files, which are copied one by one."""
        if self.source.files is not None:
            return []
        return [self.kept, self.dropped] if self.has_dropped else [self.kept]


def free_names(taken: Iterable[str]) -> list[str]:
    """Return the names of the two new members; a name that is taken gets a number.

    >>> free_names(["text", "similarity", "similarity_1"])
    ['duplicate_of', 'similarity_2']
    """
    used = set(taken)
    names = []
    for name in MEMBERS:
        free, number = name, 0
        while free in used:
            number += 1
            free = f"{name}_{number}"
        names.append(free)
    return names
