"""A constant of cost: what one unit of it is, and what it is on a usual machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Constant(NamedTuple):
    """A constant: what one unit is, and what it is on a usual machine; by width in bits, where it depends on that."""

    meaning: str
    usual: float | Mapping[int, float]
