"""What single steps of reading, signing and joining documents take."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

DOCUMENTS: dict[str, Constant] = {}
