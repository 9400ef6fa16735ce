"""What single steps of searching an index take."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

SEARCH: dict[str, Constant] = {}
