"""What single steps take on a cluster."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

CLUSTER: dict[str, Constant] = {}
