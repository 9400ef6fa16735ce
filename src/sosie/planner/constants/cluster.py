"""What single steps take on a cluster, and how a cluster is cut."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

CLUSTER: dict[str, Constant] = {
    "driver_pairs": Constant("pairs that are clustered on the driver, where that is faster: 24 bytes each", 4e6),
    "round_share": Constant("share of the pairs that a round on the cluster must decide to be worth another", 0.25),
    "task_pairs": Constant("pairs of whole components that one task of a cluster takes", 1e6),
    "spark start": Constant("a session, until its first query is answered", 15_000_000_000.0),
    "spark run": Constant("a de-duplication of hardly any documents: its stages, one after the other", 6e9),
    "spark minhash": Constant("a document, read, signed, and compared with those that share a key, on one core", 100e3),
    "spark exact": Constant("a document, read, and joined by the rarest of its features, on one core", 100e3),
    "spark byte": Constant("a byte that is shuffled, written and read by others, on one core", 10.0),
    "spark pair": Constant("a pair, and the two documents of it, on the driver", 2_000.0),
}

SHUFFLED_BYTES = {"minhash": 440, "exact": 870}  # of a document of 500 bytes
CORE_DOCUMENTS = 1_000_000  # more than these for each core are worth more cores
EXECUTOR_BYTES = 1_500  # of a document, on the executor that has it
DRIVER_PAIR_BYTES = 300  # of a pair, and of what is known of its documents, on the driver
SENT = 200.0  # what it costs to send a signature to others, in comparisons
