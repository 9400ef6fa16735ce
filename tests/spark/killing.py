"""What a test runs in a process of its own: a de-duplication on a cluster, while executors of it are killed.

`python -m tests.spark.killing MASTER CLUSTER DOCUMENTS`: prints as JSON what was found each time, and who was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.spark.session import SRC, started
from tests.spark.standalone import Standalone

PARTITIONS = 2


def main(master: str, folder: str, documents: str) -> None:
    cluster = Standalone(master, Path(folder))
    conf = {
        "spark.cores.max": "2",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dsosie.cluster={folder}",
        "spark.executorEnv.PYTHONPATH": str(SRC),
        "spark.executorEnv.NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", ""),
        "spark.sql.adaptive.enabled": "false",  # so that the stages of a job are those that it has from the beginning
        "spark.sql.shuffle.partitions": str(PARTITIONS),
    }
    with started(master, cluster.folder / "driver", conf) as session:
        from sosie.spark import dedup

        said = []
        for where in ("map", "reduce"):
            while len(cluster.executors()) < 2:
                time.sleep(0.05)
            before, killer = cluster.executors(), Killer(session.sparkContext, cluster, where)
            frame = session.read.parquet(documents).repartition(PARTITIONS)
            killer.start()
            with dedup(frame, method="minhash", scratch=str(cluster.folder)) as tagged:
                pairs = sorted(map(tuple, tagged.pairs.collect()))
                tags = sorted((row[0], tuple(row[1:])) for row in tagged.documents.drop("text").collect())
            killer.join()
            while len(after := cluster.executors()) < 2:
                time.sleep(0.05)
            changed = killer.killed in before and killer.killed not in after
            said.append({"where": where, "changed": changed, "tasks": killer.tasks, "pairs": pairs, "tags": tags})
    print(json.dumps(said))


class Killer(threading.Thread):
    """Kills an executor as soon as tasks of a map stage run, or of a reduce stage: the last one of several."""

    def __init__(self, context: Any, cluster: Standalone, where: str) -> None:
        super().__init__(daemon=True)
        self._tracker, self._cluster, self._where = context.statusTracker(), cluster, where
        self.killed, self.tasks = -1, 0

    def run(self) -> None:
        """Look at the stages until there is one to kill in."""
        while True:
            for job in self._tracker.getActiveJobsIds():
                told = self._tracker.getJobInfo(job)
                stages = sorted(told.stageIds) if told is not None else []
                if len(stages) < 2:
                    continue
                for stage in stages[-1:] if self._where == "reduce" else stages[:1]:
                    info = self._tracker.getStageInfo(stage)
                    if info is not None and info.numActiveTasks > 0:
                        self.killed, self.tasks = min(self._cluster.executors()), info.numActiveTasks
                        os.kill(self.killed, signal.SIGKILL)
                        return
            time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
