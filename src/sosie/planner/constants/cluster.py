"""What single steps take on a cluster."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

CLUSTER: dict[str, Constant] = {
    "driver_pairs": Constant("pairs that are clustered on the driver, where that is faster: 24 bytes each", 4e6),
    "round_share": Constant("share of the pairs that a round on the cluster must decide to be worth another", 0.25),
    "task_pairs": Constant("pairs of whole components that one task of a cluster takes", 1e6),
}
