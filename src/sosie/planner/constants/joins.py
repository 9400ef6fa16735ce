"""What single steps of joining signatures, of stores and of links take."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

JOINS: dict[str, Constant] = {}
